import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import textodds
from textodds.cli import main


def test_the_file_gives_the_probabilities_of_the_model(model, capsys):
    assert main(["export", "mail.textodds", "-o", "mail.onnx"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wrote mail.onnx: from counts of 16 words to probabilities of 2 classes, ")
    loaded, texts = textodds.load("mail.textodds"), ["a free phone", "lunch at six", ""]
    session = onnxruntime.InferenceSession("mail.onnx")
    label, probabilities = session.run(None, {"rows": loaded.rows(texts).toarray()})
    assert label.tolist() == loaded.predict(texts).tolist()
    np.testing.assert_allclose(probabilities, loaded.predict_proba(texts), rtol=0, atol=1e-12)


def test_json_says_what_was_written(model, capsys):
    assert main(["export", "mail.textodds", "-o", "mail.onnx", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "model": "mail.textodds",
        "output": "mail.onnx",
        "format": "onnx",
        "bytes": Path("mail.onnx").stat().st_size,
        "classes": ["ham", "spam"],
        "words": 16,
    }


@pytest.mark.parametrize(("output", "named"), [("mail.html", "page"), ("mail.py", "python"), ("mail.c", "c")])
def test_the_ending_sets_the_format(model, capsys, output, named):
    assert main(["export", "mail.textodds", "-o", output, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == named
    assert main(["export", "mail.textodds", "-o", output]) == 0
    assert capsys.readouterr().err.startswith(f"wrote {output}: from texts to probabilities of 2 classes, ")


def test_quiet_says_nothing(model, capsys):
    assert main(["export", "mail.textodds", "-o", "mail.onnx", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("model_file", "output", "problem", "hint"),
    [
        (
            "mail.textodds",
            "mail.pkl",
            "`mail.pkl` would be a pickle",
            "joblib.dump(to_sklearn(textodds.load(",
        ),
        ("mail.textodds", "mail.joblib", "`mail.joblib` would be a pickle", "import to_sklearn"),
        ("mail.textodds", "mail.js", "cannot export to `mail.js`: unknown format", "name it `*.onnx`"),
        ("mail.textodds", "mail", "cannot export to `mail`: unknown format", "name it `*.onnx`"),
        ("mial.textodds", "x.onnx", "no model file at `mial.textodds`", "did you mean `mail.textodds`?"),
        ("mail.textodds", "no/x.onnx", "cannot write `no/x.onnx`: there is no folder `no`", "with `-o`"),
        (
            "model.onnx",
            "model.onnx",
            "the exported file would replace `model.onnx`, which MODEL names",
            "another file",
        ),
    ],
)
def test_what_cannot_be_exported_is_said(model, capsys, model_file, output, problem, hint):
    Path("model.onnx").write_bytes(Path("mail.textodds").read_bytes())
    before = sorted(Path().iterdir())
    assert main(["export", model_file, "-o", output]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {problem}")
    assert hint in err
    assert sorted(Path().iterdir()) == before
    assert Path("model.onnx").read_bytes() == Path("mail.textodds").read_bytes()


def test_a_file_to_write_must_be_named(model, capsys):
    assert main(["export", "mail.textodds"]) == 2
    assert capsys.readouterr().err == ("error: `--output` is missing\n\nhint: see `textodds export --help`\n")


def test_the_hint_for_scikit_learn_works_in_python(model, capsys):
    import joblib

    assert main(["export", "mail.textodds", "-o", "mail.joblib"]) == 2
    hint = capsys.readouterr().err.partition("hint: ")[2]
    lines = hint.split("`")[1::2]
    exec("\n".join(lines), {"textodds": textodds, "joblib": joblib})
    assert joblib.load("mail.joblib").predict(["free"]).tolist() == ["spam"]


def test_without_onnx_the_error_says_what_to_install(model, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", "mail.textodds", "-o", "mail.onnx"]) == 2
    assert capsys.readouterr() == (
        "",
        "error: writing ONNX needs onnx, which is not installed\n\nhint: pip install 'textodds[onnx]'\n",
    )
    assert not Path("mail.onnx").exists()
