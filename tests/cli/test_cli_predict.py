import json
from pathlib import Path

import pytest

import textodds
from textodds.cli import main, options


def test_predict_prints_label_tab_probability(model, capsys):
    assert main(["predict", "mail.textodds", "--say", "a free prize", "--say", "see you at noon"]) == 0
    loaded = textodds.load("mail.textodds")
    expected = [loaded(text) for text in ("a free prize", "see you at noon")]
    assert capsys.readouterr() == ("".join(f"{p.label}\t{p.probability:.4f}\n" for p in expected), "")
    assert [p.label for p in expected] == ["spam", "ham"]


def test_proba_prints_all_classes_the_most_probable_first(model, capsys):
    assert main(["predict", "mail.textodds", "--say", "free", "--proba"]) == 0
    p = textodds.load("mail.textodds")("free").probabilities
    assert capsys.readouterr().out == f"spam\t{p['spam']:.4f}\tham\t{p['ham']:.4f}\n"


def test_json_is_one_object_a_line(model, capsys):
    assert main(["predict", "mail.textodds", "--json", "--say", "free zebra", "--say", "zebra"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    expected = textodds.load("mail.textodds")("free zebra")
    assert first == {"label": "spam", "probability": expected.probability, "evidence": 1}
    assert second["evidence"] == 0
    assert main(["predict", "mail.textodds", "--json", "--proba", "--say", "free zebra"]) == 0
    assert json.loads(capsys.readouterr().out)["probabilities"] == expected.probabilities


@pytest.mark.parametrize("prior", ["uniform", "ham=0.999,spam=0.001", "data"])
def test_another_prior_changes_the_answer(model, capsys, prior):
    assert main(["predict", "mail.textodds", "--say", "free", "--prior", prior]) == 0
    given = {"ham": 0.999, "spam": 0.001} if "=" in prior else prior
    expected = textodds.load("mail.textodds").with_prior(given)("free")
    assert capsys.readouterr().out == f"{expected.label}\t{expected.probability:.4f}\n"


def test_files_are_answered_in_their_order(model, capsys):
    Path("a.csv").write_text("id,body\n1,free prize\n2,at home\n")
    Path("b.csv").write_text("id,body\n3,lunch\n")
    assert main(["predict", "mail.textodds", "a.csv", "b.csv", "--text", "body"]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["spam", "ham", "ham"]


def test_plain_lines_need_no_columns(model, capsys):
    Path("new.txt").write_text("free prize\n\nat home\n")
    assert main(["predict", "mail.textodds", "new.txt"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("json_", [[], ["--json", "--proba"]])
def test_scoring_in_portions_changes_nothing(model, capsys, monkeypatch, json_):
    Path("new.txt").write_text("".join(f"free prize {k}\nat home {k}\n" for k in range(50)))
    assert main(["predict", "mail.textodds", "new.txt", *json_]) == 0
    at_once = capsys.readouterr().out
    monkeypatch.setattr(options, "CELLS", 14)  # seven rows of two classes
    assert main(["predict", "mail.textodds", "new.txt", *json_]) == 0
    assert capsys.readouterr().out == at_once


def test_bad_rows_are_skipped_on_request(model, capsys):
    Path("new.jsonl").write_text('{"text": "free"}\nnonsense\n{"text": "home"}\n')
    assert main(["predict", "mail.textodds", "new.jsonl"]) == 2
    assert "error: new.jsonl, line 2: " in capsys.readouterr().err
    assert main(["predict", "mail.textodds", "new.jsonl", "--bad-rows", "skip"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2
    assert "1 skipped row not kept; to keep them: `--rejects FILE`" in err
    assert not list(Path().glob("*reject*"))


def test_a_text_given_for_a_file_is_understood(model, capsys):
    assert main(["predict", "mail.textodds", "win a free phone"]) == 2
    assert capsys.readouterr() == (
        "",
        "error: no file at `win a free phone`\n\n"
        'hint: for a text rather than a file: --say "win a free phone"\n',
    )


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["mail.csv", "--say", "free"], "`--say` cannot be combined with DATA"),
        (["--say", "free", "--text", "body"], "`--text` is about data, but the text is given with `--say`"),
        (["--say", "free", "--bad-rows", "skip"], "`--bad-rows` is about data"),
        (["--say", "\udcff"], "text 0 holds a lone surrogate"),
        (["--say", "free", "--prior", "spam=1"], "the prior names spam; the classes are ham, spam"),
        (["mail.csv", "--text", "txet"], "mail.csv has no txet column"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said(model, capsys, args, problem):
    assert main(["predict", "mail.textodds", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {problem}")


def test_labels_cannot_break_lines_or_command_the_terminal(capsys):
    """Nor by one character that some terminals take for an escape and a bracket, U+009B."""
    odd = "a\tb\n\x1b[2J\x7f\x9b2J"
    Path("odd.jsonl").write_text(json.dumps({"text": "x", "label": odd}) + "\n")
    assert main(["train", "odd.jsonl", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", "odd.textodds", "--say", "x"]) == 0
    assert capsys.readouterr().out == "a\\tb\\n\\x1b[2J\\x7f\\x9b2J\t1.0000\n"
    assert main(["predict", "odd.textodds", "--say", "x", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == odd
