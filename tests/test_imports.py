"""Importing costs nothing that is not needed."""

import subprocess
import sys

import pytest

import textodds

HEAVY = (
    "sklearn",
    "duckdb",
    "pyarrow",
    "scipy",
    "pandas",
    "polars",
    "onnx",
    "onnxruntime",
    "matplotlib",
    "mlflow",
)
LIGHT = ("numpy", "rich", "click", "safetensors")


def modules_after(code):
    """The top-level modules that are loaded after running some code in a new interpreter."""
    script = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_the_import_loads_nothing_heavy_nor_numpy():
    assert modules_after("import textodds").isdisjoint(HEAVY + LIGHT)


def test_loading_a_model_and_predicting_loads_nothing_heavy(tmp_path):
    textodds.train(["free phone", "see you"], ["spam", "ham"]).save(tmp_path / "m")
    code = f"import textodds\nassert textodds.load({str(tmp_path / 'm')!r})('free').label == 'spam'"
    assert modules_after(code).isdisjoint((*HEAVY, "rich", "click"))


def test_training_on_lists_and_predicting_loads_nothing_heavy():
    code = "import textodds\nassert textodds.train(['a', 'b'], ['x', 'y']).predict(['a']).tolist() == ['x']"
    assert modules_after(code).isdisjoint((*HEAVY, "rich", "click"))


def test_naming_the_mlflow_flavour_does_not_load_mlflow():
    assert modules_after("import textodds\nassert textodds.mlflow.save_model").isdisjoint(
        ("mlflow", "pandas")
    )


def test_every_public_name_is_there_and_listed():
    for name in textodds.__all__:
        assert getattr(textodds, name) is not None
        assert name in dir(textodds)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = textodds.no_such_name
