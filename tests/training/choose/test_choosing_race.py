"""The race: who is tried on what, who is out and why, and what a budget allows."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pairs import together
from textodds.data import Observer
from textodds.learn.registry import name_of
from textodds.learn.softmax.penalty import HeldOutScores
from textodds.training.choose import Choice, Pins, Pool, candidates, race
from textodds.training.choose.race import (
    ENOUGH,
    ENOUGH_FIRST,
    FEWEST,
    FIRST,
    FIRST_SIZE,
    GROWTH,
    HOPELESS,
    LAST,
    LAST_SIZE,
    MOST,
    MOST_COUNTS,
    SLACK,
    SURE,
    _Board,
    _still_in,
    enough,
    sizes,
    sureness,
)
from textodds.training.choose.trial import Trial, Trials

from .made_up import drawn, misleading

pytestmark = pytest.mark.slow

GENEROUS = 600.0


@pytest.fixture(scope="module")
def small(pooled):
    """All candidates on 300 texts."""
    pool, field = pooled(*drawn(300)), candidates(Pins())
    return pool, field, race(pool, field, budget=GENEROUS, threads=1)


@pytest.fixture(scope="module")
def large(pooled):
    """Some candidates on more texts than all are tried on, and what was said while they ran."""
    pool, told = pooled(*drawn(2 * FIRST + 200, doubt=0.5)), []
    field = candidates(Pins(("multinomial", "bernoulli", "softmax", "nb-softmax"), ("words", "letters")))
    observer = Observer()
    observer.candidate = lambda *about: told.append(about)
    return pool, field, race(pool, field, budget=GENEROUS, threads=2, observer=observer), told


def paired(choice, name):
    """The differences of loss between a candidate and the winner."""
    trial = next(trial for trial in choice.trials if trial.candidate.name == name)
    return trial.answers.loss - choice.winner.answers.loss


def test_few_texts_are_one_lap_and_everything_is_tried(small):
    _, field, choice = small
    assert {one.name for one in field} <= {trial.candidate.name for trial in choice.trials}
    assert {trial.n for trial in choice.trials} == {300}
    assert len({trial.candidate.name for trial in choice.trials}) == len(choice.trials)


def test_the_winner_has_the_least_loss_with_its_prior_odds_and_stands_first(small):
    _, _, choice = small
    losses = [trial.log_loss for trial in choice.trials]
    assert choice.winner is choice.trials[0]
    assert losses[1:] == sorted(losses[1:])
    evidence = [300 * trial.log_loss + trial.candidate.prior_odds for trial in choice.trials]
    assert evidence[0] == pytest.approx(min(evidence))
    assert choice.recipe == choice.winner.recipe


def test_the_winner_is_tried_with_its_occurrences_worth_something_else(small):
    _, field, choice = small
    others = {trial.candidate.name for trial in choice.trials} - {one.name for one in field}
    assert others
    assert {name.rpartition(", ")[2] for name in others} == {"binary"}


def test_by_how_much_and_how_sure_are_those_of_a_paired_test(small):
    """The t statistic has the sum over M - 1, this one over M: of hundreds of texts that is the same."""
    _, _, choice = small
    M = len(choice.winner.answers.loss)
    for line in choice.report()["tried"][1:]:
        difference = paired(choice, line["name"])
        assert line["behind"] == pytest.approx(difference.mean(), rel=1e-9)
        assert line["error"] == pytest.approx(difference.std() / np.sqrt(M), rel=1e-9)
        t = stats.ttest_1samp(difference, 0.0).statistic
        assert line["behind"] / line["error"] == pytest.approx(t * np.sqrt(M / (M - 1)), rel=1e-9)
        assert line["sure"] == pytest.approx(stats.norm.cdf(line["behind"] / line["error"]), rel=1e-9)


def trial_of(losses, weights):
    """A trial of two classes that lost so much on each text."""
    p = np.exp(-np.asarray(losses, dtype=np.float64))
    scores = np.log(np.column_stack([p, 1.0 - p]))
    held = HeldOutScores(scores, np.zeros(len(p), dtype=np.int64), np.asarray(weights, dtype=np.float64))
    candidate = candidates(Pins())[0]
    return Trial(candidate, len(p), ("a", "b"), held, candidate.recipe, 1.0, 1.0)


def test_weights_count_in_what_is_behind_as_in_what_is_lost():
    """By hand: (1 · 0.2 + 3 · 0.6) / 4 = 0.5, and its error √((¼ · 0.3)² + (¾ · 0.1)²) = 0.106."""
    one, other = trial_of([0.3, 0.7], [1.0, 3.0]), trial_of([0.1, 0.1], [1.0, 3.0])
    assert one.log_loss == pytest.approx(0.6)
    behind, error = one.answers.behind(other.answers)
    assert behind == pytest.approx(0.5)
    assert error == pytest.approx(np.hypot(0.25 * 0.3, 0.75 * 0.1))


def test_a_text_without_weight_is_as_good_as_absent_and_the_unit_of_weight_does_not_matter():
    a, b, weights = [0.3, 0.7, 0.2], [0.1, 0.5, 0.6], [1.0, 2.0, 0.5]
    expected = trial_of(a, weights).answers.behind(trial_of(b, weights).answers)
    scaled = [10 * weight for weight in weights]
    assert trial_of(a, scaled).answers.behind(trial_of(b, scaled).answers) == pytest.approx(expected)
    padded = [*weights, 0.0]
    one, other = trial_of([*a, 9.0], padded).answers, trial_of([*b, 0.1], padded).answers
    assert one.behind(other) == pytest.approx(expected)


def test_sureness_is_the_normal_distribution_and_half_where_nothing_differs():
    for z in (-3.0, -0.5, 0.0, 1.0, 4.0):
        assert sureness(z * 0.01, 0.01) == pytest.approx(stats.norm.cdf(z))
    assert sureness(0.0, 0.0) == 0.5
    assert sureness(0.1, 0.0) == 1.0


def test_a_report_is_plain_and_says_what_was_chosen_by_what(small):
    _, _, choice = small
    report = choice.report()
    winner = choice.winner
    assert (report["learner"], report["features"]) == (
        name_of(winner.candidate.learner),
        winner.candidate.features,
    )
    assert report["held_out"] == 300
    assert report["texts"] == 300
    assert report["log_loss"] == report["tried"][0]["log_loss"] == winner.log_loss
    assert report["accuracy"] == winner.answers.accuracy
    assert report["budget"] == GENEROUS
    assert choice.seconds > 0
    assert report["no_time"] == []
    assert {type(value) for line in report["tried"] for value in line.values()} <= {str, int, float}


@together
@pytest.mark.parametrize("n", [100, 1999, FIRST + 1, 2 * FIRST, LAST, 100_000])
def test_a_lap_of_a_few_texts_goes_before_one_of_more(n):
    found = sizes(Pool(["x" * 80] * n, [*"ab"] * (n // 2) + ["a"] * (n % 2), np.ones(n), n))
    assert found == ([FIRST, min(n, LAST)] if n >= 2 * FIRST else [n])


@pytest.mark.parametrize(
    ("size", "laps"), [(1000, [1572, 3000]), (3000, [FEWEST, 2097]), (500_000, [FEWEST])]
)
def test_of_long_texts_fewer_are_tried_and_held_out_but_not_too_few(size, laps):
    pool = Pool(["x" * size] * 3000, [*"ab"] * 1500, np.ones(3000), 3000)
    assert sizes(pool) == laps
    assert enough(laps[0], pool) == max(FIRST_SIZE // 5 // size, 1)
    if len(laps) > 1:
        assert enough(laps[1], pool) == max(min(LAST_SIZE // 5 // size, ENOUGH), ENOUGH_FIRST)


def test_the_better_ones_go_on_to_all_texts_and_the_others_are_clearly_behind(large):
    pool, field, choice, _ = large
    trials = Trials(pool, 1)
    first = {one.name: trials.of(one, FIRST, enough(FIRST, pool)) for one in field}
    best = min(first.values(), key=lambda trial: trial.log_loss)
    last = {trial.candidate.name: trial for trial in choice.trials if trial.n == len(pool)}
    slack = SLACK * np.log(len(pool) / FIRST) / np.log(GROWTH)
    went_on = [first[name] for name in last if name in first]
    kinds = {trial.candidate.features for trial in went_on if "softmax" in trial.candidate.name}
    counts = [trial for trial in went_on if "softmax" not in trial.candidate.name]
    assert choice.winner.n == len(pool)
    assert 1 <= len(kinds) <= MOST
    assert len(counts) <= MOST_COUNTS
    for name, trial in first.items():
        behind, error = trial.answers.behind(best.answers)
        clearly = behind > SURE * error and behind > slack * best.log_loss
        if name in last:
            assert not clearly
        else:
            assert choice.fate[name] == "behind"
            of_softmax = "softmax" in trial.candidate.name
            others = [one for one in went_on if ("softmax" in one.candidate.name) == of_softmax]
            is_full = len(kinds) == MOST if of_softmax else len(counts) == MOST_COUNTS
            assert clearly or (is_full and all(one.log_loss <= trial.log_loss for one in others))


def test_behind_by_what_may_be_chance_stays_in_and_behind_for_sure_is_out(pooled):
    """Behind by 0.05, with a standard error of 0.01 and of 0.1, where the next lap has no more texts."""
    counts = [one for one in candidates(Pins()) if not one.learner.entry.needs_documents][:3]
    swing = np.tile([1.0, -1.0], 50)
    losses = [np.full(100, 2.0), 2.05 + 0.1 * swing, 2.05 + 1.0 * swing]
    ran = [
        replace(trial_of(loss, np.ones(100)), candidate=one) for loss, one in zip(losses, counts, strict=True)
    ]
    board = _Board(GENEROUS)
    assert _still_in(board, ran, 100, pooled(*drawn(100))) == [counts[0], counts[2]]
    assert board.fate == {counts[1].name: "behind"}


def test_each_is_told_before_it_runs(large):
    pool, field, choice, told = large
    first = [name for name, n, _, _ in told if n == FIRST]
    assert first == [one.name for one in field if one.name in first]  # the cheap ones first
    assert {name for name, _, _, _ in told} == {trial.candidate.name for trial in choice.trials}
    assert {n for _, n, _, _ in told} == {FIRST, len(pool)}
    assert all(1 <= number <= of for _, _, number, of in told)


def test_one_who_did_not_go_on_has_no_figures_beside_those_who_did(large):
    """Losses on other texts cannot be compared pair by pair."""
    pool, _, choice, _ = large
    for line in choice.report()["tried"][1:]:
        assert ("behind" in line) == (line["texts"] == len(pool))


def test_a_learner_without_hope_is_not_tried_on_more_features(pooled):
    field = candidates(Pins())
    choice = race(pooled(*misleading(400)), field, budget=GENEROUS, threads=1)
    tried = {trial.candidate.name: trial.log_loss for trial in choice.trials}
    assert tried["multinomial, words"] > HOPELESS * tried["nb-softmax, words"]
    assert not {"multinomial, pairs", "multinomial, letters"} & set(tried)
    for at, one in enumerate(field):
        before = [other for other in field[:at] if other.name in tried]
        own = [tried[other.name] for other in before if type(other.learner) is type(one.learner)]
        least = min((tried[other.name] for other in before), default=0.0)
        without_hope = "softmax" not in one.name and bool(own) and min(own) > HOPELESS * least
        assert (one.name not in tried) == without_hope, one.name
        assert not without_hope or choice.fate[one.name] == "behind"
    assert "softmax" in choice.winner.candidate.name


@pytest.mark.parametrize("budget", [0.0, -1.0])
@pytest.mark.parametrize("spent", [0.0, 5.0])
def test_without_a_budget_the_first_candidate_is_taken_and_the_others_had_no_time(small, budget, spent):
    pool, field, _ = small
    choice = race(pool, field, budget=budget, spent=spent, threads=1)
    assert choice.winner.candidate == field[0]
    assert len(choice.trials) == 1
    report = choice.report()
    assert set(report["no_time"]) >= {one.name for one in field[1:]}
    assert choice.seconds >= spent


@pytest.mark.parametrize("budget", [0.05, 0.2, 0.5])
def test_with_a_small_budget_everything_was_tried_or_had_no_time_or_no_hope(small, budget):
    pool, field, _ = small
    choice = race(pool, field, budget=budget, threads=1)
    assert isinstance(choice, Choice)
    tried = {trial.candidate.name for trial in choice.trials}
    assert {one.name for one in field} <= tried | set(choice.fate)
    assert not tried & set(choice.report()["no_time"])  # with one lap
    assert choice.winner is choice.trials[0]
    assert choice.winner.candidate.name not in choice.fate


@pytest.mark.parametrize("budget", [0.2, 1.0])
def test_a_busy_machine_is_slower_and_chooses_the_same(small, budget, monkeypatch):
    pool, field, _ = small
    choice = race(pool, field, budget=budget, threads=2)
    at_once = Trials.of

    def slowed(*about, **more):
        time.sleep(0.05)
        return at_once(*about, **more)

    monkeypatch.setattr(Trials, "of", slowed)
    assert race(pool, field, budget=budget, threads=1).report() == choice.report()


def test_what_the_race_finds_does_not_depend_on_threads(small):
    pool, field, choice = small
    again = race(pool, field, budget=GENEROUS, threads=2)
    assert again.recipe == choice.recipe
    assert [trial.candidate.name for trial in again.trials] == [
        trial.candidate.name for trial in choice.trials
    ]
    for one, other in zip(again.trials, choice.trials, strict=True):
        np.testing.assert_array_equal(one.answers.loss, other.answers.loss)
