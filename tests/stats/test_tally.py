"""Tallies at their limits: long words, long documents, many classes, many weights, little memory."""

import warnings

import numpy as np
import pytest

import twins
from pairs import together
from row_counts import counts_of_rows
from textodds import Tally, TextSettings, _kernels
from textodds.data import Batch
from textodds.errors import InputError, LengthMismatch, NegativeCount, NoData, VocabularyPruned
from textodds.stats.documents import Documents
from textodds.stats.tally import batch_of, default_threads

SPACES = TextSettings(unit="whitespace", lower=False, normal_form=None)


def documents_of(tally, word):
    """Documents of a word by class, (K,)."""
    (v,) = tally.vocabulary.find([word])
    row = np.zeros(len(tally.classes), dtype=np.int64)
    cells = slice(int(tally.starts[v]), int(tally.starts[v + 1]))
    row[tally.class_of[cells]] = tally.documents[cells]
    return row.tolist()


@together
@pytest.mark.parametrize("times", [65_534, 65_535, 65_536, 70_000, 140_000])
def test_a_word_may_occur_more_often_in_a_document_than_sixteen_bits_count(times):
    tally = Tally.of(["a " * times + "b", "a"], ["x", "y"])
    assert tally.table(["a", "b"]).tolist() == [[times, 1], [1, 0]]
    assert documents_of(tally, "a") == [1, 1]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_word_may_be_in_more_documents_than_sixteen_bits_count(threads):
    tally = Tally.of(["a a b"] * 70_000 + ["a"], ["x"] * 70_000 + ["y"], threads=threads)
    assert tally.table(["a", "b"]).tolist() == [[140_000, 1], [70_000, 0]]
    assert documents_of(tally, "a") == [70_000, 1]


@together
@pytest.mark.parametrize("length", [1, 7, 8, 9, 14, 15, 16, 17, 255, 256, 1_000_000])
def test_words_of_any_length_are_counted_and_found(length):
    words = ["x" * length, "x" * (length - 1) + "y", "é" * length]
    tally = Tally.of([" ".join(words), words[0], words[2]], ["a", "b", "b"])
    assert tally.table(words).tolist() == [[1, 1], [1, 0], [1, 1]]
    assert tally.table(["x" * (length + 1)]).tolist() == [[0, 0]]
    assert sorted(tally.vocabulary.words()) == sorted(words)


def test_words_that_differ_in_a_nul_are_different_words():
    tally = Tally.of(["a a\0 a\0\0 \0"], ["x"], settings=SPACES)
    assert sorted(tally.vocabulary.words()) == ["\0", "a", "a\0", "a\0\0"]


def test_a_document_of_ten_megabytes_is_counted():
    words = [f"w{i % 1000}" for i in range(2_000_000)]
    text = " ".join(words)
    assert len(text) > 9_000_000
    tally = Tally.of([text, "é " + text[:1000]], ["x", "y"])
    assert tally.table(["w0", "w999"])[:, 0].tolist() == [2000, 2000]
    assert tally.occurrences.sum() == 2_000_000 + len(text[:1000].split()) + 1


def test_three_thousand_classes_are_counted():
    labels = [f"class {i:04}" for i in range(3000)]
    tally = Tally.of([f"common own{i}" for i in range(3000)], labels)
    assert list(tally.classes) == labels
    assert tally.table(["common"]).tolist() == [[1] * 3000]
    assert tally.table(["own17"])[0].tolist() == [int(i == 17) for i in range(3000)]


def test_labels_may_hold_any_character():
    labels = [
        " ",
        "\0",
        "a\0",
        "a",
        "\n",
        ",",
        '"',
        "é",
        "e\u0301",
        "字",
        "😀",
        "\U0010ffff",
        "\ud7ff",
        "x" * 10_000,
    ]
    tally = Tally.of(["word"] * len(labels), labels)
    assert list(tally.classes) == sorted(labels)
    assert tally.table(["word"]).tolist() == [[1] * len(labels)]


def test_many_small_batches_add_up():
    """More than a million changes of class: what threads note down is added up on the way."""
    words = " ".join(f"w{i}" for i in range(200))
    batch = Batch([words] * 50, [f"c{k}" for k in range(50)], None)
    tally = Tally.count([batch] * 130, threads=1)
    assert set(tally.occurrences.tolist()) == set(tally.documents.tolist()) == {130}
    assert len(tally.occurrences) == 200 * 50


def test_more_than_a_million_different_weights_add_up():
    weights = np.arange(1_100_000) / 2**20
    tally = Tally.of(["a"] * len(weights), ["x"] * len(weights), weights)
    tally += Tally.of(["a b"], ["x"], [0.5])
    total = int((weights * 2**30).sum()) + 2**29
    assert tally.fraction == 30
    assert tally.class_documents.tolist() == [total]
    assert tally.table(["a", "b"]).tolist() == [[total], [2**29]]


def test_whole_weights_before_and_after_a_fraction_count_the_same():
    rows = [Batch(["a b"], ["x"], np.array([weight])) for weight in (3.0, 0.5, 2.0, 0.5)]
    for order in (rows, rows[::-1], [rows[1], rows[0], rows[3], rows[2]]):
        tally = Tally.count(order)
        assert tally.fraction == 0
        assert tally.table(["a"]).tolist() == [[6]]
    assert Tally.count([Batch(["a"], ["x"], None), *rows[:2]]).n_documents == 4.5


@together
@pytest.mark.parametrize(
    ("weight", "units"), [(2**-30, 1), (2**-31, 1), (2**-31.5, 0), (1 / 3, 357913941), (0.1, 107374182)]
)
def test_weights_are_rounded_to_multiples_of_two_to_the_minus_thirty(weight, units):
    tally = Tally.of(["a", "a"], ["x", "y"], [weight, 0.5])
    assert dict(zip(tally.classes, tally.class_documents.tolist(), strict=True)).get("x", 0) == units


def test_a_weight_may_be_as_large_as_two_to_the_thirty_two():
    assert Tally.of(["a a"], ["x"], [2**32]).table(["a"]).tolist() == [[2**33]]


def test_a_count_past_sixty_four_bits_is_an_error():
    half = Tally.of(["a " * 70_000], ["x"], [2**32])
    tally = Tally.of(["b"], ["x"], [0.5])
    with pytest.raises(InputError, match="64 bits"):
        _ = half + tally


@together
@pytest.mark.parametrize("weight", [-1.0, -1e-9, float("nan"), float("inf"), 2.0**33])
def test_weights_that_are_no_weights_are_refused(weight):
    with pytest.raises(InputError, match="weight"):
        Tally.of(["a", "b"], ["x", "y"], [1.0, weight])


def test_lengths_that_differ_name_the_first_row_without_a_partner():
    with pytest.raises(LengthMismatch, match="got 3 documents but 2 labels") as caught:
        Tally.of(["a", "b", "c"], ["x", "y"])
    assert "first unpaired row is 2" in str(caught.value)
    with pytest.raises(LengthMismatch, match="got 1 documents but 2 weights"):
        Tally.of(["a"], ["x"], [1, 2])


def test_texts_without_labels_cannot_be_counted():
    with pytest.raises(NoData, match="no labels"):
        Tally.count([Batch(["a"], None, None)])


def test_subtraction_names_word_and_class():
    tally = Tally.of(["free phone", "free lunch"], ["spam", "ham"])
    with pytest.raises(NegativeCount, match="`lunch` in class `spam`"):
        _ = tally - Tally.of(["lunch"], ["spam"])
    with pytest.raises(NegativeCount, match="documents of class `spam`"):
        _ = tally - Tally.of(["free", ""], ["spam", "spam"])
    with pytest.raises(NegativeCount, match="documents of class `eggs`"):
        _ = tally - Tally.of([""], ["eggs"])


def test_a_failed_subtraction_changes_nothing():
    tally = Tally.of(["free phone"], ["spam"])
    before = tally.fingerprint()
    with pytest.raises(NegativeCount):
        _ = tally - Tally.of(["lunch"], ["spam"])
    assert tally.fingerprint() == before


def test_fingerprints_differ_where_data_differ():
    base = [("a b", "x"), ("c", "y")]
    others = [
        [("a c", "x"), ("c", "y")],
        [("a b", "y"), ("c", "x")],
        [("a b b", "x"), ("c", "y")],
        [("a b", "x"), ("c", "y"), ("", "y")],
        [("a b", "x"), ("c", "z")],
    ]
    prints = {Tally.of(*map(list, zip(*rows, strict=True))).fingerprint() for rows in [base, *others]}
    assert len(prints) == 6


def test_a_tally_equals_only_tallies_and_cannot_be_a_key():
    tally = Tally.of(["a"], ["x"])
    assert tally != "tally"
    assert tally == Tally.of(["a"], ["x"])
    with pytest.raises(TypeError):
        hash(tally)


def test_a_tally_plus_something_else_is_a_type_error():
    with pytest.raises(TypeError):
        _ = Tally.of(["a"], ["x"]) + 1


def test_a_finished_counter_takes_no_more():
    counter = _kernels.Counter(TextSettings().analyser, 1, 1 << 20)
    counter.add(["a"], ["x"])
    assert counter.bytes > 0
    counter.finish()
    with pytest.raises(InputError, match="finished"):
        counter.add(["a"], ["x"])


@pytest.mark.parametrize("threads", [0, -1])
def test_a_number_of_threads_below_one_is_an_input_error(threads):
    with pytest.raises(InputError, match=f"from 1 to 1,024, got {threads}"):
        Tally.of(["a"], ["x"], threads=threads)
    with pytest.raises(InputError, match=f"from 1 to 1,024, got {threads}"):
        Documents.gather([], threads=threads)


def test_threads_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TEXTODDS_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.setenv("TEXTODDS_THREADS", "many")
    with pytest.raises(InputError, match="TEXTODDS_THREADS"):
        default_threads()


@together
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary", "slice"])
def test_arrow_arrays_count_as_lists_do(kind):
    pyarrow = pytest.importorskip("pyarrow")
    texts = ["free phone", "", "é" * 40, "see you at six o'clock sharp"] * 3
    labels = ["spam", "ham", "x" * 13, "ham"] * 3
    expected = Tally.of(texts, labels)

    def arrow(values):
        if kind == "slice":
            return pyarrow.array(["before", *values, "behind"]).slice(1, len(values))
        array = pyarrow.array(values)
        return array.dictionary_encode() if kind == "dictionary" else array.cast(getattr(pyarrow, kind)())

    assert Tally.count([Batch(arrow(texts), arrow(labels), None)]) == expected


# Little memory.


def crowded(weight=None, n_batches=8):
    """Batches in which every document has ten common words and forty of its own."""
    rows = 200
    for b in range(n_batches):
        common = " ".join(f"common{i}" for i in range(10))
        texts = [f"{common} " + " ".join(f"rare{b}x{r}x{i}" for i in range(40)) for r in range(rows)]
        weights = None if weight is None else np.full(rows, weight)
        yield Batch(texts, ["x" if r % 2 else "y" for r in range(rows)], weights)


@together
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [1 << 16, 1 << 20])
def test_little_memory_drops_rare_words_and_keeps_the_common_ones_exactly(memory, threads):
    with pytest.warns(VocabularyPruned, match="dropped"):
        tally = Tally.count(crowded(), memory=memory, threads=threads)
    assert tally.pruned >= 1
    assert len(tally.vocabulary) < 8 * 200 * 40
    assert tally.table([f"common{i}" for i in range(10)]).tolist() == [[800, 800]] * 10
    assert tally.class_documents.tolist() == [800, 800]


@pytest.mark.parametrize("threads", [1, 5])
def test_words_and_counts_stay_within_their_memory(threads):
    """The result does; on the way tables have room for more words, and each thread has one."""
    counter = _kernels.Counter(TextSettings().analyser, threads, 1 << 20)
    for batch in crowded(n_batches=12):
        counter.add(batch.texts, batch.labels)
        assert counter.bytes <= 4 << 20
    raw, dropped, _ = counter.finish()
    assert dropped > 0
    assert Tally._of_raw(raw, 1).nbytes <= 1 << 20


def uneven(n_batches=8):
    """Batches of words that are in one to a hundred documents each, of many classes, some of them late."""
    random = np.random.default_rng(0)
    for b in range(n_batches):
        frequent = random.zipf(1.3, (300, 60)) % 40_000
        texts = [" ".join(f"word{i} longer-than-fifteen-bytes{i % 9000}" for i in row) for row in frequent]
        yield Batch(texts, [f"class {k}" for k in random.integers(0, 5 + b, len(texts))], None)


@pytest.mark.parametrize("memory", [1 << 16, 700_000, 2_500_000])
def test_neither_threads_nor_batches_change_what_is_dropped(memory):
    batches = list(uneven())
    whole = Batch([t for b in batches for t in b.texts], [n for b in batches for n in b.labels], None)
    few = [whole.take(np.arange(i, min(i + 77, len(whole)))) for i in range(0, len(whole), 77)]
    found = []
    for divided, threads in [(batches, 1), (batches, 2), (batches, 3), (batches, 64), ([whole], 2), (few, 5)]:
        with pytest.warns(VocabularyPruned) as said:
            found.append((Tally.count(divided, memory=memory, threads=threads), str(said[0].message)))
    first, said = found[0]
    assert first.pruned >= 1
    assert 500 < len(first.vocabulary) < len(Tally.count(batches).vocabulary)
    for other, also in found[1:]:
        assert other == first
        assert (other.pruned, also) == (first.pruned, said)


@together
@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        (TextSettings(unit="characters", ngrams=(1, 16)), 16),
        (TextSettings(unit="characters-in-words", ngrams=(2, 5)), 4),
        (TextSettings(ngrams=(1, 16)), 16),
        (TextSettings(characters=(1, 8)), 8),
    ],
    ids=str,
)
def test_a_text_of_more_ngrams_than_memory_holds_is_refused_before_it_takes_it(settings, sizes):
    """A million n-grams are allowed whatever the budget."""
    text = "a b " * ((1 << 20) // sizes)
    with pytest.raises(InputError, match=r"document 1 has more than 1048576 .*\n\nhint: .*--memory"):
        Tally.count([batch_of(["short", text], ["x", "y"])], settings=settings, memory=1 << 20)
    assert Tally.count([batch_of([text[: 1 << 14]], ["y"])], settings=settings, memory=1 << 20).pruned == 0


def test_enough_memory_drops_nothing_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tally = Tally.count(crowded())
    assert tally.pruned == 0
    assert len(tally.vocabulary) == 8 * 200 * 40 + 10


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_pruning_is_told_in_documents_whatever_their_weight(weight):
    """No rare word is in more than one document; the bound on what was dropped must be of that order."""
    with pytest.warns(VocabularyPruned):
        tally = Tally.count(crowded(weight), memory=1 << 20, threads=1)
    assert 1 <= tally.pruned <= 8


def test_hashing_needs_no_pruning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tally = Tally.count(crowded(), settings=TextSettings(hash_bits=10), memory=1 << 20)
    assert tally.pruned == 0
    assert tally.occurrences.sum() == 8 * 200 * 50


def test_a_pruned_tally_says_so_after_adding_and_stops_at_zero_when_subtracting():
    with pytest.warns(VocabularyPruned):
        pruned = Tally.count(crowded(), memory=1 << 16, threads=1)
    whole = Tally.of(["new word"], ["x"])
    assert (pruned + whole).pruned == (whole + pruned).pruned == pruned.pruned
    less = pruned - Tally.of(["common0 rare0x0x0 neverseen"], ["y"])
    assert less.table(["common0", "neverseen"]).tolist() == [[800, 799], [0, 0]]


# Rows that are numbers already.


def test_rows_give_the_counts_that_their_texts_give():
    texts, labels, weights = ["a a b", "b c", "", "a"], ["y", "x", "x", "y"], [1.0, 2.0, 0.5, 0.25]
    tally = Tally.of(texts, labels, weights)
    words = tally.vocabulary.words()
    rows = [[text.split().count(word) for word in words] for text in texts]
    got, expected = counts_of_rows(rows, labels, weights), tally.counts()
    for field in ("class_documents", "starts", "class_of", "occurrences", "documents"):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field))
    assert got.classes == expected.classes


def test_sparse_rows_equal_dense_rows():
    from scipy import sparse

    dense = np.random.default_rng(0).poisson(0.5, (30, 12)).astype(float)
    labels = [str(i % 3) for i in range(30)]
    stored_zeros = sparse.csr_array(dense)
    stored_zeros.data[::5] = 0.0
    for rows in (sparse.csr_array(dense), sparse.csc_matrix(dense), sparse.coo_array(dense)):
        np.testing.assert_array_equal(
            counts_of_rows(rows, labels).occurrences, counts_of_rows(dense, labels).occurrences
        )
    with_zeros, without = counts_of_rows(stored_zeros, labels), counts_of_rows(stored_zeros.toarray(), labels)
    np.testing.assert_array_equal(with_zeros.documents, without.documents)
    np.testing.assert_array_equal(with_zeros.class_of, without.class_of)


def test_the_twin_rounds_as_the_tally_does():
    assert twins.exact(2**-31) == twins.exact(2**-30)
    assert twins.exact(2**-32) == 0


def test_a_word_that_is_put_in_is_in_no_more_documents_than_its_class_has():
    counts = Tally.of(["a b", "a", "b"], ["x", "x", "y"]).counts()
    grown = counts.insert(0, np.array([3.0, 0.5]))
    own = slice(int(grown.starts[0]), int(grown.starts[1]))
    assert grown.occurrences[own].tolist() == [3.0, 0.5]
    assert grown.documents[own].tolist() == [2.0, 0.5]
