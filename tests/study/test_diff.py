"""What differs between two models is named, and nothing else."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import textodds
from pairs import together
from textodds.errors import BadRow, InputError
from textodds.judge.evaluation import mcnemar
from textodds.learn.naive_bayes import ComplementLearner, MultinomialLearner
from textodds.learn.tables import CategoricalLearner, JointTableLearner, MixedLearner
from textodds.study.diff import _hellinger, diff
from textodds.training.tables import train_table

TEXTS = ["free phone", "see you at six", "free prize now", "lunch at noon"]
LABELS = ["spam", "ham", "spam", "ham"]


@pytest.fixture
def a():
    return textodds.train(TEXTS, LABELS, learner="multinomial")


@pytest.fixture
def b():
    """Learned more of ham, with a word of spam in it, and another class."""
    more = [*TEXTS, "free lunch free", "eggs eggs"], [*LABELS, "ham", "breakfast"]
    return textodds.train(*more, learner="multinomial")


def test_a_model_does_not_differ_from_itself(a):
    found = diff(a, a, TEXTS, LABELS)
    assert (found.added, found.removed, found.recipe, found.gained, found.lost) == ([], [], (), (), ())
    assert found.moved == ()
    assert found.decisions.n_changed == 0
    assert found.decisions.p_value == 1.0


def test_classes_documents_and_priors_are_compared(a, b):
    found = diff(a, b)
    assert found.added == ["breakfast"]
    assert diff(b, a).removed == ["breakfast"]
    assert found.classes["ham"].documents == (2, 3)
    assert found.classes["breakfast"].documents == (None, 1)
    assert found.classes["ham"].prior == pytest.approx((1 / 2, 1 / 2))
    assert found.classes["breakfast"].prior == (None, pytest.approx(1 / 6))
    assert found.decisions is None


def test_words_gained_and_lost_come_with_their_counts_the_most_frequent_first(a):
    b = textodds.train(["free phone", "rare often often", "often more more"], ["spam", "ham", "ham"])
    found = diff(a, b, top=2)
    assert found.features == (10, 5)
    assert found.gained == (("often", 3.0), ("more", 2.0))
    assert found.n_gained == 3
    assert found.lost == (("at", 2.0), ("lunch", 1.0))
    assert found.n_lost == 8


def test_the_words_that_moved_most_are_those_by_hand(a, b):
    found = diff(a, b, top=100)
    assert found.between == ("ham", "spam")
    words = [word for word in a.vocabulary.words() if word in b.vocabulary.words()]
    odds = []
    for model in (a, b):
        numbers = model.vocabulary.find(words)
        rows = model.linear.weights.rows(numbers)
        ham, spam = model.classes_.index("ham"), model.classes_.index("spam")
        odds.append(rows[:, ham] - rows[:, spam])
    expected = dict(zip(words, zip(*odds, strict=True), strict=True))
    assert {word: (before, after) for word, before, after in found.moved} == {
        word: pytest.approx(pair) for word, pair in expected.items()
    }
    changes = [abs(after - before) for _, before, after in found.moved]
    assert changes == sorted(changes, reverse=True)
    assert found.moved[0][0] == "free"


def test_the_two_classes_that_changed_most_are_found_among_many():
    texts = [f"word{i} word{j}" for i in range(6) for j in range(6)]
    labels = [f"c{i}" for i in range(6) for _ in range(6)]
    a = textodds.train(texts, labels, learner="multinomial:alpha=1", calibrate=False)
    more = [*texts, *["word0 word0 word0"] * 30], [*labels, *["c4"] * 30]
    b = textodds.train(*more, learner="multinomial:alpha=1", calibrate=False)
    found = diff(a, b)
    assert "c4" in found.between
    assert found.moved[0][0] == "word0"


def test_what_was_chosen_differently_is_named_by_its_path():
    a = textodds.train(TEXTS, LABELS, learner="multinomial")
    b = textodds.train(TEXTS, LABELS, learner=MultinomialLearner(alpha=0.5), min_df=2)
    assert diff(a, b).recipe == (
        ("selection.min_df", 1, 2),
        ("learner.alpha", 1.0, 0.5),
        ("smoothing", "chosen", None),
    )


def test_models_without_counts_or_weights_are_compared_in_what_they_have(a, tmp_path):
    a.save(tmp_path / "m", counts=False)
    bare = textodds.load(tmp_path / "m")
    found = diff(bare, textodds.train(["new"], ["spam"]))
    assert math.isnan(found.classes["spam"].documents[0])
    assert found.lost[0] == ("at", None)
    assert diff(a, textodds.train(TEXTS, LABELS, learner=ComplementLearner())).classes["ham"].prior == (
        0.5,
        None,
    )
    quadratic = textodds.train(TEXTS * 4, LABELS * 4, learner="qda")
    assert diff(a, quadratic, TEXTS).moved == ()


DATA = ["free lunch", "free phone", "see you", "at noon"]


def test_decisions_that_changed_are_counted_by_pair_and_shown_with_both_probabilities(a, b):
    found = diff(a, b, DATA).decisions
    before, after = a.predict(DATA), b.predict(DATA)
    changed = [i for i in range(4) if before[i] != after[i]]
    assert changed
    assert found.n == 4
    assert sum(found.changed.values()) == found.n_changed == len(changed)
    assert found.right is found.only is found.accuracy is found.p_value is None
    for example in found.examples:
        i = example.row - 1
        assert example.content == DATA[i]
        assert example.before == (before[i], pytest.approx(a(DATA[i]).probability))
        assert example.after == (after[i], pytest.approx(b(DATA[i]).probability))
    assert {example.row - 1 for example in found.examples} == set(changed)


def test_examples_are_those_of_which_both_are_surest():
    a, b = (textodds.train(["yes", "no"], labels) for labels in (["x", "y"], ["y", "x"]))
    data = ["yes", "yes yes yes", "yes no", "no no"]
    found = diff(a, b, data, top=2).decisions
    assert found.n_changed == 3
    assert [example.row for example in found.examples] == [2, 4]


def test_with_labels_both_are_measured_and_mcnemar_says_whether_it_is_chance():
    a = textodds.train(["yes", "no"], ["x", "y"])
    b = textodds.train(["yes", "no"], ["y", "x"])
    texts, labels = ["yes"] * 8 + ["no"] * 2, ["y"] * 7 + ["x"] + ["y", "y"]
    found = diff(a, b, texts, labels).decisions
    assert found.accuracy == (0.3, 0.7)
    assert found.only == (3, 7)
    assert found.p_value == pytest.approx(stats.binomtest(3, 10).pvalue)
    assert found.changed == {("x", "y"): 8, ("y", "x"): 2}
    assert {example.truth for example in found.examples} == {"x", "y"}


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (5, 5), (2, 9), (400, 500), (3000, 3200)])
def test_mcnemars_p_value_is_twice_the_smaller_tail(first, second):
    n = first + second
    tail = sum(math.comb(n, i) for i in range(min(first, second) + 1)) / 2**n
    assert mcnemar(first, second) == mcnemar(second, first) == pytest.approx(min(1.0, 2 * tail))


def test_labels_are_used_where_a_file_has_them_and_a_bad_row_is_not_taken_for_their_absence(a, b, tmp_path):
    (tmp_path / "with.csv").write_text("text,label\nfree lunch,ham\nsee you,ham\n")
    (tmp_path / "without.csv").write_text("text\nfree lunch\nsee you\n")
    (tmp_path / "bad.csv").write_text("text,label\nfree lunch,ham\nsee you,\n")
    assert diff(a, b, tmp_path / "with.csv").decisions.accuracy is not None
    assert diff(a, b, tmp_path / "without.csv").decisions.accuracy is None
    with pytest.raises(BadRow, match="line 3: label is empty"):
        diff(a, b, tmp_path / "bad.csv")
    with pytest.raises(InputError, match="column"):
        diff(a, b, tmp_path / "without.csv", label="kind")


def people(shift=0.0, city="Ulm", n=200, seed=0):
    random = np.random.default_rng(seed)
    labels = ["m", "f"] * (n // 2)
    height = np.where(np.array(labels) == "m", 1.8 + shift, 1.65) + 0.05 * random.standard_normal(n)
    return {"height": height, "city": random.choice(["Bonn", city], n)}, labels


@pytest.mark.parametrize(
    "learner", [MixedLearner(), MixedLearner(calibrate=False)], ids=["calibrated", "plain"]
)
def test_tables_are_compared_column_by_column(learner):
    columns = {"height": "gaussian"}
    a = train_table(*people(), learner=learner, columns=columns)
    b = train_table(*people(shift=0.2), learner=learner, columns=columns)
    found = diff(a, b, *people(shift=0.2, seed=1))
    assert found.kind == "tables"
    assert found.features == (2, 2)
    assert found.shifted[0][:2] == ("height", "m")
    assert found.shifted[0][2] > 0.7
    assert all(name != "height" or label == "m" for name, label, _ in found.shifted)
    assert found.decisions.n == 200
    assert all(set(example.content) == {"height", "city"} for example in found.decisions.examples)
    assert diff(a, a).shifted == ()


def test_columns_gained_and_lost_are_named():
    table, labels = people()
    a = train_table(table, labels)
    b = train_table({"city": table["city"], "hair": ["long", "short"] * 100}, labels)
    found = diff(a, b)
    assert found.gained == (("hair", None),)
    assert found.lost == (("height", None),)


@pytest.mark.parametrize("learner", [CategoricalLearner(), JointTableLearner()], ids=["each", "table"])
def test_categories_that_are_new_are_a_distance_by_hand(learner):
    a = train_table({"city": ["Ulm", "Bonn"]}, ["x", "x"], learner=learner)
    b = train_table({"city": ["Ulm", "Kiel"]}, ["x", "x"], learner=learner)
    assert diff(a, b).shifted == (("city", "x", pytest.approx(np.sqrt(1 - 0.5))),)


@together
@pytest.mark.parametrize("p", [(0.0, 1.0), (2.0, 0.25)])
@pytest.mark.parametrize("q", [(0.5, 3.0), (-1.0, 1.0)])
def test_the_distance_of_gaussians_is_that_of_the_integral(p, q):
    x = np.linspace(-40, 40, 400_001)
    densities = [stats.norm(mean, np.sqrt(variance)).pdf(x) for mean, variance in (p, q)]
    overlap = np.sqrt(densities[0] * densities[1]).sum() * (x[1] - x[0])
    assert _hellinger(p, q) == pytest.approx(np.sqrt(1 - overlap), rel=1e-6)
    assert _hellinger(p, {"a": 1.0}) is None


def test_models_of_different_kinds_cannot_be_compared(a):
    with pytest.raises(InputError, match="the first is a model of texts, the second of tables"):
        diff(a, train_table(*people()))


def test_it_goes_through_json(a, b):
    plain = json.loads(json.dumps(diff(a, b, DATA, ["ham"] * 4).as_dict()))
    assert plain["added"] == ["breakfast"]
    assert plain["decisions"]["n"] == 4
    assert sum(each["rows"] for each in plain["decisions"]["changed"]) == plain["decisions"]["n_changed"]
