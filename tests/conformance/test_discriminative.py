"""One suite over every discriminative learner and way of making rows. No skips."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import textodds
from textodds.errors import InputError, Unsupported
from textodds.learn.softmax.regression import NBSoftmaxLearner, SoftmaxLearner
from textodds.text import Weighting

TIGHT = 1e-10
LEARNERS = {
    "softmax": SoftmaxLearner(C=1.0, tolerance=TIGHT),
    "softmax-weak": SoftmaxLearner(C=50.0, tolerance=TIGHT),
    "softmax-balanced": SoftmaxLearner(alpha=0.01, class_weight="balanced", tolerance=TIGHT),
    "nb-softmax": NBSoftmaxLearner(C=1.0, tolerance=TIGHT),
    "nb-centred": NBSoftmaxLearner(C=0.5, form="centred", tolerance=TIGHT),
}
CLASSES = (2, 7)
SETTINGS = {
    "words": {"ngrams": (1, 1)},
    "ngrams": {"ngrams": (1, 2)},
    "characters": {"ngrams": (1, 1), "characters": (2, 3)},
    "hashing": {"hash_bits": 9},
    "selection": {"ngrams": (1, 2), "min_df": 3, "max_df": 0.8, "max_features": 60},
    "counts": {"ngrams": (1, 1), "weighting": Weighting("count", idf=False, unit=False)},
    "open": {},
}
CASES = [(learner, classes, settings) for learner in LEARNERS for classes in CLASSES for settings in SETTINGS]
FIXED = [case for case in CASES if case[2] != "open"]
"""Where nothing is said of features they are chosen on documents held out, which others would change."""

every_case = pytest.mark.parametrize(("learner", "classes", "settings"), CASES, ids=lambda value: str(value))
every_fixed_case = pytest.mark.parametrize(
    ("learner", "classes", "settings"), FIXED, ids=lambda value: str(value)
)


@cache
def documents(classes, seed=0):
    """Texts of words shared by all and of each class's own, some without any, and their labels; uneven."""
    random = np.random.default_rng([classes, seed])
    shared = [f"shared{i}" for i in range(9)]
    texts, labels = [], []
    for row in range(8 * classes):
        k = row % classes if row % 5 else 0  # the first class has more than its share
        own = [f"own{k}x{i}" for i in range(8)]
        mixed = [f"own{(k + 1) % classes}x{i}" for i in range(3)]
        texts.append(
            " ".join([*random.choice(shared, 4), *random.choice(own + mixed, random.integers(0, 7))])
        )
        labels.append(f"class {k:02}")
    return (*texts, "", "unique words only"), (*labels, "class 00", "class 01")


def new_texts(classes):
    """Texts that are not among the documents, and some that are odd."""
    return [
        *documents(classes, 1)[0],
        "",
        "unheard of",
        "shared0 " * 300,
        "own0x0 own1x0 zzz own0x0",
        "Ünïcödé 字",
    ]


def trained(learner, settings, texts, labels, weights=None, **changes):
    """A model of a case."""
    learner = replace(LEARNERS[learner], **changes)
    return textodds.train(list(texts), list(labels), weights, learner=learner, **SETTINGS[settings])


@cache
def model_of(learner, classes, settings):
    """The model of a case on its documents; not to be changed."""
    return trained(learner, settings, *documents(classes))


def bias_of(model):
    return model.linear.log_prior + model.linear.intercept


def same_bits(left, right, texts):
    """Two models give the same bits."""
    assert left.classes_ == right.classes_
    for got, expected in zip(left.score(texts), right.score(texts), strict=True):
        np.testing.assert_array_equal(got, expected)


def distance(model):
    """How far the weights may be from the optimum, by the gap that is proven.

    F is at least as curved as its penalty: λ/2 ‖W - W*‖² ≤ F - F* ≤ gap F.
    """
    fit = model.info["fit"]
    assert fit["converged"]
    assert 0 <= fit["gap"] <= TIGHT
    return np.sqrt(2 * fit["C"] * fit["gap"] * fit["objective"])


def same_optimum(left, right, texts, columns=slice(None)):
    """Two models solve the same problem: scores differ by what their gaps allow, and rounding."""
    lengths = np.sqrt(left.rows(texts).power(2).sum(axis=1))
    allowed = (1 + lengths) * 3 * (distance(left) + distance(right)) + 1e-9  # the bias follows the weights
    assert np.median(allowed) < 0.02  # or nothing would be shown
    mine, theirs = (
        scores - scores.mean(axis=1, keepdims=True)
        for scores in (left.score(texts)[0], right.score(texts)[0])
    )
    assert (np.abs(mine - theirs[:, columns]) <= allowed[:, None]).all()
    shares = left.predict_proba(texts) - right.predict_proba(texts)[:, columns]
    assert (np.abs(shares) <= allowed[:, None]).all()


@every_case
def test_the_gap_asked_for_is_proven(learner, classes, settings):
    fit = model_of(learner, classes, settings).info["fit"]
    assert fit["converged"]
    assert 0 <= fit["gap"] <= TIGHT


@every_case
def test_rows_sum_to_one(learner, classes, settings):
    probabilities = model_of(learner, classes, settings).predict_proba(new_texts(classes))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)


@every_case
def test_the_label_is_the_most_probable_class(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    best = model.predict_proba(texts).argmax(axis=1)
    assert model.predict(texts).tolist() == [model.classes_[k] for k in best]


@every_case
def test_batch_equals_one_by_one(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    scores, evidence = model.score(texts)
    for i, text in enumerate(texts):
        np.testing.assert_array_equal(model.score([text])[0][0], scores[i])
        prediction = model(text)
        assert prediction.evidence == evidence[i, 0]
        assert prediction.label == model.classes_[scores[i].argmax()]
        np.testing.assert_allclose(
            list(prediction.probabilities.values()), model.predict_proba([text])[0], rtol=1e-11, atol=1e-15
        )


@every_fixed_case
def test_permuting_documents_changes_nothing(learner, classes, settings):
    texts, labels = documents(classes)
    order = np.random.default_rng(0).permutation(len(texts))
    permuted = trained(learner, settings, [texts[i] for i in order], [labels[i] for i in order])
    model = model_of(learner, classes, settings)
    assert permuted.vocabulary.words() == model.vocabulary.words()
    same_optimum(permuted, model, new_texts(classes))


@every_fixed_case
def test_renaming_classes_permutes_the_answer(learner, classes, settings):
    texts, labels = documents(classes)
    names = {label: f"renamed {99 - k:02}" for k, label in enumerate(sorted(set(labels)))}
    renamed = trained(learner, settings, texts, [names[label] for label in labels])
    same_optimum(renamed, model_of(learner, classes, settings), new_texts(classes), slice(None, None, -1))


@every_fixed_case
def test_a_weight_of_two_equals_two_rows(learner, classes, settings):
    texts, labels = documents(classes)
    weights = [2.0 if i % 3 else 1.0 for i in range(len(texts))]
    twice = [
        (text, label)
        for text, label, times in zip(texts, labels, weights, strict=True)
        for _ in range(int(times))
    ]
    weighted = trained(learner, settings, texts, labels, weights)
    repeated = trained(learner, settings, *zip(*twice, strict=True))
    assert weighted.vocabulary.words() == repeated.vocabulary.words()
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    assert weighted.class_documents == repeated.class_documents
    same_optimum(weighted, repeated, new_texts(classes))


@every_fixed_case
def test_a_weight_of_zero_equals_absence(learner, classes, settings):
    texts, labels = documents(classes)
    absent = [
        ("shared1 own0x1 neverthere neverthere", "class 01"),
        ("own1x2 own1x2 nor this", "class 00"),
    ] * 4
    more, theirs = zip(*absent, strict=True)
    weights = [1.0] * len(texts) + [0.0] * len(more)
    model = model_of(learner, classes, settings)
    beside = trained(learner, settings, texts + more, labels + theirs, weights)
    assert beside.vocabulary.words() == model.vocabulary.words()
    np.testing.assert_allclose(beside.scale, model.scale, rtol=1e-12)
    assert beside.class_documents == model.class_documents
    same_optimum(beside, model, new_texts(classes))


@cache
def haunted(learner, classes):
    """A model of pairs of words, trained with a class whose rows weigh nothing beside the others."""
    texts, labels = documents(classes)
    weights = [1.0] * len(texts) + [0.0, 0.0]
    more = ["shared0 own0x0", "ghostly"]
    return trained(learner, "ngrams", [*texts, *more], [*labels, "ghost", "ghost"], weights)


one_of_each = pytest.mark.parametrize(
    ("learner", "classes"), [(learner, classes) for learner in LEARNERS for classes in CLASSES]
)


@one_of_each
def test_a_class_whose_rows_weigh_nothing_is_never_chosen(learner, classes):
    model = haunted(learner, classes)
    if "ghost" in model.classes_:
        assert (model.predict_proba(new_texts(classes))[:, model.classes_.index("ghost")] < 1e-9).all()
    assert "ghost" not in model.predict([*new_texts(classes), "ghostly"]).tolist()


@one_of_each
def test_a_class_whose_rows_weigh_nothing_is_never_chosen_under_another_prior(learner, classes):
    model = haunted(learner, classes)
    assert "ghost" not in model.with_prior("uniform").predict([*new_texts(classes), "ghostly"]).tolist()


@one_of_each
def test_a_class_whose_rows_weigh_nothing_changes_no_other(learner, classes):
    plain, beside = model_of(learner, classes, "ngrams"), haunted(learner, classes)
    texts = new_texts(classes)
    others = [k for k, name in enumerate(beside.classes_) if name != "ghost"]
    allowed = 6 * (distance(plain) + distance(beside)) + 1e-9
    assert allowed < 0.02
    np.testing.assert_allclose(
        beside.predict_proba(texts)[:, others], plain.predict_proba(texts), rtol=0, atol=allowed
    )


@every_case
def test_saving_and_loading_gives_the_same_bits(learner, classes, settings, tmp_path):
    model = model_of(learner, classes, settings)
    model.save(tmp_path / "model")
    loaded = textodds.load(tmp_path / "model")
    same_bits(loaded, model, new_texts(classes))
    assert loaded.recipe.as_dict() == model.recipe.as_dict()
    assert loaded.info == model.info
    assert loaded.class_documents == model.class_documents
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@every_case
def test_the_linear_form_scores_as_the_kernel_does(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    rows = model.rows(texts)
    assert rows.shape == (len(texts), len(model.vocabulary))
    expected = model.score(texts)[0]
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(model.linear.scores(rows), expected, rtol=1e-11, atol=1e-11 * size)
    np.testing.assert_allclose(model.linear.scores(rows.toarray()), expected, rtol=1e-11, atol=1e-11 * size)


@every_case
def test_threads_do_not_matter(learner, classes, settings):
    texts, labels = documents(classes)
    times = 70_000 // sum(len(text) for text in texts) + 1  # fewer bytes would go to one thread
    texts = [f"{text} copy{i % 40}" for i, text in enumerate(list(texts) * times)]
    one, four = (
        textodds.train(
            texts,
            list(labels) * times,
            learner=replace(LEARNERS[learner], tolerance=0.01),  # not the optimum, but the same bits
            threads=n,
            **SETTINGS[settings],
        )
        for n in (1, 4)
    )
    np.testing.assert_array_equal(one.vocabulary.keys, four.vocabulary.keys)
    np.testing.assert_array_equal(one.scale, four.scale)
    np.testing.assert_array_equal(one.linear.weights.dense, four.linear.weights.dense)
    assert one.info == four.info
    same_bits(one, four, (new_texts(classes) * 40)[:2000])


@every_case
def test_explanations_add_up_to_the_scores(learner, classes, settings):
    model = model_of(learner, classes, settings)
    for text in new_texts(classes)[-8:]:
        scores = np.sort(model.score([text])[0][0])[::-1]
        explanation = model.explain(text)
        assert explanation.log_odds == pytest.approx(scores[0] - scores[1], abs=1e-9)
        counted = sum(word.count for word in explanation.words)
        assert counted == model(text).evidence
        assert counted + explanation.unknown == len(model.recipe.settings.terms(text))


@every_case
def test_no_input_is_changed(learner, classes, settings):
    texts, labels = map(list, documents(classes))
    weights = np.linspace(0.5, 2, len(texts))
    before = copy.deepcopy((texts, labels, weights))
    model = trained(learner, settings, texts, labels, weights, tolerance=0.01)
    model.predict_proba(texts)
    for now, then in zip((texts, labels, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)


@every_case
def test_scoring_changes_no_model(learner, classes, settings):
    model = model_of(learner, classes, settings)
    before = len(model.vocabulary), model.score(new_texts(classes))[0]
    model.predict(["words nobody has ever seen"] * 3)
    model.explain("nor these")
    model.with_prior("uniform")
    assert len(model.vocabulary) == before[0]
    np.testing.assert_array_equal(model.score(new_texts(classes))[0], before[1])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.learn("a text", "class 00"),
        lambda model: model.forget("a text", "class 00"),
        lambda model: model + model,
        lambda model: model - model,
        lambda model: model.tally,
    ],
    ids=["learn", "forget", "add", "subtract", "tally"],
)
def test_what_counts_alone_allow_is_refused(learner, change):
    model = model_of(learner, 2, "words")
    with pytest.raises(Unsupported, match="rests on all of its documents at once") as caught:
        change(model)
    assert "train it again" in caught.value.hint


@every_case
def test_another_prior_shifts_log_odds_by_the_log_of_the_ratio(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    uniform = model.with_prior("uniform")
    shift = uniform.score(texts)[0] - model.score(texts)[0]
    ratio = -np.log(classes) - model.linear.log_prior
    np.testing.assert_allclose(
        shift - shift[:, :1], np.tile(ratio - ratio[0], (len(texts), 1)), rtol=0, atol=1e-11
    )
    shares = np.array(list(model.class_documents.values()))
    is_balanced = LEARNERS[learner].class_weight == "balanced"
    expected = np.full(classes, 1 / classes) if is_balanced else shares / shares.sum()
    np.testing.assert_allclose(np.exp(model.linear.log_prior), expected, rtol=1e-12)
    given = dict(zip(model.classes_, expected.tolist(), strict=True))
    np.testing.assert_allclose(
        uniform.with_prior(given).score(texts)[0], model.score(texts)[0], rtol=0, atol=1e-11
    )


@every_case
def test_parameters_sum_to_zero_over_the_classes(learner, classes, settings):
    model = model_of(learner, classes, settings)
    weights = model.linear.weights.dense
    np.testing.assert_allclose(weights.sum(axis=1), 0, rtol=0, atol=1e-12 * max(1.0, np.abs(weights).max()))
    bias = bias_of(model)
    assert abs(bias.sum()) <= 1e-10 * max(1.0, np.abs(bias).max())


@every_case
def test_a_text_without_known_words_has_the_bias_only(learner, classes, settings):
    model = model_of(learner, classes, settings)
    unknown = ["", " ", "!?", *(["Ωμέγα 字"] if settings != "hashing" else [])]
    scores, evidence = model.score(unknown)
    np.testing.assert_array_equal(scores, np.tile(bias_of(model), (len(unknown), 1)))
    assert not evidence[:, 0].any()


@every_case
def test_the_gradient_is_zero_at_the_optimum(learner, classes, settings):
    """That of the lectures, written out here from the rows and the probabilities."""
    texts, labels = documents(classes)
    model = model_of(learner, classes, settings)
    fit = model.info["fit"]
    rows, p = model.rows(texts), model.predict_proba(list(texts))
    target = np.array([[label == name for name in model.classes_] for label in labels], dtype=float)
    weight = np.ones(len(texts))
    if LEARNERS[learner].class_weight == "balanced":
        weight = (len(texts) / (classes * target.sum(axis=0)))[target.argmax(axis=1)]
    error = (p - target) * weight[:, None]
    # A function bent by no more than L has ‖∇F‖² ≤ 2 L (F - F*).
    most_bent = 1 / fit["C"] + 0.5 * weight @ (1 + rows.power(2).sum(axis=1))
    allowed = np.sqrt(2 * most_bent * fit["gap"] * fit["objective"]) + 1e-12
    assert allowed < 0.01
    np.testing.assert_allclose(error.sum(axis=0), 0, rtol=0, atol=allowed)
    penalised = model.linear.weights.dense
    if learner == "nb-centred":
        penalised = penalised - prior_mean(rows, target, weight)
    if classes == 2:
        penalised = 2 * penalised  # w = w1 - w0 has the penalty
    np.testing.assert_allclose(rows.T @ error + penalised / fit["C"], 0, rtol=0, atol=allowed)


def prior_mean(rows, target, weight):
    """The log-ratios of naive Bayes, by class and centred, (V, K): Wang and Manning's equation 2."""
    seen = (rows > 0).astype(float)
    ours = seen.T @ (target * weight[:, None]) + 1.0
    theirs = (seen.T @ weight)[:, None] - ours + 2.0
    ratios = np.log(ours / ours.sum(axis=0)) - np.log(theirs / theirs.sum(axis=0))
    return ratios / 2 if target.shape[1] == 2 else ratios - ratios.mean(axis=1, keepdims=True)


def coefficients(model):
    """Weights (V, M) and biases (M,) as scikit-learn has them: one column for two classes."""
    weights, bias = model.linear.weights.dense, bias_of(model)
    if len(bias) == 2:
        return weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1]
    return weights, bias - bias.mean()


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("weighting", ["plain", "weights", "balanced", "both", "given"])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("settings", ["ngrams", "counts"])
def test_models_are_those_of_logistic_regression(C, weighting, classes, settings):
    texts, labels = documents(classes)
    weights = None
    if weighting in ("weights", "both"):
        weights = np.random.default_rng(classes).integers(1, 9, len(texts)) / 2.0
    class_weight = None
    if weighting in ("balanced", "both"):
        class_weight = "balanced"
    elif weighting == "given":
        class_weight = {f"class {k:02}": 0.5 + k for k in range(classes)}
    learner = SoftmaxLearner(C=C, class_weight=class_weight, tolerance=1e-13, max_epochs=1000)
    model = textodds.train(list(texts), list(labels), weights, learner=learner, **SETTINGS[settings])
    rows = model.rows(list(texts))
    if weighting == "both":  # every class gets the same total of its weights, whatever scikit-learn's version
        totals = {name: weights[[label == name for label in labels]].sum() for name in model.classes_}
        mean = sum(totals.values()) / classes
        weights, class_weight = weights * [mean / totals[label] for label in labels], None
    reference = LogisticRegression(
        C=C, class_weight=class_weight, tol=1e-9, max_iter=20_000, solver="newton-cg"
    )
    reference.fit(rows, labels, weights)
    found, bias = coefficients(model)
    expected = reference.intercept_ if classes == 2 else reference.intercept_ - reference.intercept_.mean()
    np.testing.assert_allclose(found, reference.coef_.T, rtol=0, atol=1e-5)
    np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-5)
    new = new_texts(classes)
    np.testing.assert_allclose(
        model.predict_proba(new), reference.predict_proba(model.rows(new)), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("settings", ["ngrams", "characters", "counts"])
@one_of_each
def test_texts_and_their_rows_give_the_same_model(learner, classes, settings):
    texts, labels = documents(classes)
    if learner == "nb-softmax":
        settings = "counts"  # naive Bayes scales words before a row gets its length, which given rows have
    rows = model_of("softmax", classes, settings).rows(list(texts))  # tf-idf, and nothing of naive Bayes
    model = model_of(learner, classes, settings)
    fit = LEARNERS[learner].fit(rows, labels)
    allowed = 6 * (distance(model) + np.sqrt(2 * fit.C * fit.outcome.gap * fit.outcome.value)) + 1e-9
    assert allowed < 0.02
    np.testing.assert_allclose(
        np.exp(fit.model.log_posterior(rows)), model.predict_proba(list(texts)), rtol=0, atol=allowed
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_class_that_counts_is_not_enough(learner):
    with pytest.raises(InputError, match="every row that counts is of one class, `ham`"):
        trained(learner, "words", ["see you", "free phone", "see me"], ["ham", "spam", "ham"], [1, 0, 1])


@pytest.mark.parametrize("learner", LEARNERS)
def test_empty_documents_alone_give_the_shares_of_the_classes(learner):
    changes = {"class_weight": None} if "balanced" in learner else {}
    model = trained(learner, "words", [""] * 4, ["ham", "ham", "ham", "spam"], **changes)
    np.testing.assert_allclose(model.predict_proba(["whatever"])[0], [0.75, 0.25], rtol=1e-9)
