"""Models for other programs: scikit-learn pipelines and ONNX files.

>>> from textodds.export import to_onnx, to_sklearn
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textodds.export.onnx import to_onnx
    from textodds.export.scikit_learn import to_sklearn

__all__ = ["to_onnx", "to_sklearn"]

_HOME = {"to_onnx": "onnx", "to_sklearn": "scikit_learn"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first wanted: `import textodds.export` loads neither library."""
    if name not in _HOME:
        raise AttributeError(f"module 'textodds.export' has no attribute {name!r}")
    value = getattr(import_module(f"textodds.export.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
