"""The fewest words that flip the label: against all subsets, of every learner."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_explain_sum import DIAGONAL, MODELS, QUADRATIC, WORDS, answered

import textodds
from pairs import in_turn, together
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.model.explain import flip as flip_module
from textodds.model.explain import unit

said = st.lists(st.sampled_from([*WORDS, "zzz", "Free", "qqq"]), max_size=7).map(" ".join)
EVERY = {**MODELS, "qda": QUADRATIC, "gaussian": DIAGONAL}
NEAR = 1e-9  # a tie, which rounding decides; impossible words have scores of millions, and that of those


def brute_force(model, text, holder, rivals):
    """The least number of distinct words whose removal puts a rival ahead, and whether any is a near tie."""
    words = list(dict.fromkeys(text.lower().split()))
    near = False
    for n in range(len(words) + 1):
        for some in combinations(words, n):
            rest = " ".join(word for word in text.split() if word.lower() not in some)
            scores = answered(model, rest)
            margin = scores[holder] - max(scores[k] for k in rivals)
            tie = max(NEAR, 8 * np.spacing(np.abs(scores).max()))
            near |= abs(margin) < tie
            if margin < -tie:
                return n, near
    return None, near


@pytest.mark.slow
@in_turn(2)
@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_fewer_words_flip_the_label(name, data):
    model, text = EVERY[name], data.draw(said)
    best = model.classes_.index(model(text).label)
    fewest, near = brute_force(model, text, best, [k for k in range(len(model.classes_)) if k != best])
    if near:
        return
    got = model.explain(text).flip()
    assert (None if got is None else len(got.words)) == fewest
    if got is not None:
        assert got.exact


@pytest.mark.slow
@in_turn(2)
@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_fewer_words_put_a_named_rival_ahead(name, data):
    model, text = EVERY[name], data.draw(said)
    label, rival = data.draw(st.permutations(range(len(model.classes_))))[:2]
    scores = answered(model, text)
    holder, other = (label, rival) if scores[label] > scores[rival] else (rival, label)
    fewest, near = brute_force(model, text, holder, [other])
    if near:
        return
    got = model.explain(text, model.classes_[label], model.classes_[rival]).flip()
    assert (None if got is None else len(got.words)) == fewest


@pytest.mark.slow
@in_turn(2)
@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_is_told_of_the_text_without_the_words_is_what_the_model_says(name, data):
    model, text = EVERY[name], data.draw(said)
    got = model.explain(text).flip()
    if got is None:
        return
    rest = [word for word in text.split() if word.lower() not in got.words]
    assert got.text.split() == rest
    answer = model(got.text)
    assert answer.label == got.label_after != model(text).label
    assert answer.probability == pytest.approx(got.probability_after, rel=1e-9)


def test_a_flip_by_hand():
    model = textodds.train(["a a b", "b c c"], ["x", "y"])
    got = model.explain("a a a b c").flip()
    assert (got.words, got.label_after, got.exact) == (("a",), "y", True)
    assert got.probability_after == pytest.approx(3 / 4)  # c: 1/6 in x, 3/6 in y; b is equal
    assert model.explain("a").flip() is None  # a tie goes to the class that comes first, as it does now


def test_at_a_tie_the_class_that_comes_first_wins_and_so_flips():
    model = textodds.train(["a", "b"], ["x", "y"])
    got = model.explain("b").flip()
    assert (got.words, got.label_after, got.probability_after) == (("b",), "x", 0.5)


def test_words_of_one_bucket_are_still_words():
    model = textodds.train(["a b c", "d e f"], ["x", "y"], hash_bits=1)
    text = "a b c"
    best = model.classes_.index(model(text).label)
    got = model.explain(text).flip()
    fewest, near = brute_force(model, text, best, [1 - best])
    assert near or (None if got is None else len(got.words)) == fewest


def test_where_too_many_sets_would_have_to_be_tried_the_answer_is_a_bound(monkeypatch):
    model = MODELS["softmax bigrams"]
    text = "free phone now claim a free prize at noon"
    exact = model.explain(text).flip()
    assert exact.exact
    assert len(exact.words) > 1
    monkeypatch.setattr(flip_module, "MOST_TEXTS", 12)
    bound = model.explain(text).flip()
    assert not bound.exact
    assert len(bound.words) >= len(exact.words)
    assert model(bound.text).label == bound.label_after != model(text).label


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    beta=st.sampled_from([-1.5, -0.5, -0.1, 0.0, 0.1, 0.5, 1.5]),
    left=st.sampled_from([-0.7, 0.7]),
)
def test_bounds_for_rows_of_length_one_agree_with_all_subsets(seed, n, beta, left):
    rng = np.random.default_rng(seed)
    x, w = rng.uniform(0.1, 1.0, n), np.stack([rng.normal(0.5, 1.0, n), np.zeros(n)], axis=1)
    bias, nothing = np.array([beta, 0.0]), np.array([left, 0.0])

    def margin(kept):
        if not len(kept):  # which has the prior, whatever the bias is
            return left
        return float(x[kept] @ w[kept, 0] / np.sqrt((x[kept] ** 2).sum()) + beta)

    everything = [
        (size, margin(np.setdiff1d(np.arange(n), some)))
        for size in range(1, n + 1)
        for some in combinations(range(n), size)
    ]
    if min(abs(value) for _, value in everything) < NEAR:
        return
    sizes = [size for size, value in everything if value < 0]
    got = unit.fewest(x, w, bias, nothing, 0, np.array([1]))
    assert (None if got is None else len(got[0])) == (min(sizes) if sizes else None)
    if got is not None:
        assert got[1]
        assert margin(np.setdiff1d(np.arange(n), got[0])) < 0


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 9),
    beta=st.sampled_from([-3.0, -0.5, 0.0, 0.5, 3.0]),
    data=st.data(),
)
def test_the_bound_is_below_all_sets_of_its_size_and_trying_finds_the_least(seed, n, beta, data):
    rng = np.random.default_rng(seed)
    q = rng.exponential(1.0, n)
    t = np.sqrt(q) * rng.normal(0.0, 1.0, n)
    m = data.draw(st.integers(1, n - 1))
    every = {
        some: t[list(some)].sum() + beta * np.sqrt(q[list(some)].sum()) for some in combinations(range(n), m)
    }
    least = min(every.values())
    kept, found, below = unit.bounds(t, q, beta, m)
    assert found == pytest.approx(every[tuple(sorted(kept.tolist()))], abs=1e-9)
    assert below <= least + 1e-9
    if beta >= 0:  # nearly exact; for a bias the other way a gap can stay
        assert below >= least - 0.02 * beta - 1e-9
    if abs(least) > NEAR:
        tried = unit.by_trying(t, q, beta, n - m)
        assert (tried is not None) == (least < 0)
        assert tried is None or every[tuple(v for v in range(n) if v not in tried)] < 0


@pytest.mark.parametrize(("holder", "meets"), [(1, True), (0, False)])
def test_equal_scores_go_to_the_class_that_comes_first(holder, meets):
    contributions = np.zeros((1, 2))
    contributions[0, holder] = 1.0
    contest = SimpleNamespace(scores=contributions[0], holder=holder, rivals=np.array([1 - holder]))
    got = flip_module._fewest(contributions, contest)
    assert got == (([0], True) if meets else None)


def test_bounds_prove_what_no_trying_could(monkeypatch):
    """Of 60 words some 20 go: more sets than anyone can try."""
    monkeypatch.setattr(unit, "MOST_SETS", 0)
    rng = np.random.default_rng(1)
    x, w = rng.uniform(0.2, 1.0, 60), np.stack([rng.normal(0.6, 1.0, 60), np.zeros(60)], axis=1)
    for beta in (0.5, -0.5):
        words, exact = unit.fewest(x, w, np.array([beta, 0.0]), np.zeros(2), 0, np.array([1]))
        assert exact
        assert 5 < len(words) < 40


def test_of_many_classes_the_nearest_rival_by_words_is_found():
    """Word by word c05 and c04 share a word that c04 has more of; the ten others have neither."""
    texts = [f"own{k} own{k} shared{k // 2}" + f" shared{k // 2}" * (k % 2 == 0) for k in range(12)]
    model = textodds.train(texts, [f"c{k:02}" for k in range(12)], learner=MultinomialLearner(alpha=0.1))
    got = model.explain("own5 own5 shared2").flip()
    assert (got.words, got.label_after, got.exact) == (("own5",), "c04", True)


@together
@pytest.mark.parametrize(
    ("text", "removed", "rest"),
    [
        ("a b c", {"b"}, "a c"),
        ("a b c", {"b", "c"}, "a"),
        ("a b c", {"a", "b"}, "c"),
        ("a  b\nc", {"a"}, "b\nc"),
        ("a, b! c", {"b"}, "a,  ! c"),
        ("a b a", {"a"}, "b"),
        ("A-b", {"a"}, " -b"),
        ("b", {"b"}, ""),
    ],
)
def test_a_text_without_words_leaves_no_gap_where_they_stood(text, removed, rest):
    model = textodds.train(["a b c", "d"], ["x", "y"])
    assert model.explain(text).reading.without(removed) == rest
