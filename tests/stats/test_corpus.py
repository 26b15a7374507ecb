"""Kept documents: every term can be made again, and they add and subtract."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textodds import Tally, TextSettings, _kernels
from textodds.data import Batch, read
from textodds.errors import InputError, NotLearned
from textodds.stats import corpus as corpus_module
from textodds.stats.corpus import Corpus, Keeper
from textodds.stats.sample import HashSample
from textodds.text.settings import FEATURES
from unicode_texts import texts

SETTINGS = [
    {},
    {"ngrams": (1, 3), "strip_accents": True},
    {"characters": (1, 3), "ngrams": (1, 2)},
    {"characters": (2, 3), "strip_accents": "ascii"},
    {"unit": "characters", "ngrams": (1, 3)},
    {"unit": "characters-in-words", "ngrams": (1, 4), "normal_form": "NFKC"},
    {"unit": "sklearn", "normal_form": None, "stop_words": "english"},
    {"unit": "whitespace", "ngrams": (2, 2), "lower": False},
    {"unit": r"[a-zé]{2,}".replace("é", ""), "hash_bits": 12},
    {"unit": r"\b[a-z]+\b"},
    {"vocabulary": ["a", "b", "<UNK>"], "count_unknown": True},
    {"fields": ("subject", "body")},
    {"fields": ("subject", "body"), "characters": (1, 2)},
]

rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "a b", "b!", "c", ""]), st.sampled_from("xyz"), st.sampled_from([1.0, 0.5, 0.0])
    ),
    max_size=12,
)


def batch(some):
    labels = [label for _, label, _ in some]
    return Batch(
        [text for text, _, _ in some], labels, np.array([weight for _, _, weight in some], dtype=float)
    )


def listed(corpus):
    labels = [corpus.classes[k] for k in corpus.codes]
    return sorted(zip(corpus.texts(), labels, corpus.weights.tolist(), strict=True))


@pytest.mark.parametrize("choices", SETTINGS, ids=str)
@given(some=st.lists(texts, min_size=1, max_size=4))
def test_kept_texts_have_the_terms_of_the_texts_as_they_came(choices, some):
    chosen = TextSettings(**choices)
    corpus = Corpus.of([Batch(some, ["a"] * len(some), None)], chosen)
    again = Corpus.of_arrays(corpus.arrays(), corpus.classes, chosen)
    order = np.argsort(_kernels.text_hashes(some), kind="stable")
    expected = chosen.analyser.terms([some[at] for at in order.tolist()])
    assert corpus.reread.analyser.terms(corpus.texts()) == expected
    assert again.reread.analyser.terms(again.texts()) == expected


@pytest.mark.parametrize("choices", SETTINGS, ids=str)
@given(some=st.lists(texts, min_size=1, max_size=3))
@settings(max_examples=8)
def test_kept_texts_have_the_terms_of_all_other_settings_that_they_decide(choices, some):
    corpus = Corpus.of([Batch(some, ["a"] * len(some), None)], TextSettings(**choices)).compact()
    order = np.argsort(_kernels.text_hashes(some), kind="stable")
    decided = 0
    shaping = ("unit", "ngrams", "characters", "stop_words")
    rest = {name: value for name, value in choices.items() if name not in shaping}
    for other in (*SETTINGS, {**choices, "ngrams": (1, 2)}, *(rest | shape for shape in FEATURES.values())):
        chosen = TextSettings(**other)
        if corpus.decides(chosen):
            decided += 1
            expected = chosen.analyser.terms([some[at] for at in order.tolist()])
            cut = corpus.cut_by(chosen)
            assert cut.reread.analyser.terms(cut.texts()) == expected
            assert cut.compact().reread.analyser.terms(cut.compact().texts()) == expected
            assert np.array_equal(cut.hashes, corpus.hashes)
    assert decided


def test_words_decide_runs_of_words_and_no_letters():
    words, letters, both = (
        Corpus.of([Batch(["a"], ["a"], None)], TextSettings(**FEATURES[name]))
        for name in ("words", "letters", "characters")
    )
    decided = {
        name: [kept.decides(TextSettings(**shape)) for kept in (words, letters, both)]
        for name, shape in FEATURES.items()
    }
    assert decided == {
        "words": [True, False, True],
        "pairs": [True, False, True],
        "triples": [True, False, True],
        "letters": [False, True, True],
        "characters": [False, False, True],
    }
    assert not words.decides(TextSettings(lower=False))
    assert words.decides(TextSettings(stop_words=["the"]))
    less = Corpus.of([Batch(["a"], ["a"], None)], TextSettings(stop_words=["the"]))
    assert not less.decides(TextSettings())


def test_a_mark_that_composes_only_in_lower_case_is_kept_as_it_was_read():
    text = "J\u030cx ĲΣ İstanbul"  # J with a caron is two characters, and j with one is one
    corpus = Corpus.of([Batch([text], ["a"], None)])
    assert corpus.reread.terms(corpus.texts()[0]) == corpus.settings.terms(text)
    assert corpus.settings.terms(corpus.texts()[0]) != corpus.settings.terms(text)


@given(a=rows, b=rows)
def test_documents_add_and_subtract(a, b):
    both = Corpus.of([batch(a), batch(b)])
    assert listed(Corpus.of([batch(a)]) + Corpus.of([batch(b)])) == listed(both)
    less = both - Corpus.of([batch(b)])
    assert listed(less) == listed(Corpus.of([batch(a)]))
    assert less.classes == tuple(sorted({label for _, label, weight in a if weight}))  # without one, absent
    kept = Corpus.of_arrays(less.arrays(), less.classes, less.settings)
    assert listed(kept) == listed(less)
    assert np.array_equal(kept.hashes, less.hashes)


@settings(max_examples=30)
@given(a=rows, size=st.integers(1, 6))
def test_the_sample_is_that_of_the_stream(a, size):
    sample = HashSample(size)
    sample.offer(batch(a))
    found = Corpus.of([batch(a)]).sample(size)
    raw = {corpus_text(example.text): example.text for example in sample.examples()}
    assert [(*example[1:],) for example in found] == [(*example[1:],) for example in sample.examples()]
    assert [example.text for example in found] == [corpus_text(example.text) for example in sample.examples()]
    assert len(raw) <= size


def corpus_text(text):
    return TextSettings().analyser.canonical([text]).to_list()[0]


def test_what_is_not_there_cannot_be_taken_away():
    corpus = Corpus.of([batch([("a b", "x", 1.0), ("c d", "x", 1.0)])])
    for stranger in [("a c", "x", 1.0), ("a b", "y", 1.0), ("a b", "x", 0.5), ("a b!", "x", 1.0)]:
        with pytest.raises(NotLearned, match="was not learned as"):
            corpus - Corpus.of([batch([stranger])])
    with pytest.raises(NotLearned):
        corpus - Corpus.of([batch([("a b", "x", 1.0)] * 2)])


def test_a_forgotten_document_leaves_no_trace():
    corpus = Corpus.of([batch([("common words", "x", 1.0), ("common secret", "y", 1.0)])])
    arrays = (corpus - Corpus.of([batch([("common secret", "y", 1.0)])])).arrays()
    assert b"secret" not in arrays["arena"].tobytes()
    assert len(arrays["hashes"]) == 1


def test_many_small_changes_and_large_batches_are_the_same_documents(monkeypatch):
    monkeypatch.setattr(corpus_module, "PENDING", 200)
    some = [(f"word{i} of text {i % 7}", "xyz"[i % 3], 1.0) for i in range(300)]
    whole = Corpus.of([batch(some[at : at + 10]) for at in range(0, 300, 10)])
    one_by_one = Corpus.of([batch(some[:1])]).compact()
    for row in some[1:]:
        one_by_one += Corpus.of([batch([row])])
    assert listed(one_by_one) == listed(whole)
    assert len(one_by_one.stores) <= corpus_module.MANY + 1
    for row in some[100:]:
        one_by_one -= Corpus.of([batch([row])])
    assert listed(one_by_one) == listed(Corpus.of([batch(some[:100])]))
    tally = Tally.count(whole.batches(), settings=whole.reread)
    assert tally == Tally.count([batch(some)])
    assert len(whole.stores) > 1  # which are joined as if they had been encoded together
    monkeypatch.undo()
    together = Corpus.of([batch(some)]).arrays()
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(array, together[name], err_msg=name)


@given(st.lists(st.lists(texts, min_size=1, max_size=4), min_size=2, max_size=4), st.sampled_from(SETTINGS))
def test_stores_are_joined_as_if_their_texts_were_encoded_together(parts, options):
    cut = TextSettings(**options)
    stores = [Corpus.of([batch([(text, "x", 1.0) for text in part])], cut).compact() for part in parts]
    joined = sum_of(stores)
    whole = Corpus.of([batch([(text, "x", 1.0) for part in parts for text in part])], cut).arrays()
    assert len(joined.stores) == len(parts)
    for name, array in joined.arrays().items():
        np.testing.assert_array_equal(array, whole[name], err_msg=name)
    first = stores[0].arrays()  # and nothing of the others stays once they are forgotten
    for name, array in (joined - sum_of(stores[1:])).arrays().items():
        np.testing.assert_array_equal(array, first[name], err_msg=name)


def sum_of(stores):
    """Several corpora as one."""
    found = stores[0]
    for each in stores[1:]:
        found = found + each
    return found


def test_what_is_held_as_it_came_is_bounded_by_its_bytes_whatever_it_was_read_from(tmp_path, monkeypatch):
    texts = [f"{'word ' * 200}{i}" for i in range(200)]
    (tmp_path / "long.csv").write_text("text,label\n" + "".join(f"{text},x\n" for text in texts))
    [read_by_kernel] = read(str(tmp_path / "long.csv"))
    arrow = Batch(pa.array(texts), ["x"] * 200, None)
    monkeypatch.setattr(corpus_module, "PENDING", 150_000)
    for each in (read_by_kernel, arrow, Batch(texts, ["x"] * 200, None)):
        keeper = Keeper(TextSettings())
        keeper.keep(each.take(range(100)))
        assert not keeper._stores  # 100 KB
        keeper.keep(each)
        assert not keeper._batches  # and 200 more
        corpus = keeper.corpus()
        assert corpus is not None
        assert len(corpus.texts()) == 300


def test_more_documents_than_may_be_kept_are_not_kept(monkeypatch):
    monkeypatch.setattr(corpus_module, "PENDING", 10)
    keeper = Keeper(TextSettings(), most=100)
    for i in range(50):
        keeper.keep(batch([(f"word{i} other{i}", "x", 1.0)]))
    assert keeper.is_full
    assert keeper.corpus() is None


def test_damaged_arrays_are_refused():
    corpus = Corpus.of([batch([("a b", "x", 1.0), ("c", "y", 0.5)])])
    arrays = corpus.arrays()
    broken = {
        "hashes": arrays["hashes"][:1],
        "class_of": np.array([0, 7], np.uint8),
        "weights": np.array([np.nan, 1.0]),
        "arena": arrays["arena"].astype(np.uint16),
        "lengths": arrays["lengths"] + 1,
        "words": arrays["words"].astype(float),
    }
    for name, array in broken.items():
        with pytest.raises(InputError):
            Corpus.of_arrays({**arrays, name: array}, corpus.classes, corpus.settings)
    with pytest.raises(InputError):
        Corpus.of_arrays({k: v for k, v in arrays.items() if k != "codes"}, corpus.classes, corpus.settings)
    damaged = Corpus.of_arrays({**arrays, "codes": arrays["codes"] | 0x80}, corpus.classes, corpus.settings)
    with pytest.raises(InputError, match="damaged"):
        damaged.texts()


def test_other_settings_are_not_mixed():
    with pytest.raises(InputError, match="tokenised differently"):
        Corpus.of([], TextSettings()) + Corpus.of([], dataclasses.replace(TextSettings(), lower=False))
