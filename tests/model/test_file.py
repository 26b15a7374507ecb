"""Model files: all of a model comes back, the same bytes each time, the old file or the new one."""

import errno
import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import textodds
from model_files import LONG, TEXTS, parts, put_together, small_model
from textodds import TextSettings
from textodds.errors import ModelFileError, Unsupported
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.learn.recipe import Recipe
from textodds.model.storage import container as model_file
from textodds.stats.tally import Tally

OPTIONS = [
    {},
    {"hash_bits": 6, "hash_seed": 7},
    {"vocabulary": ["a", LONG], "unknown": "count"},
    {"ngrams": (1, 2), "stop_words": ["b"], "lower": False, "normal_form": None},
    {"unit": "characters", "strip_accents": True, "normal_form": "NFKC"},
    {"min_df": 0.0, "max_df": 0.9, "max_features": 4, "unknown": "smooth"},
    {"learner": MultinomialLearner(alpha=0.25, prior={"c00": 0.25, "c01": 0.75}, binary=True)},
    {"learner": BernoulliLearner(alpha=0.5, prior="uniform")},
    {"learner": ComplementLearner(alpha=0.5, norm=True, transform=True)},
]


def saved(model, path, **options):
    """The model as it comes back from a file."""
    model.save(path, **options)
    return textodds.load(path)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_field_comes_back(options, tmp_path):
    model = small_model(**options)
    again = saved(model, tmp_path / "m")
    assert again.recipe == model.recipe
    assert again.classes_ == model.classes_
    assert again.linear.presence is model.linear.presence
    assert again.linear.is_posterior is model.linear.is_posterior
    assert again.vocabulary.words() == model.vocabulary.words()
    assert again.tally == model.tally
    assert again.tally.pruned == model.tally.pruned
    assert again.info == {**model.info, "fingerprint": model.tally.fingerprint()}
    for field in ("log_prior", "intercept"):
        np.testing.assert_array_equal(getattr(again.linear, field), getattr(model.linear, field))
    for field in ("default", "slope", "base", "dense", "starts", "class_of", "exceptions"):
        got, expected = getattr(again.linear.weights, field), getattr(model.linear.weights, field)
        if expected is None:
            assert got is None
        else:
            np.testing.assert_array_equal(got, expected)
            assert got.dtype == expected.dtype


@pytest.mark.parametrize(
    "learner",
    [MultinomialLearner(), MultinomialLearner(alpha=np.linspace(0.5, 1, 37)), ComplementLearner(norm=True)],
)
def test_weights_stored_as_exceptions_come_back(learner, tmp_path):
    model = small_model(12, learner=learner)
    assert model.linear.weights.dense is None
    again = saved(model, tmp_path / "m")
    for field in ("default", "slope", "base", "starts", "class_of", "exceptions"):
        np.testing.assert_array_equal(
            getattr(again.linear.weights, field), getattr(model.linear.weights, field)
        )
    np.testing.assert_array_equal(again.score(TEXTS)[0], model.score(TEXTS)[0])


@pytest.mark.parametrize(
    ("weights", "fraction"),
    [([1, 2, 300, 70_000], 0), ([1, 1, 1, 2**32], 0), ([0.5, 1, 1, 2**20], 30)],
    ids=str,
)
def test_counts_of_every_size_come_back(weights, fraction, tmp_path):
    model = textodds.train(TEXTS, ["x", "y", "x", "y"], weights, learner="multinomial")
    again = saved(model, tmp_path / "m")
    assert again.tally.fraction == fraction
    assert again.tally == model.tally
    for field in ("class_documents", "starts", "class_of", "occurrences", "documents"):
        assert getattr(again.tally, field).dtype == getattr(model.tally, field).dtype


def test_odd_labels_and_words_come_back(tmp_path):
    labels = ["\0", '"', "\\", "\n", "é", "😀", "</script>", "x" * 1000]
    model = textodds.train([f"w{i}\0 字{i}" for i in range(8)], labels, unit="whitespace")
    again = saved(model, tmp_path / "m")
    assert again.classes_ == tuple(sorted(labels))
    assert again.vocabulary.words() == model.vocabulary.words()


def test_the_same_model_is_the_same_bytes(tmp_path):
    model = small_model(12)
    model.save(tmp_path / "one")
    model.save(tmp_path / "two")
    small_model(12, threads=2).save(tmp_path / "three")
    saved(model, tmp_path / "four").save(tmp_path / "five")
    assert len({(tmp_path / name).read_bytes() for name in ("one", "two", "three", "four", "five")}) == 1


def test_the_file_is_plain_safetensors_with_a_json_header(tmp_path):
    small_model().save(tmp_path / "m")
    arrays, header = parts(tmp_path / "m")
    assert header["format"] == model_file.FORMAT == 3
    assert header["classes"] == ["c00", "c01"]
    assert header["recipe"]["learner"] == {
        "learner": "multinomial",
        "alpha": 1.0,
        "prior": "data",
        "binary": False,
    }
    assert "linear.dense" in arrays


def test_without_counts_no_word_is_left_that_the_model_does_not_use(tmp_path):
    model = textodds.train(["secretsecretsecret common", "common private"], ["x", "y"], min_df=2)
    model.save(tmp_path / "with")
    model.save(tmp_path / "without", counts=False)
    assert b"secretsecretsecret" in (tmp_path / "with").read_bytes()
    for word in (b"secretsecretsecret", b"private"):
        assert word not in (tmp_path / "without").read_bytes()


def test_a_model_without_counts_predicts_and_refuses_the_rest(tmp_path):
    model = saved(small_model(), tmp_path / "m", counts=False)
    assert model("a b").label == small_model()("a b").label
    for change in (model.learn, model.forget):
        with pytest.raises(Unsupported, match="without its counts"):
            change("a", "c00")
    with pytest.raises(Unsupported):
        _ = model + small_model()
    assert model.with_prior("uniform")("zzz").probabilities == pytest.approx({"c00": 0.5, "c01": 0.5})
    saved(model, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_forgotten_words_leave_the_file(tmp_path):
    model = small_model()
    model.learn("unforgettableword", "c00")
    model.forget("unforgettableword", "c00")
    model.save(tmp_path / "m")
    assert b"unforgettable" not in (tmp_path / "m").read_bytes()


def test_opening_does_not_read_the_counts(tmp_path, monkeypatch):
    model = small_model()
    model.save(tmp_path / "m")
    monkeypatch.setattr(Tally, "checked", lambda self: pytest.fail("the counts were read"))
    again = textodds.load(tmp_path / "m")
    again.predict(TEXTS)
    again.explain(TEXTS[0])
    again.evaluate(TEXTS, ["c00", "c01", "c00", "c01"])
    again.with_prior("uniform")


def test_opening_maps_the_file_rather_than_read_it(tmp_path):
    model = saved(small_model(), tmp_path / "m")
    for array in (model.vocabulary.keys, model.linear.weights.dense, model.linear.log_prior):
        assert not array.flags.owndata
        assert not array.flags.writeable


def test_the_fingerprint_of_a_changed_model_is_not_that_of_the_file(tmp_path):
    model = saved(small_model(), tmp_path / "m")
    model.learn("new words", "c00")
    assert model.info.get("fingerprint") in (None, model.tally.fingerprint())
    model.save(tmp_path / "bare", counts=False)
    header = parts(tmp_path / "bare")[1]
    assert header["info"].get("fingerprint") in (None, model.tally.fingerprint())


def test_a_model_may_be_saved_over_the_file_it_is_open_from(tmp_path):
    model = saved(small_model(), tmp_path / "m")
    expected = model.predict_proba(TEXTS)
    small_model(12).save(tmp_path / "m")
    np.testing.assert_array_equal(model.predict_proba(TEXTS), expected)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(textodds.load(tmp_path / "m").predict_proba(TEXTS), expected)


def test_unaligned_tensors_of_another_writer_are_read(tmp_path):
    """safetensors allows a header of any length, and with it tensors at any address."""
    small_model().save(tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    text = json.dumps(header).encode()
    text += b" " * (1 - len(text) % 2)  # odd
    (tmp_path / "odd").write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    model = textodds.load(tmp_path / "odd")
    np.testing.assert_array_equal(model.score(TEXTS)[0], small_model().score(TEXTS)[0])
    assert model.tally == small_model().tally


def test_entries_of_later_minor_versions_are_passed_over(tmp_path):
    small_model().save(tmp_path / "m")
    arrays, header = parts(tmp_path / "m")
    put_together(tmp_path / "more", {**arrays, "later": np.ones(3)}, {**header, "later": {"t": 1}})
    assert textodds.load(tmp_path / "more")("a b").label == "c00"


# Written whole or not at all.


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), MemoryError(), KeyboardInterrupt()]
)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(failure, tmp_path, monkeypatch):
    small_model().save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def save_file(arrays, path, metadata=None):
        path.write_bytes(b"half a file")
        raise failure

    monkeypatch.setattr("safetensors.numpy.save_file", save_file)
    with pytest.raises((type(failure), ModelFileError)):
        small_model(12).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_fails_at_the_end_leaves_the_old_file_and_nothing_else(step, tmp_path, monkeypatch):
    small_model().save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync" if step == "fsync" else "pathlib.Path.replace", fail)
    with pytest.raises((OSError, ModelFileError)):
        small_model(12).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_full_disk_is_a_model_file_error_and_leaves_the_old_file(tmp_path):
    """A limit on the size of files stands for the full disk."""
    small_model().save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    script = f"""
        import resource, signal, sys
        sys.path.insert(0, {str(Path(__file__).resolve().parent.parent)!r})
        from model_files import small_model
        from textodds.errors import ModelFileError
        model = small_model(12)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        try:
            model.save({str(tmp_path / "m")!r})
        except ModelFileError as error:
            sys.exit("cannot write" not in str(error))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert run.returncode == 0, run.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="cannot write") as caught:
        small_model().save(tmp_path / "nowhere" / "m")
    assert str(tmp_path / "nowhere" / "m") in caught.value.problem


def test_saving_over_a_folder_is_a_model_file_error(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelFileError):
        small_model().save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_user_gives_new_files(mask, tmp_path):
    old = os.umask(mask)
    try:
        small_model().save(tmp_path / "m")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o666 & ~mask


def test_a_file_keeps_its_mode(tmp_path):
    (tmp_path / "m").write_bytes(b"")
    (tmp_path / "m").chmod(0o640)
    small_model().save(tmp_path / "m")
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_a_missing_file_is_named_with_a_near_one(tmp_path):
    small_model().save(tmp_path / "mail.textodds")
    with pytest.raises(ModelFileError, match="no model file at") as caught:
        textodds.load(tmp_path / "mial.textodds")
    assert "mail.textodds" in caught.value.hint


def test_recipes_come_back_from_plain_data():
    recipe = small_model(hash_bits=5, min_df=2, unknown="first").recipe
    again = Recipe.of_dict(json.loads(json.dumps(recipe.as_dict())))
    assert again == recipe
    assert again.settings == TextSettings(hash_bits=5)


def test_saving_through_a_link_replaces_what_it_leads_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    textodds.train(["a", "b"], ["x", "y"]).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert textodds.load(tmp_path / "file").classes_ == ("x", "y")


def loaded_by_the_library(path):
    textodds.load(path)


def predicted_on_the_command_line(path):
    from textodds.cli import main

    assert main(["predict", str(path), "--say", "a b"]) == 0


def inspected(path):
    from textodds.cli import main

    assert main(["inspect", str(path)]) == 0


def served(path):
    from textodds.serve.service import Service
    from textodds.serve.settings import Settings

    Service(Settings(path, path.with_name("journal"))).journal.close()


@pytest.mark.parametrize("use", [loaded_by_the_library, predicted_on_the_command_line, inspected, served])
def test_the_header_of_a_file_is_parsed_once(use, tmp_path, monkeypatch):
    path = tmp_path / "m.textodds"
    small_model().save(path)
    parse, parsed = model_file._header, []
    monkeypatch.setattr(model_file, "_header", lambda metadata: parsed.append(metadata) or parse(metadata))
    use(path)
    assert len(parsed) == 1
