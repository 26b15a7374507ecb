"""Decisions: least expected loss, abstention, thresholds, and what they cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textodds.errors import InputError, LengthMismatch, NoData, Unsupported
from textodds.judge.decisions import ABSTAIN, DecisionCosts, Decisions, Losses, Rule

TWO = ("ham", "spam")
costs = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 20.0])


def two(p):
    """Log-posteriors of ham and spam, from those of spam."""
    p = np.asarray(p, dtype=float)
    return np.log(np.column_stack([1 - p, p]))


def test_no_action_has_a_smaller_expected_loss():
    """By enumeration of the answers, and of not answering."""
    random = np.random.default_rng(0)
    classes = tuple("abcd")
    for _ in range(50):
        matrix = random.uniform(0, 5, (4, 4))
        pairs = {(a, b): matrix[i, j] for i, a in enumerate(classes) for j, b in enumerate(classes)}
        p = random.dirichlet(np.ones(4), size=40)
        abstain = random.uniform(0, 3)
        made = Rule(Losses.of(pairs, classes), abstain).decide(np.log(p))
        actions = np.column_stack([p @ matrix, np.full(40, abstain)])
        np.testing.assert_allclose(made.expected_loss, actions.min(axis=1), rtol=1e-12)
        expected = actions.argmin(axis=1)
        np.testing.assert_array_equal(made.action, np.where(expected == 4, ABSTAIN, expected))


def test_without_losses_it_is_the_most_probable_class():
    log_p = np.log(np.random.default_rng(1).dirichlet(np.ones(3), size=300))
    made = Rule(Losses.zero_one(tuple("abc"))).decide(log_p)
    np.testing.assert_array_equal(made.action, log_p.argmax(axis=1))
    np.testing.assert_allclose(made.expected_loss, 1 - np.exp(log_p.max(axis=1)))


def test_ties_go_to_the_more_probable_class():
    """To answer spam for ham is three times as dear, and ham three times as probable: equal in both."""
    rule = Rule(Losses.of({("ham", "spam"): 1, ("spam", "ham"): 3}, TWO))
    assert rule.decide(two([0.25])).action.tolist() == [0]
    free = Rule(Losses.of({("ham", "spam"): 0, ("spam", "ham"): 0}, TWO))
    assert free.decide(two([0.1, 0.9])).action.tolist() == [0, 1]


def test_chow_answers_where_the_most_probable_has_at_least_one_minus_the_cost():
    rule = Rule(Losses.zero_one(TWO), abstain=0.25)
    assert rule.decide(two([0.1, 0.25, 0.26, 0.5, 0.74, 0.75])).action.tolist() == [0, 0, -1, -1, -1, 1]


def test_an_abstention_that_costs_nothing_leaves_only_the_certain():
    rule = Rule(Losses.zero_one(TWO), abstain=0.0)
    assert rule.decide(np.array([[0.0, -1e4], [-0.1, -2.4]])).action.tolist() == [0, -1]


@given(costs, costs, costs, costs, st.none() | costs)
def test_the_threshold_is_where_decisions_change(hh, hs, sh, ss, abstain):
    losses = Losses.of(
        {("ham", "ham"): hh, ("ham", "spam"): hs, ("spam", "ham"): sh, ("spam", "spam"): ss}, TWO
    )
    rule = Rule(losses, abstain)
    bands = rule.threshold()
    p = np.linspace(0.0005, 0.9995, 1000)
    action = rule.decide(two(p)).action
    for k, own in ((0, 1 - p), (1, p)):
        band = bands[TWO[k]]
        answered = own[action == k]
        if band is None:
            assert not len(answered)
            continue
        assert ((answered >= band[0] - 1e-9) & (answered <= band[1] + 1e-9)).all()
        within = (own > band[0] + 1e-9) & (own < band[1] - 1e-9)
        other = bands[TWO[1 - k]]
        alone = within if other is None else within & ~((1 - own >= other[0]) & (1 - own <= other[1]))
        assert (action[alone] == k).all()


def test_the_threshold_is_told_in_words():
    assert Rule(Losses.of_text("ham->spam: 20", TWO)).told() == (
        "answers ham from p(ham) = 0.04762, spam from p(spam) = 0.9524"
    )
    assert Rule(Losses.zero_one(TWO), 0.1).told() == (
        "answers ham from p(ham) = 0.9, spam from p(spam) = 0.9, and nothing in between"
    )
    assert Rule(Losses.zero_one(TWO), 0.7).told() == "answers ham from p(ham) = 0.5, spam from p(spam) = 0.5"
    assert Rule(Losses.of_text("ham->spam: 2, spam->spam: 1, spam->ham: 0", TWO)).told() == (
        "answers ham from p(ham) = 0, never spam"
    )


def test_three_classes_have_no_threshold():
    with pytest.raises(Unsupported, match="two classes"):
        Rule(Losses.zero_one(tuple("abc"))).threshold()


@pytest.mark.parametrize("abstain", [-1, np.nan, np.inf])
def test_a_cost_of_not_answering_is_a_cost(abstain):
    with pytest.raises(InputError, match="the cost of not answering is"):
        Rule(Losses.zero_one(TWO), abstain)


def test_the_mean_loss_is_that_of_a_hand_calculation():
    rule = Rule(Losses.of_text("ham->spam: 20", TWO), abstain=0.5)
    found = rule.expected_loss(Decisions(np.array([0, 1, 1, 0, -1]), np.zeros(5)), np.array([0, 0, 1, 1, 1]))
    assert found.mean == pytest.approx((0 + 20 + 0 + 1 + 0.5) / 5)
    assert found.answered == 0.8
    assert found.n == 5


def test_losses_never_met_widen_the_interval():
    """No ham in a hundred was lost; as many as four in a hundred might be."""
    nothing = Decisions(np.zeros(100, np.int64), np.zeros(100))
    cheap = Rule(Losses.zero_one(TWO)).expected_loss(nothing, np.zeros(100, np.int64))
    dear = Rule(Losses.of_text("ham->spam: 20", TWO)).expected_loss(nothing, np.zeros(100, np.int64))
    assert cheap.mean == dear.mean == 0
    assert cheap.interval == pytest.approx((0, 0.03699), abs=1e-4)
    assert dear.interval[1] == pytest.approx(20 * cheap.interval[1])


@pytest.mark.parametrize("n", [100, 1000])
def test_the_interval_of_the_mean_loss_covers_it(n):
    """At least 95 % of 2,000 samples of three kinds of mistakes, one of them rare and dear."""
    random = np.random.default_rng(n)
    rule = Rule(Losses.of_text("ham->spam: 20, spam->ham: 1", TWO), abstain=0.5)
    kinds = np.array([[0, 0], [0, 1], [1, 0], [1, -1]])  # truth and action
    share = np.array([0.8, 0.01, 0.09, 0.1])
    mean = share @ [0, 20, 1, 0.5]
    covered = 0
    for _ in range(2000):
        drawn = kinds[random.choice(4, size=n, p=share)]
        low, high = rule.expected_loss(Decisions(drawn[:, 1], np.zeros(n)), drawn[:, 0]).interval
        covered += low <= mean <= high
    assert covered / 2000 >= 0.94
    assert covered / 2000 < 1


def test_decisions_and_truths_pair_up():
    rule = Rule(Losses.zero_one(TWO))
    with pytest.raises(LengthMismatch):
        rule.expected_loss(Decisions(np.zeros(2, np.int64), np.zeros(2)), np.zeros(3, np.int64))
    with pytest.raises(NoData):
        rule.expected_loss(Decisions(np.zeros(0, np.int64), np.zeros(0)), np.zeros(0, np.int64))
    with pytest.raises(InputError, match="posteriors have 3 classes, the losses 2"):
        rule.decide(np.log(np.full((1, 3), 1 / 3)))


def test_no_documents_make_no_decisions():
    assert len(Rule(Losses.zero_one(TWO), 0.1).decide(np.zeros((0, 2))).action) == 0


def test_costs_gathered_batch_by_batch_are_those_of_all_at_once():
    rule = Rule(Losses.of_text("ham->spam: 20", TWO), abstain=0.4)
    p = np.random.default_rng(0).dirichlet([1, 1], size=50)
    labels = ["ham" if row[0] > 0.4 else "spam" for row in p]
    costs = DecisionCosts(rule)
    assert costs.mean_loss() is None
    costs(["egg"], np.log([[0.5, 0.5]]))  # not a class of the model
    assert costs.mean_loss() is None
    for part in (slice(20), slice(20, 50)):
        costs(labels[part], np.log(p[part]))
    truth = np.array([TWO.index(label) for label in labels])
    assert costs.mean_loss() == rule.expected_loss(rule.decide(np.log(p)), truth)
