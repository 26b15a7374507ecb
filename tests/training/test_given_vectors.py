"""Word vectors of a file: words that are alike have like weights, those of no training text too."""

from pathlib import Path

import numpy as np
import pytest

import textodds
from textodds.cli import main
from textodds.errors import BadFile, InputError, Unsupported
from textodds.text import TextSettings
from textodds.training.given_vectors import GivenVectors

OWN = 40
TOPICS = 3
COMMON = ["of", "the", "a"]


def texts_of(n, seed, size=3, words=OWN):
    """Texts of topics, each with words of its own, of which a text has a few."""
    random = np.random.default_rng(seed)
    codes = np.arange(n) % TOPICS
    texts = [
        " ".join([*(f"t{k}w{i}" for i in random.integers(words, size=size)), *random.choice(COMMON, 3)])
        for k in codes
    ]
    return texts, [f"topic {k}" for k in codes]


def written(path, vector_of, words=2 * OWN):
    """A file of vectors of the words of all topics, half of which no training text has, and common ones."""
    random = np.random.default_rng(9)
    lines = [
        f"{word} " + " ".join(f"{x:.4f}" for x in vector_of(k, random)) + "\n"
        for k in range(TOPICS + 1)
        for word in ([f"T{k}w{i}" for i in range(words)] if k < TOPICS else COMMON)
    ]
    path.write_text("".join(lines))
    return path


def by_topic(k, random):
    return 3 * np.eye(TOPICS + 1, 8)[k] + random.normal(0, 0.5, 8)


def noise(k, random):
    return random.normal(0, 1, 8)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return written(tmp_path_factory.mktemp("vectors") / "words.vec", by_topic)


@pytest.fixture(scope="module")
def model(vectors):
    return textodds.train(*texts_of(150, 1), vectors=vectors)


def test_words_of_no_training_text_have_the_weights_of_their_neighbours(model):
    seen = set(" ".join(texts_of(150, 1)[0]).split())
    for k in range(TOPICS):
        new = [f"t{k}w{i}" for i in range(OWN, 2 * OWN) if f"t{k}w{i}" not in seen]
        assert len(new) == OWN
        assert all(model(word).label == f"topic {k}" and model(word).evidence > 0 for word in new)
    known = model.info["neighbours"]
    assert known["strength"] > 0
    assert known["new"] >= TOPICS * OWN
    assert known["source"].endswith("words.vec")


def test_texts_of_new_words_are_told_apart_where_they_were_not(model):
    random = np.random.default_rng(3)
    codes = np.arange(120) % TOPICS
    texts = [" ".join(f"t{k}w{i}" for i in random.integers(OWN, 2 * OWN, size=2)) for k in codes]
    labels = [f"topic {k}" for k in codes]
    alone = textodds.train(*texts_of(150, 1), learner="softmax", features="words")
    assert model.evaluate(texts, labels).accuracy > 0.95
    assert alone.evaluate(texts, labels).accuracy < 0.5


def test_a_word_like_a_seen_one_has_weights_of_the_same_sign(tmp_path):
    """Of two classes, for every word: the twin that no text has leans as the word itself."""
    random = np.random.default_rng(4)
    signs = random.choice([-1.0, 1.0], 30)
    labels, texts = [], []
    for _ in range(300):
        some = random.choice(30, 4, replace=False)
        labels.append("yes" if signs[some].sum() + 0.1 * random.normal() > 0 else "no")
        texts.append(" ".join(f"word{'abcdefghijklmnopqrstuvwxyzäöüß'[j]}" for j in some))
    lines = []
    for j, sign in enumerate(signs):
        vector = f"{sign:.0f} {random.normal(0, 0.1):.3f}"
        letter = "abcdefghijklmnopqrstuvwxyzäöüß"[j]
        lines.append(f"word{letter} {vector}\ntwin{letter} {vector}\n")
    (tmp_path / "v").write_text("".join(lines), encoding="utf-8")
    model = textodds.train(texts, labels, vectors=tmp_path / "v", features="words")
    assert model.info["neighbours"]["strength"] > 0
    for letter in "abcdefghijklmnopqrstuvwxyzäöüß":
        assert model(f"word{letter}").label == model(f"twin{letter}").label


def test_noise_does_no_harm(tmp_path):
    path = written(tmp_path / "noise.vec", noise)
    train, test = texts_of(300, 1, size=2), texts_of(300, 2, size=2)
    told = textodds.train(*train, vectors=path)
    alone = textodds.train(*train, learner="softmax", features="characters")
    with_noise, without = told.evaluate(*test), alone.evaluate(*test)
    assert with_noise.accuracy >= without.accuracy - 0.02
    assert with_noise.log_loss <= without.log_loss + 0.02


def test_the_same_bits_for_any_threads_and_in_its_file(model, vectors, tmp_path):
    test = texts_of(50, 5)[0] + ["t1w79 t1w78", ""]
    again = textodds.train(*texts_of(150, 1), vectors=str(vectors), threads=2)
    np.testing.assert_array_equal(model.predict_proba(test), again.predict_proba(test))
    model.save(tmp_path / "model.textodds")
    opened = textodds.load(tmp_path / "model.textodds", check=True)
    np.testing.assert_array_equal(model.predict_proba(test), opened.predict_proba(test))
    opened.learn("t1w1", "topic 1")
    assert opened.basis.n_documents == 151
    assert opened.info["neighbours"]["source"] == model.info["neighbours"]["source"]
    with pytest.raises(Unsupported, match="word vectors too, which it does not keep"):
        textodds.train(*texts_of(150, 1), like=opened)


def test_explanations_add_up(model):
    for text in ("t1w79 of the t1w3", "t2w60", "of nothing"):
        why = model.explain(text)
        parts = sum(word.log_odds for word in why.words)
        assert why.log_odds == pytest.approx(why.start + parts + why.remainder)


def test_it_is_calibrated(model):
    assert model.held_out is not None
    assert len(model.held_out) == 150


def test_words_are_cut_as_texts_are_and_new_ones_are_bounded(tmp_path):
    path = tmp_path / "v"
    path.write_text("The 1 2\nthe 3 4\n</s> 5 6\nfree-phone 7 8\nprize 1 1\ncash 2 2\nphone 3 3\n")
    found = GivenVectors.of(str(path), TextSettings(), most=3)
    assert found.words == ["the", "prize", "cash"]
    np.testing.assert_array_equal(found.matrix, [[1, 2], [1, 1], [2, 2]])
    path.write_text("the 3 4\nfree 1 2\nthe 1 2\n")
    with pytest.raises(BadFile, match="line 3: the word `the` for the second time"):
        GivenVectors.of(str(path), TextSettings())


def test_what_cannot_be_is_said(vectors, tmp_path):
    data = texts_of(30, 1)
    for options, problem in [
        ({"learner": "multinomial"}, "multinomial does not learn from word vectors"),
        ({"unlabelled": ["a"]}, "`vectors` cannot be combined with `unlabelled`"),
        ({"stream": True}, "`stream` cannot be combined with `vectors`"),
        ({"hash_bits": 18, "learner": "softmax"}, "hashed words have no vectors"),
        ({"unit": "characters", "ngrams": (1, 3)}, "these features have none"),
        ({"typical": True}, "`typical` cannot be combined with `vectors`"),
    ]:
        with pytest.raises((InputError, Unsupported), match=problem):
            textodds.train(*data, vectors=vectors, **options)
    (tmp_path / "other.vec").write_text("bonjour 1 2\n")
    with pytest.raises(InputError, match="no word of the texts has a vector"):
        textodds.train(*data, vectors=tmp_path / "other.vec")
    with pytest.raises(Unsupported, match="`vectors` is for one label a text"):
        textodds.train(["a b", "c d"], [["x", "y"], ["x"]], vectors=vectors)
    with pytest.raises(InputError, match="one class"):
        textodds.train(["t0w1 of", "t0w2 of"], ["a", "a"], vectors=vectors)
    with pytest.raises(InputError, match="word vectors are for texts"):
        textodds.train(np.ones((4, 2)), ["a", "b"] * 2, vectors=vectors)


def test_the_command(vectors, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{text},{label}\n" for text, label in zip(*texts_of(150, 1), strict=True)]
    Path("data.csv").write_text("text,label\n" + "".join(rows))
    assert main(["train", "data.csv", "--vectors", str(vectors)]) == 0
    err = capsys.readouterr().err
    assert "8 numbers each; a prior of strength" in err
    assert "tried strength 0: held-out log-loss" in err
    assert textodds.load("data.textodds")("t1w79").label == "topic 1"
    assert main(["learn", "data.textodds", "data.csv"]) == 0
    assert main(["forget", "data.textodds", "data.csv"]) == 0
    assert textodds.load("data.textodds")("t1w79").label == "topic 1"
    assert main(["train", "data.csv", "--vectors", str(vectors), "--no-documents"]) == 0
    assert main(["learn", "data.textodds", "data.csv"]) == 2
    assert "cannot be updated without its documents" in capsys.readouterr().err
