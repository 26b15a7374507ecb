"""Arrays by name, as model files and messages between processes hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, AnyArray]
NamedArrays: TypeAlias = Mapping[str, AnyArray]
