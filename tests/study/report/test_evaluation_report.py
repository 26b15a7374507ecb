"""The report says what was measured, whatever the model, the labels and the data are."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics

from pairs import together

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")

import textodds
from textodds.data import read
from textodds.judge.evaluation import Evaluation
from textodds.study.report.evaluation_classes import ClassScores, class_measures, most_confused
from textodds.study.report.evaluation_data import MISTAKES, EvaluationCollector, measured
from textodds.study.report.evaluation_mistakes import LONGEST, excerpt
from textodds.study.report.evaluation_page import calibration_interval, evaluation_page

from .pages import harmless

pytestmark = pytest.mark.slow

TEXTS = ["free phone", "free prize now", "win a prize", "see you at six", "lunch at six?", "are you home"]
LABELS = ["spam"] * 3 + ["ham"] * 3
NASTY = '<img src=x onerror="alert(1)">'


def report(model, texts, labels, **named):
    batches = model.read(texts, labels, labelled=True) if model.kind == "tables" else read(texts, labels)
    evaluation, gathered = measured(model, batches)
    return harmless(evaluation_page(model, evaluation, gathered, **named))


@pytest.fixture(scope="module")
def mail():
    return textodds.train(TEXTS, LABELS, learner="multinomial")


def test_the_page_says_what_was_measured(mail):
    texts, labels = ["free phone", "see you", "free lunch", "zebra"], ["spam", "ham", "ham", "ham"]
    found = mail.evaluate(texts, labels)
    text = report(
        mail, texts, labels, called="mail.textodds", data="test.csv", more=[("file", "9 kB")]
    ).text()
    assert text.count("How good is mail.textodds? ") == 2  # the title, and what is seen
    assert "Measured on 4 rows of test.csv" in text
    for value, (low, high) in (
        (found.accuracy, found.accuracy_interval),
        (found.macro_f1, found.macro_f1_interval),
        (found.log_loss, found.log_loss_interval),
    ):
        assert f"{value:.4f} {low:.4f} to {high:.4f}" in text
    assert "1 row has no known word" in text
    assert "file 9 kB" in text
    assert "learned from 6 texts" in text


def test_the_same_model_and_data_give_the_same_page(mail):
    pages = [evaluation_page(mail, *measured(mail, read(TEXTS, LABELS))) for _ in range(2)]
    assert pages[0] == pages[1]


def test_the_pass_measures_what_evaluate_does_and_a_watcher_sees_every_row(mail):
    seen = []
    evaluation, _ = measured(mail, read(TEXTS, LABELS), lambda labels, beliefs: seen.extend(labels))
    assert evaluation == mail.evaluate(TEXTS, LABELS)
    assert seen == LABELS


def test_areas_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    words = np.array(["a", "b", "c", "d", "e"])
    labels = random.choice(["x", "y", "z"], 300)
    shares = {"x": [5, 2, 1, 1, 1], "y": [1, 5, 2, 1, 1], "z": [1, 1, 4, 2, 2]}
    texts = [" ".join(random.choice(words, 6, p=np.array(shares[each]) / 10)) for each in labels]
    model = textodds.train(texts[:150], labels[:150].tolist(), learner="multinomial")
    _, gathered = measured(model, read(texts[150:], labels[150:].tolist()))
    beliefs = model.predict_proba(texts[150:])
    scores = np.round(np.log(beliefs / (1 - beliefs)), 9)  # texts of the same words tie, in whatever order
    for k, label in enumerate(model.classes_):
        truth, curve = labels[150:] == label, gathered.of_class[label]
        assert curve.auc == pytest.approx(metrics.roc_auc_score(truth, scores[:, k]), rel=1e-12)
        expected = metrics.average_precision_score(truth, scores[:, k])
        assert curve.average_precision == pytest.approx(expected, rel=1e-12)
    assert gathered.of_answers.above(1.0) == pytest.approx(
        metrics.accuracy_score(labels[150:], model.predict(texts[150:]))
    )


def test_the_surest_mistakes_are_kept_in_order_with_their_rows(mail):
    texts = [f"free prize {'prize ' * (i % 7)}{i}" for i in range(200)]
    labels = ["ham" if i % 3 else "spam" for i in range(200)]
    collector = EvaluationCollector(mail)
    for start in range(0, 200, 37):
        part = slice(start, start + 37)
        batch = next(iter(read(texts[part], labels[part])))
        collector.add(batch, batch.label_list(), mail.predict_log_proba(texts[part]))
    kept = collector.data().mistakes
    p = mail.predict_log_proba(texts)
    wrong = [i for i in range(200) if mail.classes_[p[i].argmax()] != labels[i]]
    expected = sorted(wrong, key=lambda i: (-abs(p[i, 1] - p[i, 0]), i))[:MISTAKES]
    assert [mistake.row for mistake in kept] == [i + 1 for i in expected]
    for mistake in kept:
        i = mistake.row - 1
        assert (mistake.given, mistake.label, mistake.answer) == (texts[i], labels[i], "spam")
        assert mistake.probability == pytest.approx(np.exp(p[i].max()), rel=1e-12)


def test_markup_in_texts_and_labels_is_shown_and_not_run():
    model = textodds.train([NASTY, "see you"], [NASTY, "שלום"])
    text = report(
        model, [f"{NASTY} you you", f"see you {NASTY}"], ["שלום", NASTY], called=NASTY, data=NASTY
    ).text()
    assert NASTY in text
    assert "שלום" in text


def test_labels_that_the_model_lacks_are_named_and_their_mistakes_explained(mail):
    text = report(mail, ["free phone", "see you"], ["eggs", "ham"]).text()
    assert "Labels that the model does not have" in text
    assert "eggs (1)" in text
    assert "predicted spam" in text
    assert "Without a row in the data, and so without a curve: spam." in text


def test_data_without_a_known_label_has_no_log_loss(mail):
    text = report(mail, ["free phone"], ["eggs"]).text()
    assert "log-loss – no row has a label of the model" in text
    assert "the data have fewer than two classes of the model" in text


def test_data_of_one_class_and_a_model_of_one_class_have_a_report(mail):
    text = report(mail, ["free phone", "prize"], ["spam", "spam"]).text()
    assert "None: every answer is correct." in text
    assert "No errors." in text
    alone = textodds.train(["hello", "hello you"], ["ham", "ham"])
    text = report(alone, ["hello", "good bye"], ["ham", "eggs"]).text()
    assert "Every wrong answer, most confident first." in text
    assert "good bye" in text


@pytest.mark.parametrize("learner", ["bernoulli", "complement", "softmax", "nb-softmax", "lda", "qda"])
def test_every_learner_has_a_report(learner):
    texts, labels = TEXTS * 4, LABELS * 4
    model = textodds.train(texts, labels, learner=learner)
    text = report(model, ["free lunch at six", "you win", "home"], ["spam", "ham", "ham"]).text()
    assert "Most confident mistakes" in text
    assert f"learner {learner}" in text


def test_many_classes_show_the_most_confused_and_fold_the_rest():
    names = [f"c{k:02}" for k in range(79)]
    model = textodds.train([f"word{k}" for k in range(79)], names)
    texts = [f"word{k}" for k in range(79)] + ["word3", "word3", "word5"]
    page = report(model, texts, [*names, "c04", "c04", "c06"])
    text = page.text()
    assert "The 20 classes with the most wrong answers, of 79." in text
    assert "All 79 classes" in text
    assert "c04 → c03 2 66.7%" in text
    assert "are readable for 2 to 8 classes" in text


def test_rows_of_tables_are_shown_with_what_their_columns_said():
    rows = [{"height": 150.0 + i, "hair": NASTY if i % 2 else "dark"} for i in range(40)]
    labels = ["short" if i < 20 else "tall" for i in range(40)]
    model = textodds.train(rows, labels)
    page = report(model, [{"height": 185.0, "hair": None}, *rows], ["short", *labels])
    text = page.text()
    assert "predicted tall" in text
    assert "hair missing" in text
    said = model.explain({"height": 185.0, "hair": None}, "tall", "short").columns
    assert f"height 185 {next(odds for column, _, odds in said if column == 'height'):+.2f}" in text
    assert "kind rows of a table" in text
    for choice in model.recipe.choices:
        assert f"{choice.column} {choice.conditional} {choice.why}" in text


@together
@pytest.mark.parametrize(("right", "rows", "answered"), [(7, 10, 9), (0, 3, 0), (5, 5, 5), (0, 0, 4)])
def test_intervals_of_a_class_are_wilson_s(right, rows, answered):
    got = ClassScores.of("a", right, rows, answered)
    for estimate, n in ((got.precision, answered), (got.recall, rows)):
        if not n:
            assert estimate is None
            continue
        interval = binomtest(right, n).proportion_ci(method="wilson")
        assert estimate == (right / n, pytest.approx((interval.low, interval.high), abs=1e-9))
    value, (low, high) = got.f1
    assert value == 2 * right / (rows + answered)
    of_either = binomtest(right, rows + answered - right).proportion_ci(method="wilson")
    assert (low / (2 - low), high / (2 - high)) == pytest.approx((of_either.low, of_either.high), abs=1e-9)


def test_classes_come_with_the_lowest_f1_first(mail):
    found = class_measures(mail.evaluate(["free", "free", "see you"], ["spam", "ham", "ham"]))
    assert [each.f1[0] for each in found] == pytest.approx([2 / 3, 2 / 3])
    plain = Evaluation(3, 0, (0, 1), 0, (0, 1), 0, (0, 1), {("a", "a"): 2, ("b", "a"): 1})
    assert [each.label for each in class_measures(plain)] == ["b", "a"]


def test_the_most_confused_classes_stand_beside_those_they_are_confused_with():
    counts = np.diag([50] * 6)
    counts[0, 5], counts[5, 0], counts[1, 4], counts[2, 3] = 9, 8, 6, 2
    assert most_confused(counts, 4) == [0, 5, 1, 4]


def test_the_interval_of_the_calibration_error_covers_it():
    """Of a model whose answers are right in 85 % where it says 90 %: the true error is 0.05."""
    random, covered = np.random.default_rng(5), 0
    for _ in range(200):
        right = random.binomial(2000, 0.85) / 2000
        low, high = calibration_interval([(2000, 0.9, right)])
        assert 0 <= low <= high
        covered += low <= 0.05 <= high
    assert covered >= 180
    assert all(map(math.isnan, calibration_interval([])))


def test_a_long_text_is_shown_where_its_strongest_words_are(mail):
    long = f"{'nothing to tell ' * 100} free prize {'nothing to tell ' * 100}"
    why = mail.explain(long)
    shown = excerpt(why)
    assert "free</mark>" in shown
    assert shown.count("[…]") >= 2
    assert len(shown) < 4 * LONGEST
    whole = excerpt(mail.explain("free <b>prize</b>"))
    assert "[…]" not in whole
    assert "&lt;" in whole


def test_words_of_all_classes_at_once_are_those_of_each():
    random = np.random.default_rng(2)
    texts = [" ".join(f"w{i}" for i in random.integers(0, 300, 20)) for _ in range(90)]
    model = textodds.train(texts, random.choice(["a", "b", "c"], 90).tolist())
    found = model.words.top_of(model.classes_, 9)
    assert found == {each: model.top_words(each, 9) for each in model.classes_}


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "classes"), [("sms_spam", 2), ("reuters_r8", 8)])
def test_real_texts_have_a_harmless_report(data_folder, name, classes):
    train, test = (data_folder / name / f"{part}.csv.gz" for part in ("train", "test"))
    model = textodds.train(train, learner="multinomial")
    text = report(model, test, None).text()
    assert f"{model.evaluate(test).accuracy:.4f}" in text
    assert f"classes {classes}" in text
