"""Documents gathered by the kernel are those of its Python twin, however cut; kernels refuse nonsense."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import textodds
import twins
from pairs import in_turn, together
from textodds import Tally, TextSettings, _kernels
from textodds.data import Batch
from textodds.errors import BadWeight, InputError, LengthMismatch, NoData
from textodds.stats.documents import Documents
from textodds.stats.tally import batch_of
from textodds.text import Selection, Weighting
from unicode_texts import texts

WORDS = (
    "the of free phone prize don't x 1,000.50 _ ~it ÜBER naïve straße "
    "fifteen_bytes__ sixteen_bytes___ incomprehensibilities Donaudampfschifffahrtsgesellschaft "
    "😀 👍🏽 👨‍👩‍👧 🇩🇪 עברית ש״ס العربية ـ ‏rtl‏ हिन्दी 漢字 สวัสดี nul\0byte \0 <UNK> #7"
).split(" ")
spoken = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
bodies = st.lists(st.one_of(spoken, spoken, texts), min_size=1, max_size=5)
fewer = settings(max_examples=25)
ngrams = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda pair: (pair[0], min(3, sum(pair))))
weightings = st.builds(
    Weighting, st.sampled_from(["count", "log", "binary"]), st.booleans(), st.booleans(), st.booleans()
)
UNITS = ("words", "words", "sklearn", "whitespace", "characters", "characters-in-words")


@st.composite
def text_settings(draw, some):
    """Settings of every kind; stop words and fixed vocabularies have to do with the texts."""
    unit = draw(st.sampled_from(UNITS))
    chosen = {"unit": unit, "ngrams": draw(ngrams)}
    single = sorted({term for text in some for term in TextSettings(unit=unit).terms(text)}) or ["free"]
    if not unit.startswith("characters"):
        chosen["stop_words"] = draw(st.lists(st.sampled_from(single), max_size=3))
    if unit in ("words", "sklearn"):
        chosen["characters"] = draw(st.none() | ngrams)
    kind = draw(st.sampled_from(["named", "named", "hashed", "fixed"]))
    if kind == "hashed":
        chosen["hash_bits"] = draw(st.integers(1, 22))
    elif kind == "fixed":
        own = sorted({term for text in some for term in TextSettings(**chosen).terms(text)}) or ["free"]
        chosen["vocabulary"] = draw(st.lists(st.sampled_from([*own, "absent"]), min_size=1, max_size=9))
        chosen["count_unknown"] = draw(st.booleans())
    return TextSettings(**chosen)


def gathered(some, choices, weights=None, *, cuts=(), threads=1, selection=None):
    """The texts cut into batches at some places."""
    weights = None if weights is None else np.array(weights, dtype=np.float64)
    batches = [
        Batch(some[a:b], ["c"] * (b - a), None if weights is None else weights[a:b])
        for a, b in zip([0, *cuts], [*cuts, len(some)], strict=True)
    ]
    return Documents.gather(batches, settings=choices, selection=selection, threads=threads)


def as_dicts(documents, weighting):
    """The rows as the twin has them."""
    rows, words = documents.rows(weighting), documents.vocabulary.words()
    assert rows.shape == (len(documents), len(words))
    return [
        {words[v]: x for v, x in zip(rows.indices[a:b], rows.data[a:b], strict=True)}
        for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
    ]


def agree(documents, some, choices, weighting, weights=None, min_df=1):
    """Words, document frequencies and rows are those of the twin."""
    expected, frequencies = twins.weighted_rows(
        [choices.terms(text) for text in some],
        weights,
        min_df=min_df,
        blocks=choices.blocks,
        **weighting.as_dict(),
    )
    words = documents.vocabulary.words()
    assert len(words) == len(set(words))
    assert dict(zip(words, documents.documents.tolist(), strict=True)) == frequencies
    rows = as_dicts(documents, weighting)
    assert [row.keys() for row in rows] == [row.keys() for row in expected]
    for row, twin in zip(rows, expected, strict=True):
        np.testing.assert_allclose([row[term] for term in twin], list(twin.values()), rtol=1e-12)


@given(some=bodies, weighting=weightings, min_df=st.integers(1, 3), data=st.data())
def test_rows_and_vocabulary_equal_the_twin(some, weighting, min_df, data):
    choices = data.draw(text_settings(some))
    others = st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=len(some) - 1, max_size=len(some) - 1)
    weights = data.draw(st.none() | others.map(lambda weights: [3.0, *weights]))
    min_df = min_df if weights else min(min_df, len(some))
    documents = gathered(some, choices, weights, selection=Selection(min_df))
    agree(documents, some, choices, weighting, weights, min_df)


BYTES_FOR_THREADS = 1 << 16  # a batch with fewer is gathered on one thread


@pytest.mark.slow
@settings(max_examples=12)
@given(base=bodies, weighting=weightings, data=st.data())
def test_threads_and_batches_do_not_change_a_bit(base, weighting, data):
    choices = data.draw(text_settings(base))
    random = np.random.default_rng(len(base))
    some = [  # words of one's own, so that every thread finds some first, and shared ones
        f"{base[i % len(base)]} own{i} {' '.join(random.choice(WORDS, 60))} own{i // 2}" for i in range(300)
    ]
    assert sum(len(text.encode()) for text in some) > 2 * BYTES_FOR_THREADS
    weights = random.gamma(1.0, 1.0, len(some)) * (random.random(len(some)) < 0.9)
    selection = Selection(min_df=data.draw(st.sampled_from([1, 3])))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(some)), max_size=3)))
    whole = gathered(some, choices, weights, selection=selection)
    expected = whole.rows(weighting)
    for threads in (1, 2, 3):
        parts = gathered(some, choices, weights, cuts=cuts, threads=threads, selection=selection)
        rows = parts.rows(weighting)
        for got, wanted in [
            (parts.vocabulary.keys, whole.vocabulary.keys),
            (parts.vocabulary.arena, whole.vocabulary.arena),
            (parts.documents, whole.documents),
            (rows.indptr, expected.indptr),
            (rows.indices, expected.indices),
            (rows.data, expected.data),
        ]:
            np.testing.assert_array_equal(got, wanted)
    if len(base) == 1:  # the twin is slow
        least = 0 if selection.keeps_all else selection.min_df
        agree(whole, some, choices, weighting, weights.tolist(), least)


@fewer
@given(some=bodies, data=st.data())
def test_the_vocabulary_is_that_of_a_tally(some, data):
    choices = data.draw(text_settings(some))
    others = st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(some) - 1, max_size=len(some) - 1)
    weights = data.draw(st.none() | others.map(lambda weights: [1.0, *weights]))
    documents = Documents.gather([batch_of(some, ["c"] * len(some), weights)], settings=choices)
    tally = Tally.of(some, ["c"] * len(some), weights, settings=choices)
    np.testing.assert_array_equal(documents.vocabulary.keys, tally.vocabulary.keys)
    np.testing.assert_array_equal(documents.vocabulary.arena, tally.vocabulary.arena)


def test_no_document_has_no_word_and_no_row():
    nothing = Documents.gather([batch_of([], [])])
    assert (len(nothing), nothing.vocabulary.words()) == (0, [])
    assert nothing.rows(Weighting()).shape == (0, 0)


def test_training_on_nothing_says_so():
    with pytest.raises(NoData, match="no row to learn from"):
        textodds.train([], [], learner="softmax")


def test_a_word_of_a_light_document_is_in_the_vocabulary_as_it_is_in_a_tally():
    """Nothing is asked of `min_df`, so that a document of weight 1/4 has its words too."""
    light = Documents.gather([batch_of(["rare word", "other"], ["a", "b"], [0.25, 1.0])])
    tally = Tally.of(["rare word", "other"], ["a", "b"], [0.25, 1.0])
    assert light.vocabulary.words() == tally.vocabulary.words()


@fewer
@given(first=bodies, second=bodies, data=st.data())
def test_selecting_again_is_selecting_at_once(first, second, data):
    some = first + second
    choices = data.draw(text_settings(some))
    selections = [Selection(max_features=2), Selection(min_df=2), Selection(max_df=1), Selection(1, 0.99)]
    documents = gathered(some, choices)
    for selection in selections:
        documents.select(selection)
        fresh = gathered(some, choices, selection=selection)
        np.testing.assert_array_equal(documents.vocabulary.keys, fresh.vocabulary.keys)
        assert as_dicts(documents, Weighting()) == as_dicts(fresh, Weighting())


@fewer
@given(some=bodies, data=st.data())
def test_the_most_frequent_terms_are_kept_and_the_alphabet_breaks_ties(some, data):
    choices = data.draw(text_settings(some))
    most = data.draw(st.integers(1, 6))
    counts = {}
    for text in some:
        for term in choices.terms(text):
            counts[term] = counts.get(term, 0) + 1
    expected = sorted(counts, key=lambda term: (-counts[term], term))[:most]
    documents = gathered(some, choices, selection=Selection(max_features=most))
    assert sorted(documents.vocabulary.words()) == sorted(expected)


@fewer
@given(some=bodies, more=bodies, data=st.data())
def test_documents_without_weight_leave_no_trace(some, more, data):
    choices = data.draw(text_settings(some + more))
    selection = data.draw(st.sampled_from([Selection(), Selection(0), Selection(0.0)]))
    alone = gathered(some, choices, selection=selection)
    weights = [1.0] * len(some) + [0.0] * len(more)
    beside = gathered(some + more, choices, weights, selection=selection)
    assert beside.vocabulary.words() == alone.vocabulary.words()
    np.testing.assert_array_equal(beside.documents, alone.documents)
    assert as_dicts(beside, Weighting())[: len(some)] == as_dicts(alone, Weighting())


@fewer
@given(some=bodies, data=st.data())
def test_rows_without_a_weighting_are_counts(some, data):
    choices = data.draw(text_settings(some))
    rows = gathered(some, choices).rows(Weighting("count", idf=False, unit=False))
    assert rows.data.sum() == sum(len(choices.terms(text)) for text in some)


@fewer
@given(some=bodies, data=st.data())
def test_presence_by_class_is_the_weight_of_the_documents_with_each_term(some, data):
    choices = data.draw(text_settings(some))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(some), max_size=len(some)))
    codes = data.draw(st.lists(st.integers(0, 2), min_size=len(some), max_size=len(some)))
    documents = gathered([*some, "one more text"], choices, selection=Selection(max_features=20))
    words = documents.vocabulary.words()
    assume(words)  # without any: see the kernel's own test below
    table = documents.gathered.by_class(np.array([*codes, 0]), np.array([*weights, 1.0]), 3)
    expected = np.zeros((len(words), 3))
    for text, code, weight in zip([*some, "one more text"], [*codes, 0], [*weights, 1.0], strict=True):
        for term in set(choices.terms(text)) & set(words):
            expected[words.index(term), code] += weight
    np.testing.assert_array_equal(table, expected)


AWKWARD = [
    ("nul\0byte nul\0byte \0", {"unit": "whitespace"}, {"nul\0byte": 2, "\0": 1}),
    ("sixteen_bytes___ fifteen_bytes__", {}, {"sixteen_bytes___": 1, "fifteen_bytes__": 1}),
    ("ab " * 70, {}, {"ab": 70}),  # above 64 the logarithm is not in a table
    ("ab cd ab cd", {"ngrams": (2, 2)}, {"ab cd": 2, "cd ab": 1}),
    ("ab the cd", {"ngrams": (2, 2), "stop_words": ["the"]}, {"ab cd": 1}),
    ("the the the", {"ngrams": (1, 3), "stop_words": ["the"]}, {}),
    ("incomprehensibilities überall", {"ngrams": (2, 3)}, {"incomprehensibilities überall": 1}),
    ("x y", {"ngrams": (3, 3)}, {}),
    ("שלום עולם שלום", {"ngrams": (1, 2)}, {"שלום": 2, "עולם": 1, "שלום עולם": 1, "עולם שלום": 1}),
    ("👍🏽 👍🏽", {"unit": "whitespace", "ngrams": (1, 2)}, {"👍🏽": 2, "👍🏽 👍🏽": 1}),
    ("It is", {"characters": (3, 3)}, {"it": 1, "is": 1, "~ it": 1, "~it ": 1, "~ is": 1, "~is ": 1}),
    ("", {}, {}),
]


@together
@pytest.mark.parametrize(("text", "choices", "expected"), AWKWARD)
def test_awkward_texts_have_the_terms_one_would_write_by_hand(text, choices, expected):
    documents = gathered([text, "other words"], TextSettings(**choices))
    (row, _) = as_dicts(documents, Weighting("count", idf=False, unit=False))
    assert row == expected


def test_a_logarithm_beyond_the_table_is_the_logarithm():
    documents = gathered(["ab " * 63, "ab " * 64, "ab " * 1000], TextSettings())
    rows = documents.rows(Weighting("log", idf=False, unit=False))
    np.testing.assert_allclose(rows.data, 1 + np.log([63, 64, 1000]), rtol=1e-15)


def test_document_frequencies_are_weighted():
    documents = Documents.gather([batch_of(["ab cd", "ab", "cd ef"], ["x", "y", "x"], [3.0, 0.5, 0.0])])
    assert dict(zip(documents.vocabulary.words(), documents.documents, strict=True)) == {"ab": 3.5, "cd": 3.0}
    assert documents.n_documents == 3.5
    (idf,) = documents.idf(Weighting())[documents.vocabulary.find(["cd"])]
    assert idf == pytest.approx(1 + np.log(4.5 / 4.0), rel=1e-15)


def test_each_block_has_half_of_the_squared_length():
    choices = TextSettings(characters=(2, 4))
    documents = gathered(["free phone", "see you", "字", ""], choices)
    for row in as_dicts(documents, Weighting()):
        for marked in (False, True):
            block = [x for term, x in row.items() if term.startswith("~") == marked]
            assert sum(x * x for x in block) == pytest.approx(0.5 if block else 0.0, rel=1e-12)


def test_labels_are_coded_in_the_order_of_their_names():
    documents = Documents.gather([batch_of(["a", "b", "c"], ["zeta", "alpha", "zeta"])])
    assert documents.classes == ("alpha", "zeta")
    assert documents.codes.tolist() == [1, 0, 1]


def test_terms_stand_in_the_order_in_which_a_document_brings_them():
    documents = Documents.gather([batch_of(["one two one", "two three"], ["x", "x"])])
    words, rows = documents.vocabulary.words(), documents.rows(Weighting())
    assert [words[v] for v in rows.indices] == ["one", "two", "two", "three"]


@together
@pytest.mark.parametrize(
    "work",
    [
        lambda rows: rows.sum(axis=0),
        lambda rows: rows.sum(),
        lambda rows: rows.T.tocsr().toarray(),
        lambda rows: rows[np.array([2, 0])].toarray(),
        lambda rows: rows @ np.arange(rows.shape[1]),
        lambda rows: sparse.vstack([rows, rows]).toarray(),
        lambda rows: sparse.linalg.norm(rows),
        lambda rows: (rows != 0).toarray(),
        lambda rows: rows.sorted_indices().toarray(),
        lambda rows: (rows * 2.0 + rows).toarray(),
    ],
    ids="columns sum transpose some product stack norm compare sort arithmetic".split(),
)
def test_scipy_can_work_with_the_rows(work):
    some = ["zeta alpha mu beta omega nu", "alpha zeta", "beta nu xi alpha"]
    rows = gathered(some, TextSettings()).rows(Weighting()).scipy()
    assert np.any(np.diff(rows.indices[: rows.indptr[1]]) < 0)  # not sorted: the harder case
    np.testing.assert_allclose(work(rows), work(sparse.csr_array(rows.toarray())), rtol=1e-12)


def test_texts_without_labels_or_with_others_too_many_are_refused():
    with pytest.raises(NoData, match="no labels"):
        Documents.gather([Batch(["a"], None, None)])
    with pytest.raises(LengthMismatch, match="got 2 documents but 1 labels"):
        Documents.gather([batch_of(["a", "b"], ["x"])])
    with pytest.raises(LengthMismatch, match="got 1 documents but 2 weights"):
        Documents.gather([batch_of(["a"], ["x"], [1.0, 2.0])])


@together
@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), 2.0**33])
def test_a_weight_that_is_none_is_refused(bad):
    with pytest.raises(BadWeight, match="from 0 to 2\\^32"):
        Documents.gather([batch_of(["a", "b"], ["x", "y"], [1.0, bad])])


# The kernels themselves: whatever they are handed they refuse or do, and never crash.


def kernel(choices=None):
    """Three documents of three terms, gathered."""
    gatherer = _kernels.Gatherer((choices or TextSettings()).analyser, 1)
    gatherer.add(["ab cd", "cd ef", "ab"])
    return gatherer.finish()


@pytest.mark.parametrize("length", [0, 2, 4])
def test_a_selection_of_another_length_is_refused(length):
    with pytest.raises(InputError, match="another length than the vocabulary"):
        kernel().select(np.ones(length, dtype=bool))


@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_scale_of_another_length_is_refused(length):
    documents = kernel()
    documents.select(np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="not one scale for each term"):
        documents.rows("log", np.ones(length), True, 1)


def test_rows_before_a_selection_are_refused():
    with pytest.raises(InputError, match="no terms were selected yet"):
        kernel().rows("log", np.ones(0), True, 1)
    with pytest.raises(InputError):
        kernel().rows("log", np.ones(3), True, 1)


def test_an_unknown_frequency_is_refused():
    documents = kernel()
    documents.select(np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="unknown term frequency `logs`"):
        documents.rows("logs", np.ones(3), True, 1)


@pytest.mark.parametrize("total", ["documents", "occurrences"])
def test_weights_of_another_number_than_documents_are_refused(total):
    with pytest.raises(InputError, match="not one weight for each document"):
        getattr(kernel(), total)(np.ones(2))


@together
@pytest.mark.parametrize(
    ("codes", "weights", "classes"),
    [([0, 1], 3, 2), ([0, 1, 2], 3, 2), ([0, -1, 1], 3, 2), ([0, 1, 0], 2, 2), ([0, 0, 0], 3, 0)],
    ids=["codes too few", "code too high", "code negative", "weights too few", "no class"],
)
def test_presence_by_class_refuses_arrays_of_wrong_sizes(codes, weights, classes):
    documents = kernel()
    documents.select(np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="not one class and weight for each document"):
        documents.by_class(np.array(codes), np.ones(weights), classes)


def test_presence_by_class_before_a_selection_is_refused():
    with pytest.raises(InputError):
        kernel().by_class(np.zeros(3, np.int64), np.ones(3), 1)


def test_presence_by_class_of_documents_without_a_term_is_empty():
    documents = gathered(["", "."], TextSettings())
    assert documents.gathered.by_class(np.array([0, 1]), np.ones(2), 2).shape == (0, 2)


def test_what_was_gathered_is_not_gathered_twice():
    gatherer = _kernels.Gatherer(TextSettings().analyser, 1)
    gatherer.add(["ab"])
    gatherer.finish()
    for again in (gatherer.finish, gatherer.vocabulary, lambda: gatherer.add(["cd"])):
        with pytest.raises(InputError, match="gathered already"):
            again()


def test_rows_taken_from_a_gatherer_on_several_threads_are_all_there_or_refused():
    some = [f"word{i} " * 100 for i in range(200)]
    gatherer = _kernels.Gatherer(TextSettings().analyser, 2)
    gatherer.add(some)
    try:
        starts, _, _ = gatherer.take_rows("log", True, 1)
    except InputError:
        return
    assert len(starts) == len(some) + 1


def test_rows_of_buckets_need_a_hash():
    with pytest.raises(InputError, match="not hashed"):
        _kernels.bucket_rows(TextSettings().analyser, ["ab"], "log", True)


STARTS, FEATURES = np.array([0, 2, 3, 3]), np.array([0, 1, 2], np.int32)
VALUES = np.array([1.0, 2.0, 3.0])


MALFORMED = {
    name: (np.array(starts, dtype=np.int64), FEATURES, VALUES)
    for name, starts in {
        "no start": [],
        "one row too few": [0, 2, 3],
        "one row too many": [0, 2, 3, 3, 3],
        "begins late": [1, 2, 3, 3],
        "falls": [0, 3, 2, 3],
        "ends early": [0, 2, 2, 2],
        "ends late": [0, 2, 3, 4],
        "negative": [0, -1, 3, 3],
        "huge": [0, 2**62, 2**62, 3],
    }.items()
} | {
    "feature too high": (STARTS, np.array([0, 3, 2], np.int32), VALUES),
    "feature negative": (STARTS, np.array([0, -1, 2], np.int32), VALUES),
    "feature huge": (STARTS, np.array([0, 2**31 - 1, 2], np.int32), VALUES),
    "a feature without a value": (STARTS, np.array([0, 1, 2, 0], np.int32), VALUES),
    "a value without a feature": (STARTS, FEATURES, np.ones(4)),
}
NEEDS_CODES = ("one row too few", "one row too many")
"""Rows that are well in themselves, but are not as many as something else."""


def of_dual(m, **changes):
    arguments = {
        "rows": (STARTS, FEATURES, VALUES),
        "codes": np.array([0, 1, 0]),
        "costs": np.ones(3),
        "squares": np.array([5.0, 9.0, 0.0]),
        "bias_square": 0.5,
        "weights": np.zeros(3 * m),
        "bias": np.zeros(m),
        "logs": np.full(3 * m, -np.log(max(m, 2))),
        "gaps": np.zeros(3),
        "order": np.arange(3, dtype=np.uint32),
    } | changes
    return _kernels.dual_epoch(**arguments)


def of_descent(m, **changes):
    arguments = {
        "rows": (STARTS, FEATURES, VALUES),
        "codes": np.array([0, min(1, m - 1), 0]),
        "costs": np.ones(3),
        "weights": np.zeros((3, m), np.float32),
        "history": np.zeros(3, np.float32),
        "bias": np.zeros(m),
        "bias_history": np.zeros(1),
        "rate": 0.5,
    } | changes
    return _kernels.descend_pass(**arguments)


def of_sum(m, **changes):
    arguments = {
        "rows": (STARTS, FEATURES, VALUES),
        "coefficients": np.ones((3, m)),
        "weights": np.zeros((3, m)),
    } | changes
    return _kernels.add_rows(**arguments)


def of_scores(m, **changes):
    arguments = {
        "rows": (STARTS, FEATURES, VALUES),
        "weights": np.zeros((3, m)),
        "bias": np.zeros(m),
    } | changes
    return _kernels.row_scores(**arguments)


KERNELS = {"dual": of_dual, "descent": of_descent, "sum": of_sum, "scores": of_scores}


@together
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("run", KERNELS.values(), ids=KERNELS)
def test_arrays_that_fit_are_taken(run, m):
    run(m)


@together
@in_turn(4)
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("run", KERNELS.values(), ids=KERNELS)
def test_rows_that_do_not_fit_together_are_refused(run, name, m):
    if run is of_scores and name in NEEDS_CODES:
        assert run(m, rows=MALFORMED[name]).shape == (len(MALFORMED[name][0]) - 1, m)
        return
    with pytest.raises(InputError):
        run(m, rows=MALFORMED[name])


@together
@in_turn(2)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("run", KERNELS.values(), ids=KERNELS)
def test_values_that_are_no_numbers_are_refused(run, m, bad):
    with pytest.raises(InputError):
        run(m, rows=(STARTS, FEATURES, np.array([1.0, bad, 3.0])))


@together
@pytest.mark.parametrize(
    "name", [name for name in MALFORMED if name not in NEEDS_CODES and not name.startswith("feature")]
)
def test_squares_of_rows_that_do_not_fit_together_are_refused(name):
    with pytest.raises(InputError):
        _kernels.row_squares(MALFORMED[name])


WRONG_DUAL = {
    "codes too few": {"codes": np.zeros(2, np.int64)},
    "code negative": {"codes": np.array([0, -1, 0])},
    "code too high": {"codes": np.array([0, 3, 0])},
    "costs too few": {"costs": np.ones(2)},
    "squares too many": {"squares": np.ones(4)},
    "weights too few": {"weights": np.zeros(6)},
    "weights of no whole row": {"weights": np.zeros(10)},
    "no weights": {"weights": np.zeros(0)},
    "no bias": {"bias": np.zeros(0)},
    "logs too few": {"logs": np.zeros(8)},
    "gaps too few": {"gaps": np.zeros(2)},
    "order too high": {"order": np.array([0, 3], np.uint32)},
    "order huge": {"order": np.array([2**32 - 1], np.uint32)},
}


@together
@pytest.mark.parametrize("changes", WRONG_DUAL.values(), ids=WRONG_DUAL)
def test_a_dual_epoch_refuses_arrays_of_wrong_sizes(changes):
    with pytest.raises(InputError, match="do not fit together"):
        of_dual(3, **changes)


def test_with_one_column_there_are_two_classes_and_no_third():
    with pytest.raises(InputError, match="do not fit together"):
        of_dual(1, codes=np.array([0, 1, 2]))


BAD_NUMBERS = {
    "cost not a number": {"costs": np.array([1.0, np.nan, 1.0])},
    "cost negative": {"costs": np.array([1.0, -1.0, 1.0])},
    "cost infinite": {"costs": np.array([1.0, np.inf, 1.0])},
}


@together
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("changes", BAD_NUMBERS.values(), ids=BAD_NUMBERS)
def test_a_dual_epoch_refuses_costs_that_are_none(changes, m):
    with pytest.raises(InputError):
        of_dual(m, **changes)


WRONG_DESCENT = {
    "codes too few": {"codes": np.zeros(2, np.int64)},
    "code negative": {"codes": np.array([0, -1, 0])},
    "code too high": {"codes": np.array([0, 3, 0])},
    "costs too many": {"costs": np.ones(4)},
    "a class too few": {"weights": np.zeros((3, 2), np.float32)},
    "a feature too few": {"weights": np.zeros((2, 3), np.float32), "history": np.zeros(2, np.float32)},
    "history too short": {"history": np.zeros(2, np.float32)},
    "no class": {"weights": np.zeros((3, 0), np.float32), "bias": np.zeros(0)},
    "no history of the bias": {"bias_history": np.zeros(0)},
}


@together
@pytest.mark.parametrize("changes", WRONG_DESCENT.values(), ids=WRONG_DESCENT)
def test_a_pass_of_descent_refuses_arrays_of_wrong_sizes(changes):
    with pytest.raises(InputError, match="do not fit together"):
        of_descent(3, **changes)


@together
@pytest.mark.parametrize(
    "changes",
    [
        {"coefficients": np.ones((2, 3))},
        {"coefficients": np.ones((3, 2))},
        {"weights": np.zeros((2, 3))},
        {"coefficients": np.ones((3, 0)), "weights": np.zeros((3, 0))},
    ],
)
def test_a_sum_of_rows_refuses_arrays_of_wrong_sizes(changes):
    with pytest.raises(InputError):
        of_sum(3, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": np.zeros((2, 3))},
        {"bias": np.zeros(2)},
        {"weights": np.zeros((3, 0)), "bias": np.zeros(0)},
    ],
)
def test_scores_refuse_arrays_of_wrong_sizes(changes):
    with pytest.raises(InputError):
        of_scores(3, **changes)


@fewer
@given(seed=st.integers(0, 2**32 - 1))
def test_sums_and_scores_are_products_of_matrices(seed):
    random = np.random.default_rng(seed)
    n, v, m = random.integers(1, 20, 3)
    dense = random.normal(size=(n, v)) * (random.random((n, v)) < 0.4)
    matrix = sparse.csr_array(dense)
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    coefficients = random.normal(size=(n, m)) * (random.random((n, m)) < 0.3)  # few classes go another way
    weights, bias = random.normal(size=(v, m)), random.normal(size=m)
    np.testing.assert_allclose(
        _kernels.row_scores(rows, weights, bias), dense @ weights + bias, rtol=1e-12, atol=1e-12
    )
    expected = weights + dense.T @ coefficients
    _kernels.add_rows(rows, coefficients, weights)
    np.testing.assert_allclose(weights, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(_kernels.row_squares(rows), (dense**2).sum(axis=1), rtol=1e-12, atol=1e-12)
