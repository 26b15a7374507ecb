"""What a model says is a function of its recipe and its documents, never of the way it got there."""

from dataclasses import replace

import numpy as np
import pytest

import textodds
from textodds.errors import InputError, NegativeCount, NotLearned, Unsupported
from textodds.learn.recipe import spelled

LEARNERS = [
    "multinomial",  # of a smoothing that is chosen
    "multinomial:alpha=0.3:ngrams=1-2:min_df=2",
    "bernoulli",
    "complement",
    "complement:transform",
    "softmax:C=2:tolerance=1e-9:ngrams=1-2",
    "nb-softmax:C=2:tolerance=1e-9:ngrams=1",
    "softmax:C=2:naive_bayes=0.4:tolerance=1e-9:ngrams=1-2",
    "nb-softmax:C=2:naive_bayes=0.4:tolerance=1e-9:ngrams=1",
    "lda",
    "qda:rank=8",
    "gaussian",
]
CLASSES = ("ash", "birch", "cedar")


def documents(n, seed):
    """Texts of three classes that overlap, with labels and weights; some texts come twice."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(90)])
    rows = []
    for _ in range(n):
        k = int(random.choice(3, p=[0.5, 0.3, 0.2]))
        p = np.exp(-0.05 * np.abs(np.arange(90) - 30 * k))
        text = " ".join(random.choice(words, random.integers(2, 14), p=p / p.sum()))
        rows.append((text, CLASSES[k], float(random.choice([1.0, 1.0, 1.0, 0.5, 2.0]))))
    return rows + rows[:5]


ASKED = [text for text, _, _ in documents(60, 99)] + ["", "w1 unheard of"]


def trained(rows, like=None, learner="multinomial", **more):
    """A model of rows, by the recipe of another, or of a learner."""
    texts, labels, weights = (list(column) for column in zip(*rows, strict=True))
    if like is not None:
        recipe = like.recipe
        more |= {
            "settings": recipe.settings,
            "min_df": recipe.selection.min_df,
            "calibrate": recipe.calibrate,
        }
        more |= {} if recipe.weighting is None else {"weighting": recipe.weighting}
        learner = recipe.learner
    return textodds.train(texts, labels, weights, learner=learner, **more)


def changed(model, rows, sign):
    texts, labels, weights = (list(column) for column in zip(*rows, strict=True))
    (model.learn if sign > 0 else model.forget)(texts, labels, weights)


def assert_same(model, other):
    """The same answers, calibrated ones: of counts and discriminants to the last bit."""
    assert model.classes_ == other.classes_
    assert model.class_documents == other.class_documents
    mine, theirs = model.predict_proba(ASKED), other.predict_proba(ASKED)
    if model.recipe.learner.entry.is_penalised:
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-4)
        assert model.predict(ASKED).tolist() == other.predict(ASKED).tolist()
        return
    np.testing.assert_array_equal(mine, theirs)
    assert (model.held_out is None) == (other.held_out is None)
    if model.held_out is not None:
        for name, array in other.held_out.arrays().items():
            np.testing.assert_array_equal(model.held_out.arrays()[name], array)


def run(learner, seed):
    """One sequence of changes, and training on what is left in the end."""
    random = np.random.default_rng(seed)
    pool = documents(400, seed)
    order = random.permutation(len(pool)).tolist()
    inside, outside = order[:310], order[310:]
    model = trained([pool[i] for i in inside], learner=learner)
    for _ in range(4):
        kind = random.choice(["learn", "forget", "merge", "subtract"])
        size = int(random.integers(1, 20) if kind in ("learn", "forget") else random.integers(20, 60))
        source, target = (outside, inside) if kind in ("learn", "merge") else (inside, outside)
        if len(source) <= size or (len(inside) < 302 + size and target is outside):
            continue
        some = [source.pop(int(random.integers(len(source)))) for _ in range(size)]
        rows = [pool[i] for i in some]
        if kind in ("learn", "forget"):
            changed(model, rows, 1 if kind == "learn" else -1)
        else:
            try:
                other = trained(rows, model)
            except InputError:  # too few for a model of their own
                source.extend(some)
                continue
            model = model + other if kind == "merge" else model - other
        target.extend(some)
    assert len(inside) >= 300
    assert_same(model, trained([pool[i] for i in inside], model))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_any_way_to_the_same_documents_gives_the_same_answers(learner, seed):
    run(learner, seed)


@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_hundred_ways_to_the_same_documents_give_the_same_answers(learner):
    for seed in range(100, 114):
        run(learner, seed)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_saved_model_goes_on_as_if_it_had_not_been(learner, tmp_path):
    rows = documents(330, 5)
    model = trained(rows[:320], learner=learner)
    model.save(tmp_path / "model")
    opened = textodds.load(tmp_path / "model")
    for each in (model, opened):
        changed(each, rows[320:], 1)
        changed(each, rows[10:20], -1)
    np.testing.assert_array_equal(model.predict_proba(ASKED), opened.predict_proba(ASKED))
    opened.save(tmp_path / "again")
    model.save(tmp_path / "other")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("learner", LEARNERS)
def test_forgetting_leaves_no_trace_in_the_file(learner, tmp_path):
    rows = [*documents(320, 6), ("zzqxsecret and zzqxprivate w3", "ash", 1.0)]
    before = trained(rows[:-1], learner=learner)
    model = trained(rows[:-1], before)
    changed(model, rows[-1:], 1)
    changed(model, rows[-1:], -1)
    model.save(tmp_path / "model")
    assert b"zzqx" not in (tmp_path / "model").read_bytes()
    assert_same(textodds.load(tmp_path / "model"), before)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_was_never_learned_cannot_be_forgotten(learner, tmp_path):
    """Also where all words and labels were: `a c` after `a b` and `c d`."""
    rows = [*documents(310, 7), ("w1 w2", "ash", 1.0), ("w3 w4", "ash", 1.0)]
    model = trained(rows, learner=learner)
    answers = model.predict_proba(ASKED)
    for stranger in [("w1 w4", "ash", 1.0), ("w1 w2", "birch", 1.0), ("w1 w2", "ash", 0.25)]:
        with pytest.raises(NotLearned, match="was not learned"):
            changed(model, [stranger], -1)
    with pytest.raises(NotLearned):
        changed(model, [rows[-1], rows[-1]], -1)
    np.testing.assert_array_equal(model.predict_proba(ASKED), answers)


def test_without_documents_counts_go_on_and_calibration_is_said_to_be_that_of_before(tmp_path):
    rows = documents(320, 8)
    model = trained(rows[:310], documents=False)
    assert model.corpus is None
    before = model.calibration
    assert model.held_out is not None
    assert "earlier" not in model.info
    changed(model, rows[310:], 1)
    assert model.calibration.slopes == before.slopes
    assert model.held_out is None
    assert model.info["earlier"] is True
    whole = trained(rows, model)
    np.testing.assert_array_equal(model.score(ASKED)[0], whole.score(ASKED)[0])
    with pytest.raises(NegativeCount):
        changed(model, [("unheard of", "ash", 1.0)], -1)
    small = trained(rows, learner="softmax:C=1:ngrams=1", documents=False)
    with pytest.raises(Unsupported, match="without its documents cannot be updated"):
        changed(small, rows[:1], -1)
    whole.save(tmp_path / "small", documents=False)
    assert textodds.load(tmp_path / "small").corpus is None


def test_documents_are_kept_of_models_that_are_merged_if_both_have_them():
    rows = documents(300, 9)
    kept = trained(rows[:200])
    merged = kept + trained(rows[200:], kept, documents=False)
    assert merged.corpus is None
    assert merged.info["earlier"] is True
    np.testing.assert_array_equal(merged.score(ASKED)[0], trained(rows, kept).score(ASKED)[0])


def test_uncalibrated_models_stay_so():
    rows = documents(320, 10)
    model = trained(rows[:200], calibrate=False)
    changed(model, rows[200:], 1)
    assert model.calibration is None
    assert_same(model, trained(rows, model))


def test_calibration_begins_with_enough_documents_and_ends_with_too_few():
    rows = documents(150, 11)
    model = trained(rows[:10])
    assert model.calibration is None
    changed(model, rows[10:80], 1)
    assert model.calibration is not None
    assert model.held_out is None
    assert_same(model, trained(rows[:80], model))
    changed(model, rows[80:], 1)
    assert model.held_out is not None
    assert_same(model, trained(rows, model))
    changed(model, rows[:100], -1)
    assert model.calibration is not None
    assert model.held_out is None
    assert_same(model, trained(rows[100:], model))
    changed(model, rows[100:140], -1)
    assert model.calibration is None
    assert_same(model, trained(rows[140:], model))


def test_typical_texts_follow_the_documents():
    rows = documents(320, 12)
    model = trained(rows[:200], typical=True)
    changed(model, rows[200:], 1)
    expected = trained(rows, model, typical=True).familiarity(ASKED)
    assert [each.p_value for each in model.familiarity(ASKED)] == [each.p_value for each in expected]


def test_a_new_class_may_come_and_go():
    rows = documents(320, 13)
    new = [(f"w{i} elm{i % 7} elm", "elm", 1.0) for i in range(40)]
    for learner in LEARNERS:
        model = trained(rows, learner=learner)
        first = model.predict_proba(ASKED)
        changed(model, new, 1)
        assert_same(model, trained([*rows, *new], model))
        changed(model, new, -1)
        np.testing.assert_allclose(model.predict_proba(ASKED), first, rtol=0, atol=2e-4)


def test_a_chosen_penalty_is_part_of_the_recipe():
    rows = documents(320, 14)
    model = trained(rows[:300], learner="softmax:ngrams=1")
    [given] = spelled("softmax:ngrams=1")
    assert model.recipe.learner == replace(given.learner(), C=model.info["fit"]["C"])
    C = model.recipe.learner.C
    changed(model, rows[300:], 1)
    assert model.recipe.learner.C == model.info["fit"]["C"] == C


@pytest.mark.parametrize("learner", ["multinomial", "softmax:C=2:ngrams=1:tolerance=1e-9", "lda"])
def test_a_prior_that_was_given_stays_when_a_model_learns(learner, tmp_path):
    rows = documents(320, 15)
    prior = {"ash": 0.1, "birch": 0.1, "cedar": 0.8}
    model = trained(rows[:300], learner=learner).with_prior(prior)
    model.save(tmp_path / "model")
    for each in (model, textodds.load(tmp_path / "model")):
        changed(each, rows[300:], 1)
        np.testing.assert_allclose(np.exp(each.form.log_prior), list(prior.values()))
        whole = trained(rows, each).with_prior(prior)
        np.testing.assert_allclose(each.predict_proba(ASKED), whole.predict_proba(ASKED), rtol=0, atol=2e-4)


@pytest.mark.parametrize("learner", ["softmax:C=2:ngrams=1:tolerance=1e-9", "lda:shrinkage=0.5"])
def test_models_under_one_prior_keep_it_together_and_under_two_are_refused(learner):
    rows = documents(360, 15)
    prior = {"ash": 0.1, "birch": 0.1, "cedar": 0.8}
    first, second = (trained(part, learner=learner) for part in (rows[:200], rows[200:320]))
    with pytest.raises(InputError, match=r"different settings: (prior|learner)"):
        _ = first + second.with_prior(prior)
    with pytest.raises(InputError, match=r"different settings: (prior|learner)"):
        _ = first.with_prior(prior) + second
    both = first.with_prior(prior) + second.with_prior(prior)
    for seen in (rows[:320], rows):
        np.testing.assert_allclose(np.exp(both.form.log_prior), list(prior.values()))
        whole = trained(seen, both).with_prior(prior)
        np.testing.assert_allclose(both.predict_proba(ASKED), whole.predict_proba(ASKED), rtol=0, atol=2e-4)
        changed(both, rows[320:], 1)


def test_a_model_that_knew_no_word_learns_its_first_ones():
    texts, labels = ["!", "?"] * 60, ["a", "b"] * 60
    model = textodds.train(texts, labels, learner="softmax:C=1:ngrams=1")
    assert len(model.vocabulary) == 0
    more = ["red apple", "red apple", "blue sky", "blue sky"], ["a", "a", "b", "b"]
    model.learn(*more)
    whole = textodds.train(texts + more[0], labels + more[1], learner="softmax:C=1:ngrams=1")
    np.testing.assert_allclose(model.predict_proba(more[0]), whole.predict_proba(more[0]), rtol=0, atol=1e-3)
    assert model.predict(["red", "blue"]).tolist() == ["a", "b"]
