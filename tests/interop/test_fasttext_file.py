"""fastText's files by hand: what they mean by definition, and whatever is wrong with them is an error."""

import json
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fasttext_files as files
import textodds
import twins
from pairs import together
from textodds import TextSettings, Weighting
from textodds.cli import main
from textodds.errors import InputError, ModelFileError, TextoddsError, Unsupported
from textodds.interop.from_fasttext.fields import Fields
from textodds.interop.from_fasttext.file import parts_of
from textodds.model.explain.place import placed_terms
from unicode_texts import texts

TEXTS = ["", "free phone", "see you größe", "pneumonoultramicroscopic #1 #1 other", "free </s> phone"]

KINDS = {
    "words": {"ngrams": 1, "bucket": 0},
    "unused buckets": {"ngrams": 1, "bucket": 30},
    "pairs": {"ngrams": 2},
    "letters": {"ngrams": 3, "minn": 2, "maxn": 3},
    "version 11": {"ngrams": 2, "minn": 2, "maxn": 3, "version": 11},
    "quantised": {"ngrams": 2, "quantise": (2, False)},
    "uneven parts": {"ngrams": 2, "dim": 5, "quantise": (2, True)},
    "pruned": {"ngrams": 2, "kept": [(49, 2), (3, 0), (11, 1)], "quantise": (3, True), "qout": True},
    "none kept": {"ngrams": 2, "kept": [], "quantise": (4, False)},
}


def settings_of(buckets, **how):
    return TextSettings(unit=f"fasttext:{buckets}", lower=False, normal_form=None, **how)


sizes = st.tuples(st.integers(1, 3), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))


@given(
    text=texts,
    buckets=st.sampled_from([0, 1, 2, 7, 1000, 2_000_000, 2**31 - 1]),
    ngrams=sizes,
    characters=st.none() | sizes,
)
@example(text="a </s> b", buckets=7, ngrams=(1, 3), characters=(1, 2))
@example(text="__label__a x\0y </s>", buckets=7, ngrams=(1, 2), characters=(1, 2))
@example(text="", buckets=7, ngrams=(2, 2), characters=None)
@example(text="größe ß 😀👍🏽", buckets=2**31 - 1, ngrams=(1, 2), characters=(1, 6))
def test_terms_equal_the_twin_and_have_places(text, buckets, ngrams, characters):
    settings = settings_of(buckets, ngrams=ngrams, characters=characters, stop_words=["x:a"])
    named = settings.terms(text)
    assert named == twins.fasttext_terms(
        text, buckets, ngrams=ngrams, characters=characters, left_out=["x:a"]
    )
    placed = placed_terms(settings, text)
    assert [term.name for term in placed] == named
    for name, spans in placed:
        if not name.startswith("# ") and spans:
            assert text[spans[0][0] : spans[0][1]] == name


@together
@pytest.mark.parametrize(
    "wrong",
    [
        {"lower": True},
        {"normal_form": "NFC"},
        {"hash_bits": 5},
        {"fields": ("a", "b")},
        {"vocabulary": ["a"]},
        {"strip_accents": True},
    ],
)
def test_the_unit_reads_texts_as_they_are(wrong):
    with pytest.raises(InputError, match="reads texts as they are"):
        TextSettings(**({"unit": "fasttext:5", "lower": False, "normal_form": None} | wrong))


@together
@pytest.mark.parametrize(
    "unit", ["fasttext:", "fasttext:-1", "fasttext:2147483648", "fasttext:x", "fasttext"]
)
def test_buckets_are_a_number_that_fasttext_can_have(unit):
    with pytest.raises(InputError, match="unknown unit"):
        TextSettings(unit=unit)


def test_training_takes_neither_the_unit_nor_the_mean():
    mean = Weighting("count", idf=False, unit=False, mean=True)
    data = (["free phone", "see you"] * 20, ["spam", "ham"] * 20)
    for options in ({"weighting": mean}, {"settings": settings_of(9)}):
        with pytest.raises(Unsupported, match="are not trained on"):
            textodds.train(*data, learner="softmax", **options)
    with pytest.raises(Unsupported, match="are not trained on"):
        textodds.SoftmaxStream(settings_of(9))
    with pytest.raises(InputError, match="length 1, or is a mean"):
        Weighting(mean=True)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_means_of_vectors_times_the_output_matrix(kind, tmp_path):
    about = KINDS[kind]
    made, first, second = files.whole(**about)
    (tmp_path / "model.bin").write_bytes(made)
    model = textodds.from_fasttext(tmp_path / "model.bin")
    assert model.classes_ == ("ham", "news", "spam")
    letters = (about["minn"], about["maxn"]) if kind == "letters" else None
    kept = about.get("kept")
    place = kept if kept is not None else zip(range(50), range(50), strict=True)
    rows = {f"# {number}": at + len(files.WORDS) for number, at in place}
    for text in TEXTS:
        how = {"ngrams": (1, about["ngrams"]), "characters": letters}
        n_buckets = about.get("bucket", 50) if about["ngrams"] > 1 else 0
        own = twins.fasttext_terms(text, 0) if not n_buckets else twins.fasttext_terms(text, n_buckets, **how)
        n_words = len(twins.fasttext_terms(text, 0))
        at = [files.WORDS.index(word) for word in own[:n_words] if word in files.WORDS]
        at += [rows[name] for name in own[n_words:] if name in rows]
        scores = first[at].astype(np.float64).mean(axis=0) @ second.astype(np.float64).T
        log_odds = np.log(model.predict_proba([text])[0])
        np.testing.assert_allclose(log_odds - log_odds[2], (scores - scores[0])[[1, 2, 0]], atol=1e-12)


def test_words_that_no_text_can_have_are_left_out(tmp_path):
    words = [*files.WORDS, b"\xff\xfe", b"a b"]
    (tmp_path / "model.bin").write_bytes(files.whole(words=words, bucket=0, ngrams=1)[0])
    model = textodds.from_fasttext(tmp_path / "model.bin")
    assert sorted(model.vocabulary.words()) == sorted(files.WORDS)
    assert model.vocabulary.find(files.WORDS).min() >= 0


def test_other_prefixes_of_labels_stay(tmp_path):
    (tmp_path / "model.bin").write_bytes(files.whole(labels=["x:a", "__label__b"])[0])
    model = textodds.from_fasttext(tmp_path / "model.bin")
    assert model.classes_ == ("__label__b", "x:a")
    assert "x:a" not in model.recipe.settings.terms("x:a free")
    (tmp_path / "model.bin").write_bytes(files.whole(words=["__label__z"], labels=["x:a", "x:b"])[0])
    with pytest.raises(Unsupported, match="begins with `__label__`"):
        textodds.from_fasttext(tmp_path / "model.bin")


def wrong_files():
    """Files that are wrong in one place, and what is said of them."""
    head, dictionary = files.head(), files.dictionary()
    rest = files.whole()[0][len(head) + len(dictionary) :]
    yield b"", "it is empty"
    yield b"abc", "does not begin as one"
    yield b"PK\3\4" + bytes(100), "does not begin as one"
    yield files.head(version=13) + dictionary + rest, "version 13"
    yield files.head(loss=5) + dictionary + rest, "loss 5"
    yield files.head(model=1) + dictionary + rest, "word vectors"
    yield files.head(dim=-4) + dictionary + rest, "dim -4"
    yield files.head(dim=5) + dictionary + rest, "shape"
    yield files.head(ngrams=17) + dictionary + rest, "too long"
    yield files.head(bucket=0) + dictionary + rest, "no bucket"
    yield files.head(bucket=51) + dictionary + rest, "58 rows for 8 words and 51 buckets"
    yield files.head(loss="hs") + files.dictionary(count=10**15) + rest, "cannot be"
    yield head + files.dictionary(labels=[]) + rest, "0 labels cannot be"
    yield head + files.dictionary(words=["a", "a"]) + rest, "twice"
    yield head + files.dictionary(words=["", "a"]) + rest, "entry 0 of its dictionary"
    yield head + files.dictionary(count=-1) + rest, "entry 0 of its dictionary"
    yield head + files.dictionary(labels=[b"__label__\xff"]) + rest, "shape"
    yield head + struct.pack("<3iqq", 2**31 - 1, 2**31 - 2, 1, 1, -1) + rest, "cannot be"
    yield head + dictionary + b"\2" + rest[1:], "must be 0 or 1"
    yield head + dictionary + b"\0" + struct.pack("<qq", 2**62, 2**62), "cut off"
    yield head + dictionary + b"\0" + struct.pack("<qq", -1, 4), "-1 rows"
    yield head + dictionary + rest + b"\0", "1 bytes behind"
    yield head + files.dictionary(kept=[(50, 0)]) + rest, "buckets that were kept"
    yield head + files.dictionary(kept=[(1, 50)]) + rest, "buckets that were kept"
    yield head + files.dictionary(kept=[(1, 0), (1, 1)]) + rest, "buckets that were kept"
    yield head + dictionary + rest[:17] + b"\0\0\xc0\x7f" * 232 + rest[17 + 928 :], "not numbers"


@together
@pytest.mark.parametrize(("content", "reason"), list(wrong_files()))
def test_a_wrong_file_is_refused_with_a_reason(content, reason):
    with pytest.raises((ModelFileError, Unsupported), match=reason):
        _converted("wrong.bin", content)


def _converted(path, content):
    Path(path).write_bytes(content)
    return textodds.from_fasttext(path)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def must_be_an_error_or_numbers(content):
    """A file that somebody has changed: an error of ours, or a model whose answers are numbers."""
    try:
        model = _converted("changed.bin", content)
    except TextoddsError:
        return
    p = model.predict_proba(TEXTS)
    assert np.isfinite(p).all()
    assert (p >= 0).all() & (p <= 1).all()


@together
@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_an_error(kind):
    content = files.whole(**KINDS[kind])[0]
    for length in sorted(
        {*range(0, 420), *range(0, len(content), max(1, len(content) // 60)), len(content) - 1}
    ):
        with pytest.raises(ModelFileError):
            parts_of(Fields(content[:length]))


@pytest.mark.parametrize("kind", ["pairs", "letters", "uneven parts", "pruned"])
def test_a_changed_file_is_an_error_or_a_model(kind):
    content = files.whole(**KINDS[kind])[0]
    random, started = np.random.default_rng(3), time.monotonic()
    ends = len(files.head()) + len(files.dictionary()) + 60
    for turn in range(400):
        changed = bytearray(content)
        at = int(random.integers(ends if turn % 4 else len(content)))
        if turn % 3:
            changed[at] ^= 1 << int(random.integers(8))
        else:
            width = int(random.choice([1, 4, 8]))
            value = int(random.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**62, 255]))
            changed[at : at + width] = (value % 2 ** (8 * width)).to_bytes(width, "little")
        must_be_an_error_or_numbers(bytes(changed))
    assert time.monotonic() - started < 120  # nothing is as large as a file only claims


def test_a_model_of_too_many_weights_is_refused(monkeypatch):
    monkeypatch.setattr("textodds.interop.from_fasttext.model.MOST_CELLS", 100)
    with pytest.raises(Unsupported, match="58 features with 3 weights each"):
        _converted("model.bin", files.whole()[0])


def test_the_command_writes_a_model_that_answers(capsys):
    Path("mail.bin").write_bytes(files.whole()[0])
    assert main(["from-fasttext", "mail.bin", "-o", "mail.textodds"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wrote mail.textodds: 3 classes, 58 features, ")
    assert main(["predict", "mail.textodds", "--say", "free phone", "--proba"]) == 0
    assert len(capsys.readouterr().out.split()) == 6
    assert main(["explain", "mail.textodds", "--say", "free phone"]) == 0
    assert "</s>" in capsys.readouterr().out
    assert main(["from-fasttext", "mail.bin", "-o", "again.textodds", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["classes"] == {"ham": 7.0, "news": 7.0, "spam": 7.0}
    assert main(["learn", "mail.textodds", "--say", "free phone", "--label", "spam"]) == 2
    assert "comes from fastText" in capsys.readouterr().err


def test_the_command_takes_one_label_of_several(capsys):
    Path("mail.bin").write_bytes(files.whole(loss="ova")[0])
    assert main(["from-fasttext", "mail.bin", "-o", "mail.textodds", "--one-label", "--quiet"]) == 0
    assert main(["predict", "mail.textodds", "--say", "free phone"]) == 0
    assert capsys.readouterr().out.split()[0] in ("ham", "news", "spam")
    Path("mail.bin").write_bytes(files.whole()[0])
    assert main(["from-fasttext", "mail.bin", "-o", "mail.textodds", "--one-label"]) == 2
    assert "one label anyway" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(capsys):
    assert main(["from-fasttext", "none.bin", "-o", "mail.textodds"]) == 2
    assert capsys.readouterr().err == (
        "error: no fastText model at `none.bin`\n\nhint: give the .bin or .ftz file that fastText saved\n"
    )
