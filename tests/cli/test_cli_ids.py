"""``learn`` and ``forget`` by id do what they are asked once, however often they are asked."""

import json
from pathlib import Path

import pytest

import textodds
from forked import run
from model_files import parts, put_together
from textodds.cli import main
from textodds.errors import InputError, Unsupported

MORE = "id,text,label\nm7,free eggs,breakfast\nm8,see you at noon,ham\n"


@pytest.fixture
def more(model, capsys):
    """`more.csv`, two rows with ids, learned by `mail.textodds`."""
    Path("more.csv").write_text(MORE)
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id", "--new-class", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_learning_the_same_file_again_changes_nothing_and_says_so(more, capsys):
    before = textodds.load("mail.textodds")
    assert before.tally.n_documents == 8
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id"]) == 0
    assert capsys.readouterr() == (
        "",
        "left out 2 rows whose id was learned before\n"
        "learned 0 rows: mail.textodds now has 8 documents in 3 classes, 17 words\n",
    )
    after = textodds.load("mail.textodds")
    assert after.tally == before.tally
    assert after.document_ids == before.document_ids


def test_only_what_is_new_is_learned(more, capsys):
    Path("more.csv").write_text(MORE + "m9,lunch,ham\n")
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["left_out"], told["documents"]) == (1, 2, 9)


def test_forgetting_twice_is_forgetting_once_and_leaves_no_trace(more, capsys):
    assert main(["forget", "mail.textodds", "more.csv", "--id", "id"]) == 0
    assert "forgot 2 rows: mail.textodds now has 6 documents" in capsys.readouterr().err
    once = Path("mail.textodds").read_bytes()
    assert main(["forget", "mail.textodds", "more.csv", "--id", "id"]) == 0
    assert "left out 2 rows whose id is not there\n" in capsys.readouterr().err
    assert Path("mail.textodds").read_bytes() == once
    model = textodds.load("mail.textodds")
    assert model.tally == textodds.train("mail.csv", learner="multinomial").tally
    assert len(model.document_ids) == 0


def test_another_label_is_an_error_that_says_to_forget_first_and_changes_nothing(more, capsys):
    before = Path("mail.textodds").read_bytes()
    Path("more.csv").write_text(MORE.replace("m8,see you at noon,ham", "m8,see you at noon,spam"))
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: document `m8` was learned as `ham`, and now comes as `spam`\n")
    assert "hint: forget it under its old label first" in err
    assert Path("mail.textodds").read_bytes() == before


def test_a_text_that_is_said_may_have_an_id(model, capsys):
    said = ["--say", "free milk", "--label-is", "breakfast", "--document-id", "m1", "--quiet"]
    for documents in (7, 7):
        assert main(["learn", "mail.textodds", *said, "--new-class"]) == 0
        assert textodds.load("mail.textodds").tally.n_documents == documents
    for documents in (6, 6):
        assert main(["forget", "mail.textodds", *said]) == 0
        assert textodds.load("mail.textodds").tally.n_documents == documents


def test_weights_stay_with_their_rows(model):
    Path("more.csv").write_text("id,text,label,n\na,free,ham,2\na,free,ham,2\nb,see,ham,5\n")
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id", "--weight", "n", "--quiet"]) == 0
    assert textodds.load("mail.textodds").tally.n_documents == 13


def test_ids_may_be_numbers(model):
    Path("more.jsonl").write_text('{"id": 7, "text": "free eggs", "label": "spam"}\n' * 2)
    assert main(["learn", "mail.textodds", "more.jsonl", "--id", "id", "--quiet"]) == 0
    assert textodds.load("mail.textodds").document_ids.label_of("7") == "spam"
    assert textodds.load("mail.textodds").tally.n_documents == 7


def test_a_row_without_an_id_is_named(more, capsys):
    Path("more.csv").write_text("id,text,label\nm1,free,ham\n,see,ham\n")
    assert main(["learn", "mail.textodds", "more.csv", "--id", "id"]) == 2
    assert capsys.readouterr().err.startswith("error: more.csv, line 3: id is empty\n")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["more.csv", "--id", "key"], "more.csv has no key column"),
        (
            ["more.csv", "--id", "id", "--bad-rows", "skip"],
            "`--id` cannot be combined with `--bad-rows skip`",
        ),
        (["--say", "a", "--label-is", "ham", "--id", "id"], "there are 1 texts and 0 ids"),
        (["--say", "a", "--say", "b", "--label-is", "ham", "--document-id", "m1"], "there are 2 texts and 1"),
        (["more.csv", "--document-id", "m1"], "there are 0 texts and 1 ids"),
    ],
)
def test_ids_that_cannot_be_paired_with_texts_are_refused(more, capsys, args, problem):
    assert main(["learn", "mail.textodds", *args]) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")


@pytest.mark.parametrize("data", [["-"], []])
def test_ids_on_stdin_are_refused_since_it_is_read_once(model, data):
    before = Path("mail.textodds").read_bytes()
    done = run("learn", "mail.textodds", *data, "--id", "n", input="text,label,n\nfree,spam,7\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: stdin can be read only once, and `--id` reads it twice\n\nhint: put it in a file\n"
    )
    assert Path("mail.textodds").read_bytes() == before


def test_a_model_that_learned_without_ids_does_not_pretend_to_forget_by_them(model, capsys):
    Path("more.csv").write_text(MORE)
    assert main(["forget", "mail.textodds", "more.csv", "--id", "id"]) == 2
    assert capsys.readouterr().err.startswith("error: the model has learned no text by an id")


def test_a_model_learns_and_forgets_by_id(tmp_path):
    model = textodds.train(["free phone", "see you"], ["spam", "ham"])
    before = model.tally
    assert model.learn(["free eggs", "at six"], ["spam", "ham"], ids=["m1", "m2"]) == 2
    assert model.learn("free eggs", "spam", ids="m1") == 0
    with pytest.raises(InputError, match="forget it under its old label first"):
        model.learn(["new", "free eggs"], ["ham", "ham"], ids=["m3", "m1"])
    assert model.tally.n_documents == 4
    model.save(tmp_path / "m")
    model = textodds.load(tmp_path / "m")
    assert model.document_ids.label_of("m2") == "ham"
    assert model.forget(["free eggs", "at six", "never"], ["spam", "ham", "ham"], ids=["m1", "m2", "m9"]) == 2
    assert model.tally == before
    assert len(model.document_ids) == 0


def test_models_with_ids_are_merged_unless_a_document_is_in_both():
    a, b = (textodds.train(["free phone", "see you"], ["spam", "ham"]) for _ in "ab")
    a.learn("free eggs", "spam", ids="m1")
    b.learn("at six", "ham", ids="m2")
    both = a + b
    assert both.document_ids.label_of("m1") == "spam"
    assert both.document_ids.label_of("m2") == "ham"
    assert (both - b).document_ids == a.document_ids
    b.learn("free eggs", "spam", ids="m1")
    with pytest.raises(InputError, match="1 documents are in both models"):
        _ = a + b


def test_a_ledger_is_not_kept_without_counts_and_a_damaged_one_is_refused(tmp_path):
    model = textodds.train(["free phone", "see you"], ["spam", "ham"])
    with pytest.raises(Unsupported, match="has learned no text by an id"):
        model.forget("free phone", "spam", ids="m1")
    model.learn("free eggs", "spam", ids="m1")
    model.save(tmp_path / "bare", counts=False)
    assert textodds.load(tmp_path / "bare").document_ids is None
    model.save(tmp_path / "m")
    arrays, header = parts(tmp_path / "m")
    assert header["ledger"] == ["spam"]
    put_together(tmp_path / "m", arrays, header | {"ledger": ["spam", "ham"]})
    with pytest.raises(textodds.errors.ModelFileError, match="labels of the ledger are out of order"):
        textodds.load(tmp_path / "m")
