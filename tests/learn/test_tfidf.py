"""Weighted rows are those of scikit-learn's `TfidfVectorizer`, and models score them as they were trained."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion

import textodds
from pairs import in_turn, together
from textodds import TextSettings, _kernels
from textodds.data import Batch
from textodds.learn.softmax import regression
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner
from textodds.stats.documents import Documents
from textodds.text import Selection, Weighting

WORDS = [f"word{i}" for i in range(50)] + "é naïve x don't ÉTÉ straße _ 字 हिन्दी 1,000.50 🇩🇪 I'm".split()
WEIGHTINGS = [
    Weighting(*choice)
    for choice in itertools.product(["count", "log", "binary"], *[[True, False]] * 3)
    if choice[1] or choice[2]  # without idf there is nothing to smooth
]
NAMES = ["-".join(str(part) for part in weighting.as_dict().values()) for weighting in WEIGHTINGS]


def corpus(seed, n=150):
    """Texts that repeat their words, some of them empty, and labels."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(len(WORDS), 0.3), 3)
    codes = random.integers(0, 3, n)
    made = [" ".join(random.choice(WORDS, random.integers(0, 30), p=shares[k])) for k in codes]
    return [*made, "", " . ", "word1 " * 500], [*(f"c{k}" for k in codes), "c0", "c1", "c2"]


def of_sklearn(weighting):
    """A weighting as scikit-learn says it."""
    return {
        "sublinear_tf": weighting.frequency == "log",
        "use_idf": weighting.idf,
        "smooth_idf": weighting.smooth,
        "norm": "l2" if weighting.unit else None,
    }


def documents(texts, settings, selection=None):
    """The texts, all of one class."""
    batches = [Batch(texts, ["x"] * len(texts), None)]
    return Documents.gather(batches, settings=settings, selection=selection)


def sound(rows):
    """The same rows with sorted columns, whatever types their indices had."""
    copy = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr), shape=rows.shape)
    copy.sort_indices()
    return copy


def agree(rows, words, expected, column_of, tolerance=1e-12):
    """Rows over `words` are those of scikit-learn, whose columns have another order."""
    assert sorted(words) == sorted(column_of)
    reference = sparse.csr_array(expected)[:, [column_of[word] for word in words]]
    rows = sound(rows)
    assert rows.nnz == reference.nnz
    assert abs(rows - reference).max() <= tolerance * max(1.0, abs(reference).max())


@in_turn(1)
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=NAMES)
def test_rows_are_those_of_tfidf_vectorizer(weighting, ngrams):
    texts, _ = corpus(1)
    ours = documents(texts, TextSettings.sklearn(ngrams=ngrams))
    theirs = TfidfVectorizer(
        ngram_range=ngrams, binary=weighting.frequency == "binary", **of_sklearn(weighting)
    )
    expected = theirs.fit_transform(texts)
    agree(ours.rows(weighting), ours.vocabulary.words(), expected, theirs.vocabulary_)
    if weighting.idf:
        order = [theirs.vocabulary_[word] for word in ours.vocabulary.words()]
        np.testing.assert_allclose(ours.idf(weighting), theirs.idf_[order], rtol=1e-14)


def limits():
    """Selections, and where `max_features` is among them, numbers of words at which no tie is cut."""
    yield from ({"min_df": a, "max_df": b} for a in (1, 2, 7, 0.02, 0.1) for b in (1.0, 0.5, 0.2, 30))
    counts = CountVectorizer().fit_transform(corpus(2)[0]).sum(axis=0).A1
    ordered = np.sort(counts)[::-1]
    clear = [n for n in range(1, len(ordered)) if ordered[n - 1] > ordered[n]]
    yield from ({"max_features": n} for n in (clear[0], clear[len(clear) // 2], clear[-1]))


@together
@pytest.mark.parametrize("limit", list(limits()), ids=str)
def test_selections_are_those_of_tfidf_vectorizer(limit):
    texts, _ = corpus(2)
    ours = documents(texts, TextSettings.sklearn(), Selection(**limit))
    theirs = TfidfVectorizer(sublinear_tf=True, **limit)
    expected = theirs.fit_transform(texts)
    agree(ours.rows(Weighting()), ours.vocabulary.words(), expected, theirs.vocabulary_)


def union(weighting, **limit):
    """scikit-learn's words beside characters."""
    return FeatureUnion(
        [
            ("", TfidfVectorizer(ngram_range=(1, 2), **of_sklearn(weighting), **limit)),
            ("~", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), **of_sklearn(weighting), **limit)),
        ]
    )


def columns_of(feature_union):
    """The column of each of its features, under our name for it."""
    prefixes = {"": "", "~": "~"}
    names = [name.split("__", 1) for name in feature_union.get_feature_names_out()]
    return {prefixes[kind] + name: column for column, (kind, name) in enumerate(names)}


@together
@pytest.mark.parametrize("limit", [{}, {"min_df": 3}, {"max_df": 0.3}], ids=str)
@pytest.mark.parametrize("weighting", [Weighting(), Weighting("count", smooth=False)], ids=["log", "count"])
def test_characters_beside_words_are_a_feature_union_divided_by_the_root_of_two(weighting, limit):
    texts, _ = corpus(3)
    settings = TextSettings.sklearn(ngrams=(1, 2), characters=(2, 4))
    ours = documents(texts, settings, Selection(**limit))
    theirs = union(weighting, **limit)
    expected = theirs.fit_transform(texts) / np.sqrt(2)
    agree(ours.rows(weighting), ours.vocabulary.words(), expected, columns_of(theirs))


def test_without_length_one_characters_beside_words_are_a_feature_union_as_it_is():
    texts, _ = corpus(4)
    settings = TextSettings.sklearn(ngrams=(1, 2), characters=(2, 4))
    weighting = Weighting(unit=False)
    ours, theirs = documents(texts, settings), union(weighting)
    expected = theirs.fit_transform(texts)
    agree(ours.rows(weighting), ours.vocabulary.words(), expected, columns_of(theirs))


CASES = {
    "words": ({}, SoftmaxLearner(C=1.0)),
    "pairs": ({"ngrams": (1, 2)}, SoftmaxLearner(C=50.0)),
    "characters": ({"ngrams": (1, 2), "characters": (2, 4)}, SoftmaxLearner(C=5.0)),
    "hashing": ({"ngrams": (1, 2), "hash_bits": 9}, SoftmaxLearner(C=5.0)),
    "hashed characters": ({"characters": (2, 3), "hash_bits": 8}, SoftmaxLearner(C=5.0)),
    "naive Bayes scaled": ({"ngrams": (1, 2), "characters": (2, 3)}, NBSoftmaxLearner(C=1.0)),
    "naive Bayes centred": ({"ngrams": (1, 2)}, NBSoftmaxLearner(C=0.1, form="centred")),
}


@pytest.fixture
def trained_on(monkeypatch):
    """A function that trains, and gives the model and the rows that the solver saw."""
    seen = []

    def watching(objective, *positional, **named):
        seen.append(objective.rows)
        return solve(objective, *positional, **named)

    solve = regression.solve
    monkeypatch.setattr(regression, "solve", watching)

    def train(texts, labels, **choices):
        seen.clear()
        model = textodds.train(texts, labels, **choices)
        (rows,) = seen
        return model, rows

    return train


@in_turn(2)
@pytest.mark.parametrize("weighting", WEIGHTINGS[::5], ids=NAMES[::5])
@pytest.mark.parametrize("case", CASES)
def test_the_fused_scorer_is_rows_times_weights(case, weighting, trained_on):
    choices, learner = CASES[case]
    texts, labels = corpus(5)
    model, rows = trained_on(
        texts, labels, learner=learner, settings=TextSettings.sklearn(**choices), weighting=weighting
    )
    fused = model.score(texts)[0]
    bias = model.linear.log_prior + model.linear.intercept
    np.testing.assert_allclose(
        model.rows(texts) @ model.linear.weights.dense + bias, fused, rtol=0, atol=1e-10
    )
    order = np.lexsort((labels, _kernels.text_hashes(texts)))  # in which documents are learned
    again, before = sound(model.rows([texts[i] for i in order])), sound(rows)
    np.testing.assert_array_equal(again.indptr, before.indptr)
    np.testing.assert_array_equal(again.indices, before.indices)
    np.testing.assert_allclose(again.data, before.data, rtol=1e-13)


@together
@pytest.mark.parametrize("case", CASES)
def test_new_texts_are_weighed_by_what_was_learned(case):
    """The idf of new texts is that of the training texts; words nobody has seen count for nothing."""
    choices, learner = CASES[case]
    texts, labels = corpus(6)
    new, _ = corpus(7, 40)
    new = [f"{text} neverseen" for text in new]
    settings = TextSettings.sklearn(**choices)
    model = textodds.train(texts, labels, learner=learner, settings=settings)
    words = set(model.vocabulary.words())
    scale = dict(zip(model.vocabulary.words(), model.scale, strict=True))
    for text, row in zip(new, sound(model.rows(new)), strict=True):
        own = [term for term in settings.terms(text) if term in words]
        values = {term: (1 + np.log(own.count(term))) * scale[term] for term in set(own)}
        blocks = [values]
        if settings.blocks == 2:
            blocks = [{t: x for t, x in values.items() if t.startswith("~") == mark} for mark in (0, 1)]
        expected = {}
        for block in blocks:
            length = np.sqrt(sum(x * x for x in block.values()) * len(blocks))
            expected |= {term: x / length if length else 0.0 for term, x in block.items()}
        names = model.vocabulary.words(row.indices)
        assert len(names) == len(set(names))
        assert dict(zip(names, row.data, strict=True)) == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module", params=["reuters_r8", "sms_spam"])
def data(request, real_data):
    """Train and test of a data set."""
    return real_data(request.param)


@pytest.mark.realdata
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_real_texts_have_the_rows_of_tfidf_vectorizer(data, ngrams):
    (texts, _), _ = data
    texts = texts[:: ngrams[1]]  # scikit-learn takes its time over pairs
    ours = documents(texts, TextSettings.sklearn(ngrams=ngrams))
    vectorizer = CountVectorizer(ngram_range=ngrams)
    counts = vectorizer.fit_transform(texts)
    for weighting in (Weighting(), Weighting("count", unit=False), Weighting("binary", smooth=False)):
        seen = counts.sign() if weighting.frequency == "binary" else counts
        expected = TfidfTransformer(**of_sklearn(weighting)).fit_transform(seen)
        agree(ours.rows(weighting), ours.vocabulary.words(), expected, vectorizer.vocabulary_)


@pytest.mark.realdata
def test_real_texts_have_the_words_that_tfidf_vectorizer_selects(data):
    (texts, _), _ = data
    texts = texts[::3]
    totals = np.sort(CountVectorizer().fit_transform(texts).sum(axis=0).A1)[::-1]
    clear = next(n for n in range(500, len(totals)) if totals[n - 1] > totals[n])  # no tie is cut
    ours = documents(texts, TextSettings.sklearn())
    for limit in ({"min_df": 2}, {"min_df": 0.002, "max_df": 0.1}, {"max_features": clear}):
        ours.select(Selection(**limit))
        theirs = TfidfVectorizer(sublinear_tf=True, **limit)
        expected = theirs.fit_transform(texts)
        agree(ours.rows(Weighting()), ours.vocabulary.words(), expected, theirs.vocabulary_)


@pytest.mark.realdata
def test_real_texts_are_scored_as_they_were_trained(data, trained_on):
    texts, labels = (column[::3] for column in data[0])
    new = data[1][0][::3]
    model, rows = trained_on(texts, labels, learner=SoftmaxLearner(C=10.0), characters=(3, 3))
    order = np.lexsort((labels, _kernels.text_hashes(texts)))  # in which documents are learned
    again, before = sound(model.rows([texts[i] for i in order])), sound(rows)
    np.testing.assert_array_equal(again.indices, before.indices)
    np.testing.assert_allclose(again.data, before.data, rtol=1e-13)
    bias = model.linear.log_prior + model.linear.intercept
    np.testing.assert_allclose(
        model.rows(new) @ model.linear.weights.dense + bias, model.score(new)[0], rtol=0, atol=1e-10
    )
