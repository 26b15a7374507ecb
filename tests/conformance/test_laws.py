"""The laws of every model, of texts and of tables. No skips: a law that a kind has not, it must refuse."""

import copy

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss

import textodds
from model_cases import (
    CASES,
    OF_TABLES,
    OF_TEXTS,
    SOME_CASES,
    DiscriminantCase,
    SoftmaxCase,
    UnlabelledCase,
    close,
)
from textodds.errors import InputError, Unsupported
from textodds.learn.registry import LEARNERS, name_of, resolved

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_setting = pytest.mark.parametrize("case", SOME_CASES, ids=str)
every_text_case = pytest.mark.parametrize("case", OF_TEXTS, ids=str)
every_text_setting_and_at_length_every_text_case = pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case in SOME_CASES else pytest.mark.long) for case in OF_TEXTS],
    ids=str,
)
every_settled_case = pytest.mark.parametrize("case", [case for case in CASES if case.is_settled], ids=str)


def test_every_learner_of_the_registry_is_here():
    for is_table, cases in ((False, OF_TEXTS), (True, OF_TABLES)):
        tried = {case.model.recipe.learner for case in cases if isinstance(case, UnlabelledCase)}
        tried |= {case.learner for case in cases}
        known = {
            name
            for name, entry in LEARNERS.items()
            if (entry.is_of_tables if is_table else entry.is_of_texts)
        }
        assert {name_of(resolved(learner)) for learner in tried} == known


@every_setting
def test_probabilities_sum_to_one_and_the_label_is_the_most_probable_class(case):
    probabilities = case.model.predict_proba(case.new)
    assert probabilities.shape == (len(case.new), case.classes)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)
    best = probabilities.argmax(axis=1)
    assert case.model.predict(case.new).tolist() == [case.model.classes_[k] for k in best]


@every_case
def test_one_is_answered_as_among_many(case):
    model = case.model
    (scores, evidence), probabilities = model.score(case.new), model.predict_proba(case.new)
    for i, row in enumerate(case.new):
        (close if case.is_table else np.testing.assert_array_equal)(model.score([row])[0][0], scores[i])
        one = model(case.given(row))
        assert one.label == model.classes_[probabilities[i].argmax()]
        assert one.probability == max(one.probabilities.values())
        close(list(one.probabilities.values()), probabilities[i])
        if not case.is_table:
            assert one.evidence == evidence[i, 0]


@every_setting
def test_the_model_has_learned_something(case):
    """More are right than are of the largest class; what is calibrated costs less than the shares alone."""
    rows, labels = case.more
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    model = case.model.with_prior("data") if case.has_prior else case.model
    found = model.evaluate(rows, labels)
    if "unknown-count" not in case.name:  # whose vocabulary says little
        assert found.accuracy > shares.max() + 0.1
    if isinstance(case, DiscriminantCase) or getattr(case.model, "calibration", None) is not None:
        assert found.log_loss < -shares @ np.log(shares) - 0.02


@every_settled_case
def test_permuting_rows_changes_nothing(case):
    rows, labels = case.rows_and_labels
    order = np.random.default_rng(0).permutation(len(rows))
    case.assert_same(case.train([rows[i] for i in order], [labels[i] for i in order]), case.model)


@every_settled_case
def test_renaming_classes_permutes_the_answer(case):
    rows, labels = case.rows_and_labels
    names = {label: f"renamed {99 - k:02}" for k, label in enumerate(sorted(set(labels)))}
    renamed = case.train(rows, [names[label] for label in labels])
    case.assert_same(renamed, case.model, slice(None, None, -1))


@every_settled_case
def test_a_weight_of_two_equals_two_rows(case):
    rows, labels = case.rows_and_labels
    weights = [2.0 if i % 3 else 1.0 for i in range(len(rows))]
    twice = [i for i, times in enumerate(weights) for _ in range(int(times))]
    weighted = case.train_like(case.model, rows, labels, weights)
    repeated = case.train_like(case.model, [rows[i] for i in twice], [labels[i] for i in twice])
    assert weights == [2.0 if i % 3 else 1.0 for i in range(len(rows))]
    assert weighted.class_documents == repeated.class_documents
    case.assert_same(weighted, repeated)


@every_settled_case
def test_a_weight_of_zero_equals_absence(case):
    rows, labels = case.rows_and_labels
    more = [dict(rows[1])] * 3 if case.is_table else ["shared1 own0x1 neverthere", "own1x2 nor this", ""]
    beside = case.train_like(
        case.model, [*rows, *more], [*labels, *labels[:3]], [1.0] * len(rows) + [0.0] * 3
    )
    without = case.train_like(case.model, rows, labels)
    assert beside.class_documents == without.class_documents
    case.assert_same(beside, without)


@every_setting
def test_training_again_gives_the_same_bits_and_changes_no_input(case):
    rows, labels = case.rows_and_labels
    before = copy.deepcopy((rows, labels))
    again = case.train(rows, labels)
    np.testing.assert_array_equal(again.score(case.new)[0], case.model.score(case.new)[0])
    np.testing.assert_array_equal(again.predict_proba(case.new), case.model.predict_proba(case.new))
    assert (rows, labels) == before


@every_case
def test_saving_and_loading_gives_the_same_bits(case, tmp_path):
    model = case.model
    model.save(tmp_path / "model")
    loaded = textodds.load(tmp_path / "model")
    for got, expected in zip(loaded.score(case.new), model.score(case.new), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(loaded.predict_proba(case.new), model.predict_proba(case.new))
    assert loaded.classes_ == model.classes_
    assert loaded.recipe.as_dict() == model.recipe.as_dict()
    assert {**loaded.info, "fingerprint": ""} == {**model.info, "fingerprint": ""}  # which only a file has
    assert loaded.class_documents == model.class_documents
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@every_case
def test_explanations_add_up_to_the_scores(case):
    model = case.model
    if case.name.startswith(("qda", "gaussian")) and not case.is_table:
        with pytest.raises(Unsupported, match="has no weights of single words"):
            model.hyperplane(*model.classes_[:2])
    for row in case.new[-8:]:
        explanation = model.explain(case.given(row))
        first, second = np.sort(model.predict_log_proba([row])[0])[::-1][:2]
        assert explanation.log_odds == pytest.approx(first - second, rel=1e-9, abs=1e-9)
        if case.is_table:
            total = explanation.start + sum(value for _, _, value in explanation.columns)
            assert total == pytest.approx(explanation.log_odds, rel=1e-9, abs=1e-9)
        else:
            assert sum(odds for _, odds in explanation.lines) == pytest.approx(explanation.log_odds, abs=1e-9)


@every_setting
def test_asking_changes_no_model(case, tmp_path):
    model = case.model
    model.save(tmp_path / "before")
    model.predict(case.new[::-1])
    model.explain({} if case.is_table and not case.has_no_gaps else case.new[0])
    if case.has_prior:
        model.with_prior("uniform")
    model.evaluate(*case.more)
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


@every_setting
def test_an_evaluation_is_counted_as_by_hand(case):
    rows, labels = case.more
    model = case.model
    truth = ["unheard of", *labels[1:]]
    found = model.evaluate(rows, truth)
    probabilities, answers = model.predict_proba(rows), model.predict(rows).tolist()
    assert found.n == len(rows)
    assert found.unknown_labels == {"unheard of": 1}
    assert found.accuracy == pytest.approx(accuracy_score(truth, answers))
    names = sorted({*truth, *answers})
    f1 = f1_score(truth, answers, labels=names, average="macro", zero_division=0)
    assert found.macro_f1 == pytest.approx(f1)
    assert found.log_loss == pytest.approx(
        log_loss(truth[1:], probabilities[1:], labels=list(model.classes_)), rel=1e-9
    )
    counts = confusion_matrix(truth, answers, labels=names)
    assert found.confusion == {(names[i], names[j]): counts[i, j] for i, j in np.argwhere(counts)}


@every_setting
def test_another_prior_shifts_log_odds_by_the_log_of_the_ratio_or_is_refused(case):
    model = case.model
    prior = {name: 0.5 + k for k, name in enumerate(model.classes_)}
    prior = {name: share / sum(prior.values()) for name, share in prior.items()}
    if not case.has_prior:
        with pytest.raises(Unsupported, match="prior"):
            model.with_prior(prior)
        return
    shift = model.with_prior(prior).score(case.new)[0] - model.score(case.new)[0]
    was = model.log_prior if case.is_table else model.form.log_prior
    ratio = np.log(list(prior.values())) - was
    size = max(1.0, np.abs(model.score(case.new)[0]).max())
    np.testing.assert_allclose(
        shift - shift[:, :1], np.tile(ratio - ratio[0], (len(case.new), 1)), rtol=0, atol=1e-12 * size + 1e-11
    )
    back = model.with_prior(prior).with_prior(dict(zip(model.classes_, np.exp(was).tolist(), strict=True)))
    np.testing.assert_allclose(back.score(case.new)[0], model.score(case.new)[0], rtol=1e-12, atol=1e-11)
    with pytest.raises(InputError, match="elm"):
        model.with_prior({model.classes_[0]: 0.5, "elm": 0.5})


CHANGES = {
    "learn": lambda model, row, label: model.learn([row], [label]),
    "forget": lambda model, row, label: model.forget([row], [label]),
    "add": lambda model, *_: model + model,
    "subtract": lambda model, *_: model - model,
    "tally": lambda model, *_: model.tally,
}


@every_case
def test_learning_adding_and_forgetting_equal_training_or_are_refused(case):
    rows, labels = case.rows_and_labels
    if not case.learns_more:
        for change in CHANGES.values():
            with pytest.raises(Unsupported) as caught:
                change(case.model, rows[0], labels[0])
            assert caught.value.hint
        return
    half = len(rows) // 2
    first = case.train_like(case.model, rows[:half], labels[:half])
    second = case.train_like(case.model, rows[half:], labels[half:])
    whole = case.train_like(case.model, rows, labels)
    learned = copy.copy(first)
    learned.learn(rows[half:], labels[half:])
    case.assert_same(learned, whole)
    case.assert_same(first + second, whole)
    case.assert_same((first + second) - second, first)
    if not case.is_table and not isinstance(case, SoftmaxCase):  # what follows from documents, follows them
        np.testing.assert_array_equal(learned.predict_proba(case.new), whole.predict_proba(case.new))
        np.testing.assert_array_equal((first + second).predict_proba(case.new), whole.predict_proba(case.new))
    learned.forget(rows[half:], labels[half:])
    case.assert_same(learned, first)


# Texts


@every_text_case
def test_the_form_scores_rows_as_the_model_scores_texts(case):
    model, expected = case.model, case.model.score(case.new)[0]
    rows = model.rows(case.new)
    assert rows.shape == (len(case.new), len(model.vocabulary))
    close(model.form.scores(rows), expected, 1e-10)
    if not isinstance(case, DiscriminantCase):
        close(model.form.scores(rows.toarray()), expected)


@every_text_setting_and_at_length_every_text_case
def test_threads_do_not_matter(case):
    texts, labels = case.rows_and_labels
    times = 70_000 // sum(len(text) for text in texts) + 1  # fewer bytes would go to one thread
    texts = [f"{text} copy{i % 40}" for i, text in enumerate(texts * times)]
    one, four = (case.roughly.train(texts, labels * times, threads=n) for n in (1, 4))
    np.testing.assert_array_equal(one.vocabulary.keys, four.vocabulary.keys)
    assert one.info == four.info
    asked = (case.new * 40)[:1000]
    for got, expected in zip(one.score(asked), four.score(asked), strict=True):
        np.testing.assert_array_equal(got, expected)


@every_text_case
def test_a_text_without_known_words_has_one_finite_answer_and_no_evidence(case):
    unknown = ["", " "]
    if "open" not in case.name:  # where characters may be what was chosen
        unknown.append("!?")
        if "hashing" not in case.name and "unknown" not in case.name:
            unknown.append("Ωμέγα 字")
    scores, evidence = case.model.score(unknown)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, np.tile(scores[0], (len(unknown), 1)))
    assert not evidence[:, 0].any()


@pytest.mark.parametrize("case", [case for case in OF_TEXTS if isinstance(case, SoftmaxCase)], ids=str)
def test_features_are_counted_once_in_an_explanation(case):
    for text in case.new[-8:]:
        explanation = case.model.explain(text)
        counted = sum(part.count for part in explanation.parts)
        assert counted == case.model(text).evidence
        assert counted + explanation.unknown == len(case.model.recipe.settings.terms(text))
