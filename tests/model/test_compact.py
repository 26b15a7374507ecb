import json
from pathlib import Path

import numpy as np
import pytest

import textodds
from label_texts import label_texts
from model_cases import documents
from pairs import together
from textodds.cli import main
from textodds.errors import ModelFileError, Unsupported
from textodds.model import file
from textodds.model.storage.compact import Agreement, agreement, packed, save_compact, unpacked
from textodds.model.storage.container import file_of, parsed

CLASSES = 3


def texts_and_labels(n=4):
    drawn = [documents(CLASSES, seed) for seed in range(n)]
    return [text for texts, _ in drawn for text in texts], [label for _, labels in drawn for label in labels]


def small_of(model, path="small.textodds"):
    save_compact(path, model)
    return textodds.load(path, check=True)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@together
@pytest.mark.parametrize(
    "settings",
    [
        {"learner": "softmax:C=3:ngrams=1-2"},
        {"learner": "softmax:C=3:characters=2-4"},
        {"learner": "softmax:C=3:hash_bits=8"},
        {"learner": "lda"},
        {"learner": "multinomial"},
        {"learner": "bernoulli"},
        {"learner": "complement"},
        {"learner": "multinomial", "calibrate": False},
    ],
    ids=str,
)
def test_a_compact_model_answers_and_explains_as_before(settings):
    texts, labels = texts_and_labels()
    model = textodds.train(texts, labels, **settings)
    small = small_of(model)
    p, q = model.predict_proba(texts), small.predict_proba(texts)
    assert np.abs(p - q).max() < 0.03
    sure = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 0.06
    assert (model.predict(texts) == small.predict(texts))[sure].all()
    np.testing.assert_array_equal(model.vocabulary.keys, small.vocabulary.keys)
    np.testing.assert_array_equal(model.vocabulary.arena, small.vocabulary.arena)
    assert small.explain(texts[0]).label == small.predict(texts[:1])[0]
    assert Path("small.textodds").stat().st_size < Path(saved(model)).stat().st_size / 2


def saved(model):
    model.save("whole.textodds")
    return "whole.textodds"


def test_a_compact_model_says_that_it_cannot_learn():
    texts, labels = texts_and_labels(1)
    for learner, problem in (
        ("softmax:C=1", "cannot be updated"),
        ("multinomial", "without its counts|no counts"),
    ):
        small = small_of(textodds.train(texts, labels, learner=learner))
        with pytest.raises(Unsupported, match=problem):
            small.learn(["more"], [labels[0]])


def test_many_classes_and_words_of_any_length_come_back():
    texts = [f"word{k} {'x' * (k % 40)}é{k} naïve" for k in range(300)]
    labels = [f"class {k % 150}" for k in range(300)]
    model = textodds.train(texts, labels, learner="multinomial", calibrate=False)
    assert model.form.weights.dense is None
    small = small_of(model)
    np.testing.assert_array_equal(model.vocabulary.keys, small.vocabulary.keys)
    assert np.abs(model.predict_proba(texts) - small.predict_proba(texts)).max() < 0.01
    long = textodds.train(["a" * 300, "b"], ["x", "y"], learner="multinomial")
    assert small_of(long).vocabulary.words() == long.vocabulary.words()


def test_several_labels_a_text_are_compact_too():
    texts, labels = label_texts(200)
    for learner in ("softmax", "multinomial"):
        model = textodds.train(texts, labels, learner=learner)
        small = small_of(model)
        assert np.abs(model.predict_proba(texts) - small.predict_proba(texts)).max() < 0.03
        found = agreement(model, small, model.read(texts))
        assert found.texts == 200
        assert found.same > 190


def test_what_is_compact_can_be_saved_and_made_compact_again():
    texts, labels = texts_and_labels(1)
    small = small_of(textodds.train(texts, labels, learner="softmax:C=3"))
    again = small_of(small, "again.textodds")
    assert agreement(small, again, small.read(texts)).largest < 0.01
    small.save("whole.textodds", counts=False)
    ordinary = textodds.load("whole.textodds")
    np.testing.assert_array_equal(ordinary.predict_proba(texts), small.predict_proba(texts))


def test_covariances_are_not_made_compact():
    texts, labels = texts_and_labels(1)
    with pytest.raises(Unsupported, match="which are not made compact"):
        save_compact("small.textodds", textodds.train(texts, labels, learner="qda"))


def test_a_damaged_part_is_an_error_of_the_file():
    texts, labels = texts_and_labels(1)
    model = textodds.train(texts, labels, learner="softmax:C=3")
    header, arrays = packed(*file._contents(model, counts=False, documents=False), coarse=True)
    whole = parsed(Path("x"), file_of(header, arrays))
    assert whole[0]["format"] == 4
    for name in [name for name in arrays if name.startswith("compact.")]:
        part = name.removeprefix("compact.")
        for spoiled in (
            (header, {**arrays, name: arrays[name][:-9]}),
            (header, {**arrays, name: arrays[name][::-1].copy()}),
            (_with_part(header, part, ["<f8", 3]), arrays),
            (_with_part(header, part, ["|u1", -1]), arrays),
            (_with_part(header, part, ["|u1", 10**15]), arrays),
            (header, {each: array for each, array in arrays.items() if each != name}),
        ):
            Path("bad.textodds").write_bytes(file_of(*spoiled))
            with pytest.raises(ModelFileError):
                textodds.load("bad.textodds")
    for front, rest in ((b"\x05", b"\x01"), (b"\x00", b"\x00"), (b"\x00", b"\x02")):
        words = {"front": front, "rest": rest, "letters": b"a"}
        coded = {
            f"compact.{each}": np.frombuffer(_deflated(value), np.uint8) for each, value in words.items()
        }
        bad = header
        for each, value in words.items():
            bad = _with_part(bad, each, ["|u1", len(value)])
        with pytest.raises(ModelFileError):
            unpacked(bad, {**arrays, **coded})


def _deflated(content):
    import zlib

    return zlib.compress(content)


def _with_part(header, name, about):
    compact = header["compact"]
    return {**header, "compact": {**compact, "parts": {**compact["parts"], name: about}}}


def test_export_writes_it_and_says_how_answers_differ(capsys):
    texts, labels = texts_and_labels(1)
    textodds.train(texts, labels, learner="softmax:C=3").save("mail.textodds")
    Path("new.csv").write_text("text\n" + "\n".join(texts[:20]) + "\n")
    assert main(["export", "mail.textodds", "-o", "small.textodds", "--compact"]) == 0
    err = capsys.readouterr().err
    assert "it answers and explains, and cannot learn" in err
    assert f"of {len(texts):,} documents of the model have the same answer as before" in err
    assert (
        main(["export", "mail.textodds", "-o", "a.textodds", "--compact", "--on", "new.csv", "--json"]) == 0
    )
    about = json.loads(capsys.readouterr().out)
    assert (about["format"], about["texts"]) == ("textodds", 20)
    assert about["bytes"] == Path("a.textodds").stat().st_size < about["bytes_before"]
    assert main(["export", "small.textodds", "-o", "b.textodds", "--compact"]) == 0
    assert "its answers were not compared: name texts with `--on DATA`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-o", "x.onnx", "--compact"], "`x.onnx` is not named like one"),
        (["-o", "x.onnx", "--on", "new.csv"], "`--on` is for `--compact`"),
        (["-o", "x.textodds"], "unknown format"),
    ],
)
def test_export_refuses_what_makes_no_sense(capsys, arguments, problem):
    textodds.train(["a b", "c d"], ["x", "y"], learner="multinomial").save("mail.textodds")
    assert main(["export", "mail.textodds", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_agreement_counts_equal_answers():
    model = textodds.train(["a b", "c d"], ["x", "y"], learner="multinomial")
    assert agreement(model, model, model.read(["a", "c", "d"])) == Agreement(3, 3, 0.0)
