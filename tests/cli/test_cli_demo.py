import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

import textodds
from textodds.cli import demo, main


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the demonstration prints; it leaves nothing."""
    folder, out, err = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(["demo"]) == 0
    assert (err.getvalue(), list(folder.iterdir())) == ("", [])
    return out.getvalue()


def test_the_numbers_of_the_demo_are_those_of_the_library(shown):
    model = textodds.train(demo.messages_folder() / "messages.csv")
    quality = model.evaluate(demo.messages_folder() / "new_messages.csv")
    assert re.search(rf"^   accuracy +{quality.accuracy:.4f} ", shown, re.M)
    said = re.findall(r"“(.*)”\n +(\w+) +(\d\.\d{4})", shown)
    assert len(said) == 4
    for text, label, probability in said:
        assert (label, probability) == (model(text).label, f"{model(text).probability:.4f}")


def test_the_demo_shows_the_model_that_train_chooses(shown, capsys):
    assert main(["train", str(demo.messages_folder() / "messages.csv"), "-o", "mail.textodds"]) == 0
    [chosen] = re.findall(r"^.*: best of \d+ on .*$", capsys.readouterr().err, re.M)
    assert chosen in shown


def test_the_demo_corrects_an_answer_and_undoes_the_correction(shown):
    before, learned, after = re.findall(r"^   [\w ]+   (ham|spam) +(\d\.\d{4})", shown, re.M)
    assert re.search(r"forgotten again .*   as before$", shown, re.M)
    assert before[0] == after[0]  # of softmax, within what two solutions of one gap differ by
    assert float(before[1]) == pytest.approx(float(after[1]), abs=demo.PRECISION)
    assert learned[0] != before[0]


def test_what_the_demo_keeps_can_be_gone_on_with(capsys):
    assert main(["demo", "--keep", "a tour"]) == 0
    out = capsys.readouterr().out
    assert sorted(path.name for path in Path("a tour").iterdir()) == [
        "mail.textodds",
        "messages.csv",
        "new_messages.csv",
    ]
    typed = re.findall(r"^   textodds (.*)$", out, re.M)
    assert len(typed) == 3
    for line in typed:
        assert main(shlex.split(line)) == 0


def test_a_folder_that_cannot_be_made_is_said(capsys):
    Path("file").touch()
    assert main(["demo", "--keep", "file"]) == 2
    assert capsys.readouterr().err.startswith("error: `file`: file exists")


def test_examples_that_are_not_there_are_said(capsys, monkeypatch):
    monkeypatch.setattr(demo, "LEARNED", "missing.csv")
    assert main(["demo"]) == 2
    assert "error: the example messages are not installed" in capsys.readouterr().err
