import re
import shlex
from pathlib import Path

import textodds
from textodds.cli import demo, main


def test_the_numbers_of_the_demo_are_those_of_the_library(capsys):
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert list(Path().iterdir()) == []
    model = textodds.train(demo.messages_folder() / "messages.csv", learner="multinomial")
    quality = model.evaluate(demo.messages_folder() / "new_messages.csv")
    assert re.search(rf"^   accuracy +{quality.accuracy:.4f} ", out, re.M)
    said = re.findall(r"“(.*)”\n +(\w+) +(\d\.\d{4})", out)
    assert len(said) == 4
    for text, label, probability in said:
        assert (label, probability) == (model(text).label, f"{model(text).probability:.4f}")


def test_the_demo_changes_an_answer_and_takes_it_back_exactly(capsys):
    assert main(["demo"]) == 0
    before, learned, after = re.findall(
        r"^   [\w ]+   (ham|spam) +(\d\.\d{4})", capsys.readouterr().out, re.M
    )
    assert before == after
    assert learned[0] != before[0]
    assert main(["demo"]) == 0
    assert "the same model, bit for bit" in capsys.readouterr().out


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


def test_the_readme_shows_what_the_demo_prints(capsys):
    assert main(["demo"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    [shown] = re.findall(
        r"```text\n(.*?)```", (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8"), re.S
    )
    for line in filter(None, map(str.split, shown.splitlines())):
        assert " ".join(line) in printed
