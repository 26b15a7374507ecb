"""EM on unlabelled texts: against EM written out, and what must hold of every step."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import textodds
from pairs import together
from textodds.errors import InputError, NoData, NotConverged, Unsupported
from textodds.learn import naive_bayes
from textodds.learn.em import SemiSupervisedLearner, fit_rows
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.learn.registry import as_dict, of_dict

CLASSES = ("a", "b", "c")
TEXTS = ["free phone now", "see you at six", "free prize", "lunch at noon"]
LABELS = ["spam", "ham", "spam", "ham"]
UNLABELLED = ["claim a prize", "claim your phone", "noon or six", "are you there", "prize claim claim"]


def train_semisupervised(labelled, unlabelled, learner=None, *, labels=None, weights=None, **options):
    learner = "semisupervised" if learner is None else learner
    return textodds.train(labelled, labels, weights, unlabelled=unlabelled, learner=learner, **options)


def data(seed, n=40, V=12, labelled=9):
    random = np.random.default_rng(seed)
    theta = random.dirichlet(np.ones(V), 3)
    truth = random.integers(0, 3, n)
    rows = np.array([random.multinomial(random.poisson(8), theta[k]) for k in truth], dtype=float)
    codes = np.where(np.arange(n) < labelled, truth, -1)
    codes[:3] = [0, 1, 2]
    return rows, codes


def written_out(learner, rows, codes, weights):
    """EM as in the docstring, with loops: objective of each step and the parameters at the end."""
    rows = (rows > 0).astype(float) if learner.binary else rows
    K, T = 3, learner.temperature
    seen = rows[codes >= 0].sum(axis=0) > 0

    def parameters(n, docs):
        theta = (n + learner.alpha) / (n + learner.alpha).sum(axis=1, keepdims=True)
        pi = np.full(K, 1 / K) if learner.prior == "uniform" else docs / docs.sum()
        return theta, pi

    def posterior(theta, pi, x):
        joint = np.array([np.log(pi[k]) + x @ np.log(theta[k]) for k in range(K)]) / T
        return np.exp(joint - joint.max()) / np.exp(joint - joint.max()).sum(), joint

    labelled = np.array([(rows * weights[:, None])[codes == k].sum(axis=0) for k in range(K)])
    docs = np.array([weights[codes == k].sum() for k in range(K)])
    theta, pi = parameters(labelled[:, seen], docs)
    shares = [posterior(theta, pi, x[seen])[0] for x in rows[codes < 0]]
    objectives = []
    for _ in range(learner.max_iterations):
        n, d = labelled.copy(), docs.copy()
        for r, x, w in zip(shares, rows[codes < 0], weights[codes < 0], strict=True):
            n += learner.weight * w * np.outer(r, x)
            d += learner.weight * w * r
        theta, pi = parameters(n, d)
        value = (labelled * np.log(theta)).sum() + docs @ np.log(pi) + learner.alpha * np.log(theta).sum()
        shares = []
        for x, w in zip(rows[codes < 0], weights[codes < 0], strict=True):
            r, joint = posterior(theta, pi, x)
            shares.append(r)
            value += learner.weight * w * T * (joint.max() + np.log(np.exp(joint - joint.max()).sum()))
        objectives.append(value)
    return objectives, theta, pi


VARIANTS = [
    SemiSupervisedLearner(max_iterations=7, tolerance=0),
    SemiSupervisedLearner(alpha=0.1, weight=0.3, max_iterations=7, tolerance=0),
    SemiSupervisedLearner(temperature=3.0, max_iterations=7, tolerance=0),
    SemiSupervisedLearner(binary=True, prior="uniform", max_iterations=7, tolerance=0),
]


@together
@pytest.mark.filterwarnings("ignore::textodds.errors.NotConverged")
@pytest.mark.parametrize("learner", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_em_written_out(learner, seed):
    rows, codes = data(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes)).astype(float)
    fit = fit_rows(learner, sparse.csr_array(rows), codes, CLASSES, weights)
    objectives, theta, pi = written_out(learner, rows, codes, weights)
    np.testing.assert_allclose(fit.objective, objectives, rtol=1e-12)
    form = naive_bayes.fit(learner, fit.counts)
    np.testing.assert_allclose(np.exp(form.weights.rows(np.arange(12))).T, theta, rtol=1e-10)
    np.testing.assert_allclose(np.exp(form.log_prior), pi, rtol=1e-10)


@given(
    seed=st.integers(0, 10_000),
    alpha=st.sampled_from([0.01, 0.5, 1.0, 5.0]),
    weight=st.sampled_from([0.05, 0.5, 1.0]),
    temperature=st.sampled_from([0.5, 1.0, 4.0]),
    prior=st.sampled_from(["data", "uniform"]),
    binary=st.booleans(),
)
def test_the_objective_never_decreases(seed, alpha, weight, temperature, prior, binary):
    rows, codes = data(seed)
    learner = SemiSupervisedLearner(alpha, weight, prior, binary, temperature, max_iterations=25, tolerance=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        objective = np.array(fit_rows(learner, sparse.csr_array(rows), codes, CLASSES).objective)
    assert (np.diff(objective) >= -1e-12 * np.abs(objective[1:])).all()
    assert objective[-1] > objective[0]


@together
@pytest.mark.parametrize("settings", [{}, {"min_df": 2}, {"ngrams": (1, 2)}, {"hash_bits": 6}], ids=str)
@pytest.mark.parametrize("binary", [False, True])
def test_without_weight_it_is_the_supervised_model_to_the_last_bit(settings, binary):
    texts, labels = TEXTS * 2 + UNLABELLED, LABELS * 2 + ["x", "y", "z", "x", "y"]
    learner = SemiSupervisedLearner(alpha=0.3, weight=0.0, binary=binary)
    ours = train_semisupervised(texts, UNLABELLED, learner, labels=labels, **settings)
    theirs = textodds.train(texts, labels, learner=MultinomialLearner(alpha=0.3, binary=binary), **settings)
    np.testing.assert_array_equal(ours.vocabulary.keys, theirs.vocabulary.keys)
    np.testing.assert_array_equal(ours.linear.log_prior, theirs.linear.log_prior)
    V = np.arange(len(ours.vocabulary))
    np.testing.assert_array_equal(ours.linear.weights.rows(V), theirs.linear.weights.rows(V))
    np.testing.assert_array_equal(ours.score(UNLABELLED)[0], theirs.score(UNLABELLED)[0])


def test_fractional_weights_without_unlabelled_weight_are_those_of_the_supervised_model():
    weights = [0.1, 1.7, 3.0, 0.25]
    ours = train_semisupervised(
        TEXTS, UNLABELLED, SemiSupervisedLearner(1.0, weight=0), labels=LABELS, weights=weights
    )
    theirs = textodds.train(TEXTS, LABELS, weights, learner="multinomial")
    np.testing.assert_array_equal(ours.score(UNLABELLED)[0], theirs.score(UNLABELLED)[0])


def test_unlabelled_texts_that_are_certain_count_as_if_labelled():
    """At a low temperature posteriors are 0 or 1: the model is that of the guessed labels."""
    learner = SemiSupervisedLearner(1.0, temperature=1e-3)
    ours = train_semisupervised(TEXTS, ["free free phone", "see you"], learner, labels=LABELS)
    theirs = textodds.train(
        [*TEXTS, "free free phone", "see you"], [*LABELS, "spam", "ham"], learner="multinomial"
    )
    np.testing.assert_allclose(ours.score(UNLABELLED)[0], theirs.score(UNLABELLED)[0], rtol=1e-12)


def test_the_vocabulary_is_that_of_labelled_and_unlabelled_texts():
    model = train_semisupervised(TEXTS, UNLABELLED, labels=LABELS)
    assert set(model.vocabulary.words()) == set(" ".join(TEXTS + UNLABELLED).split())
    assert model("claim").label == "spam"  # a word of no labelled text
    some = train_semisupervised(
        TEXTS, UNLABELLED, SemiSupervisedLearner(weight=0.01), labels=LABELS, min_df=2
    )
    words = [word for text in TEXTS + UNLABELLED for word in set(text.split())]
    assert set(some.vocabulary.words()) == {word for word in words if words.count(word) > 1}


def test_unlabelled_texts_help_where_the_model_is_right():
    random = np.random.default_rng(0)
    theta = random.dirichlet(np.full(300, 0.3), 3)
    truth = np.append([0, 1, 2], random.integers(0, 3, 1497))
    rows = sparse.csr_array(np.array([random.multinomial(12, theta[k]) for k in truth], dtype=float))
    codes = np.where(np.arange(1500) < 3, truth, -1)
    right = {}
    for weight in (0.0, 1.0):
        learner = SemiSupervisedLearner(alpha=0.1, weight=weight)
        counts = fit_rows(learner, rows, codes, CLASSES).counts
        answers = naive_bayes.fit(learner, counts).log_posterior(rows).argmax(axis=1)
        right[weight] = (answers[3:] == truth[3:]).mean()
    assert right[1.0] > 0.9
    assert right[1.0] > right[0.0] + 0.1


def test_the_order_of_unlabelled_texts_changes_rounding_only():
    one = train_semisupervised(TEXTS, UNLABELLED, labels=LABELS)
    two = train_semisupervised(TEXTS, UNLABELLED[::-1], labels=LABELS)
    np.testing.assert_allclose(one.score(TEXTS)[0], two.score(TEXTS)[0], rtol=1e-9)


def test_the_model_says_what_it_rests_on_and_outlasts_saving(tmp_path):
    learner = SemiSupervisedLearner(alpha=0.5, weight=0.7, temperature=2.0)
    model = train_semisupervised(TEXTS, UNLABELLED, learner, labels=LABELS)
    about = model.info["unlabelled"]
    assert about["documents"] == 5
    assert about["converged"] is True
    assert about["iterations"] == len(about["objective"]) > 1
    assert model.class_documents["spam"] + model.class_documents["ham"] == pytest.approx(4 + 0.7 * 5)
    assert of_dict(as_dict(learner)) == learner
    model.save(tmp_path / "m")
    again = textodds.load(tmp_path / "m")
    assert again.recipe.learner == learner
    np.testing.assert_array_equal(again.score(UNLABELLED)[0], model.score(UNLABELLED)[0])


def test_it_can_neither_learn_nor_forget():
    model = train_semisupervised(TEXTS, UNLABELLED, labels=LABELS)
    for change in (model.learn, model.forget):
        with pytest.raises(Unsupported):
            change("free", "spam")


def test_files_are_read_and_labels_of_unlabelled_ones_are_not_looked_at(tmp_path):
    rows = "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True))
    (tmp_path / "few.csv").write_text("text,label\n" + rows)
    (tmp_path / "many.csv").write_text("text,label\n" + "".join(f"{text},nonsense\n" for text in UNLABELLED))
    read = train_semisupervised(tmp_path / "few.csv", tmp_path / "many.csv")
    given = train_semisupervised(TEXTS, UNLABELLED, labels=LABELS)
    assert read.classes_ == ("ham", "spam")
    np.testing.assert_array_equal(read.score(TEXTS)[0], given.score(TEXTS)[0])


def test_multinomial_with_unlabelled_texts_is_that_of_em_with_its_settings():
    one = train_semisupervised(TEXTS, UNLABELLED, MultinomialLearner(alpha=0.5, binary=True), labels=LABELS)
    assert one.recipe.learner == SemiSupervisedLearner(alpha=0.5, binary=True)
    assert train_semisupervised(TEXTS, UNLABELLED, "multinomial", labels=LABELS).recipe.learner.alpha == 0.01


@together
@pytest.mark.parametrize(
    "given",
    [{"typical": True}, {"stream": True}, {"features": "words"}, {"budget": 1.0}, {"memory": 1 << 20}],
    ids=str,
)
def test_what_has_no_part_in_it_is_refused(given):
    with pytest.raises(InputError, match="cannot be combined with `unlabelled`"):
        train_semisupervised(TEXTS, UNLABELLED, labels=LABELS, **given)


def test_too_few_steps_are_said():
    with pytest.warns(NotConverged, match="EM took 2 steps and had not settled"):
        train_semisupervised(
            TEXTS, UNLABELLED, SemiSupervisedLearner(max_iterations=2, tolerance=0), labels=LABELS
        )


@together
@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"alpha": 0}, "alpha must be one number above 0"),
        ({"alpha": [1.0, 2.0]}, "alpha must be one number above 0"),
        ({"weight": 1.5}, "from 0 to 1, got 1.5"),
        ({"weight": float("nan")}, "from 0 to 1, got nan"),
        ({"temperature": 0}, "temperature must be above 0"),
        ({"max_iterations": 0}, "max_iterations must be a whole number above 0"),
        ({"tolerance": -1}, "tolerance must be zero or more"),
        ({"prior": "often"}, "unknown prior"),
    ],
)
def test_choices_that_cannot_be_are_refused_when_made(choices, problem):
    with pytest.raises(InputError, match=problem):
        SemiSupervisedLearner(**choices)


def test_other_learners_and_policies_are_refused():
    with pytest.raises(InputError, match="bernoulli does not learn from unlabelled texts"):
        train_semisupervised(TEXTS, UNLABELLED, "bernoulli", labels=LABELS)
    with pytest.raises(Unsupported, match="leave no word unknown"):
        train_semisupervised(TEXTS, UNLABELLED, labels=LABELS, unknown="smooth")


def test_labelled_texts_there_must_be():
    with pytest.raises(NoData, match="has no row to learn from"):
        train_semisupervised(TEXTS, UNLABELLED, labels=LABELS, weights=[0, 0, 0, 0])
