"""The law of documents where words know their neighbours: of unlabelled texts, and of a file of vectors."""

import numpy as np
import pytest
from test_law_of_documents import ASKED, CLASSES, documents

import textodds
from textodds.errors import InputError, Unsupported
from textodds.learn import word_prior
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.learn.word_vectors import Neighbours, factor
from textodds.model.fit import fit_corpus
from textodds.stats.compressed_rows import of_dense
from textodds.stats.corpus import Corpus

LEARNER = SoftmaxLearner(C=2.0, tolerance=1e-9)
UNLABELLED = [text for text, _, _ in documents(700, 1000)]
KINDS = ("unlabelled", "vectors")


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """What `train` is told of words, of both kinds."""
    random = np.random.default_rng(5)
    near = [np.exp(-0.05 * np.abs(i - 30 * np.arange(3))) for i in range(120)]
    lines = [f"w{i} {' '.join(f'{x:.4f}' for x in near[i] + random.normal(0, 0.1, 3))}\n" for i in range(120)]
    path = tmp_path_factory.mktemp("vectors") / "words.vec"
    path.write_text("".join(lines))
    return {"unlabelled": {"unlabelled": UNLABELLED}, "vectors": {"vectors": str(path)}}


def trained(rows, **more):
    texts, labels, weights = (list(column) for column in zip(*rows, strict=True))
    return textodds.train(texts, labels, weights, learner=LEARNER, **more)


def like(model, rows):
    """The model of rows by the recipe of another, trained from nothing."""
    texts, labels, weights = (list(column) for column in zip(*rows, strict=True))
    data = model.read(texts, labels, weights, labelled=True)
    return fit_corpus(Corpus.of(data, model.recipe.settings), model.recipe, {}, threads=1)


def changed(model, rows, sign):
    texts, labels, weights = (list(column) for column in zip(*rows, strict=True))
    (model.learn if sign > 0 else model.forget)(texts, labels, weights)


def assert_same(model, other):
    """The same words, answers and promises, to the last bit."""
    assert model.classes_ == other.classes_
    assert model.class_documents == other.class_documents
    assert model.vocabulary.words() == other.vocabulary.words()
    np.testing.assert_array_equal(model.predict_proba(ASKED), other.predict_proba(ASKED))
    assert (model.held_out is None) == (other.held_out is None)
    if model.held_out is not None:
        for name, array in other.held_out.arrays().items():
            np.testing.assert_array_equal(model.held_out.arrays()[name], array)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_any_way_to_the_same_documents_gives_the_same_model(kind, seed, options):
    random = np.random.default_rng(seed)
    pool = documents(420, seed)
    order = random.permutation(len(pool)).tolist()
    inside, outside = order[:330], order[330:]
    model = trained([pool[i] for i in inside], **options[kind])
    assert model.recipe.neighbours.strength > 0
    for kind_of_change in ("learn", "forget", "merge", "subtract", "learn"):
        sign = 1 if kind_of_change in ("learn", "merge") else -1
        source, target = (outside, inside) if sign > 0 else (inside, outside)
        size = int(random.integers(12, 25))
        some = [source.pop(int(random.integers(len(source)))) for _ in range(size)]
        rows = [pool[i] for i in some]
        if kind_of_change in ("learn", "forget"):
            changed(model, rows, sign)
        else:
            other = like(model, [*rows, *documents(60, seed + 50)])
            more = like(model, documents(60, seed + 50))
            model = model + other - more if sign > 0 else model + more - other
        target.extend(some)
    assert len(inside) >= 300
    assert_same(model, like(model, [pool[i] for i in inside]))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_model_that_training_on_what_is_left_gives(kind, options, monkeypatch):
    """Of the same unlabelled texts or vectors: all but the strength, which is chosen, is the same again."""
    monkeypatch.setattr("textodds.training.neighbours.STRENGTHS", (1.0,))
    rows = documents(340, 7)
    model = trained(rows, **options[kind])
    changed(model, rows[300:], -1)
    whole = trained(rows[:300], **options[kind])
    assert whole.recipe.neighbours.as_dict() == model.recipe.neighbours.as_dict()
    assert_same(model, whole)
    assert_same(model, like(model, rows[:300]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_goes_on_as_if_it_had_not_been(kind, options, tmp_path):
    rows = documents(330, 5)
    model = trained(rows[:320], **options[kind])
    model.save(tmp_path / "model")
    opened = textodds.load(tmp_path / "model", check=True)
    for each in (model, opened):
        changed(each, rows[320:], 1)
        changed(each, rows[10:20], -1)
    assert_same(model, opened)
    opened.save(tmp_path / "again")
    model.save(tmp_path / "other")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_leaves_no_trace_in_the_file(kind, options, tmp_path):
    secret = ("zzqxsecret and zzqxprivate w3", "ash", 1.0)
    rows = [*documents(320, 6), secret, secret]
    model = trained(rows, **options[kind])
    assert "zzqxsecret" in model.vocabulary.words()
    changed(model, rows[-2:], -1)
    model.save(tmp_path / "model")
    assert b"zzqx" not in (tmp_path / "model").read_bytes()
    assert_same(textodds.load(tmp_path / "model"), like(model, rows[:-2]))


def test_updated_vectors_are_those_of_all_texts_where_nothing_is_cut_off():
    """Of texts whose rank is below the number of directions that are kept."""
    random = np.random.default_rng(1)
    first, second = (random.random((n, 9)) * (random.random((n, 9)) < 0.6) for n in (40, 25))
    second = np.hstack([second, random.random((25, 2))])  # words that the first have not
    scaled, _ = factor(of_dense(first))
    places = np.arange(11)
    got = Neighbours.updated(of_dense(second), places, scaled, first.mean(axis=0), 40.0)
    every = of_dense(np.vstack([np.hstack([first, np.zeros((40, 2))]), second]))
    expected = Neighbours.of(every, np.ones(11, bool))
    np.testing.assert_allclose(got.vectors @ got.vectors.T, expected.vectors @ expected.vectors.T, atol=1e-9)
    np.testing.assert_allclose(got.vectors @ got.mean, expected.vectors @ expected.mean, atol=1e-9)
    assert got.spread == pytest.approx(expected.spread)


def test_models_of_other_priors_do_not_merge(options):
    rows = documents(320, 8)
    one, other = (trained(rows[:160], **options[kind]) for kind in KINDS)
    plain = trained(rows[160:], features="characters", max_features=300_000)
    for second in (other, plain):
        with pytest.raises(InputError, match="different settings: neighbours"):
            _ = one + second
    assert set((one + like(one, rows[160:])).classes_) == set(CLASSES)


def test_without_strength_it_is_softmax_of_the_same_words(tmp_path, monkeypatch):
    monkeypatch.setattr("textodds.training.neighbours.STRENGTHS", (0.0,))
    random = np.random.default_rng(3)
    path = tmp_path / "noise.vec"
    path.write_text("".join(f"w{i} {' '.join(map(str, random.normal(0, 1, 30)))}\n" for i in range(90)))
    rows = documents(320, 12)
    model = trained(rows, vectors=str(path), max_features=500)
    assert model.recipe.neighbours.strength == 0
    plain = trained(rows, features="characters", max_features=500)
    np.testing.assert_array_equal(model.predict_proba(ASKED), plain.predict_proba(ASKED))
    model.save(tmp_path / "model")
    assert b"neighbours.steps" in (tmp_path / "model").read_bytes()
    assert len(textodds.load(tmp_path / "model").recipe.neighbours.known.words) == 0


def test_vectors_that_take_too_much_room_are_not_kept(options, monkeypatch, tmp_path):
    monkeypatch.setattr("textodds.training.neighbours.MOST_VECTORS", 100)
    model = trained(documents(320, 9), **options["vectors"])
    assert "word vectors take more than" in model.info["not_kept"]
    model.save(tmp_path / "model")
    for each in (model, textodds.load(tmp_path / "model")):
        with pytest.raises(Unsupported, match="cannot be updated without its documents"):
            each.learn("w1 w2", "ash")


def test_damaged_known_words_are_refused(options):
    model = trained(documents(320, 10), **options["unlabelled"])
    known = model.recipe.neighbours.known
    arrays = known.arrays(model.vocabulary)
    again = word_prior.KnownWords.of_arrays(arrays, model.vocabulary)
    assert again.digest() == known.digest()
    for name, value in [
        ("terms", arrays["terms"][::-1].copy()),
        ("words", arrays["words"] + np.uint32(len(known.terms))),
        ("documents", -arrays["documents"]),
        ("sizes", np.full_like(arrays["sizes"], np.nan)),
        ("means", arrays["means"][:1]),
        ("texts", np.zeros(2)),
        ("steps", arrays["steps"][:-1]),
        ("steps", arrays["steps"].view(np.int8)),
        ("sizes", arrays["sizes"][:-1]),
    ]:
        with pytest.raises(InputError):
            word_prior.KnownWords.of_arrays({**arrays, name: value}, model.vocabulary)
