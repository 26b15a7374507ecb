"""Softmax regression of tables, against scikit-learn's logistic regression of the same features."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import textodds
from model_files import parts, put_together
from pairs import together
from textodds.errors import InputError, ModelFileError, NotLearned, Unsupported
from textodds.model.tables.linear_table import LinearTableModel

TIGHT = "softmax:tolerance=1e-10"


def people(n=240, seed=0, gaps=False, classes=3):
    random = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    height = random.normal(160 + 8 * codes, 7)
    weight = np.exp(random.normal(4 + 0.1 * codes, 0.2))
    hair = [str(random.choice(["short", "long", "none"], p=np.roll([0.6, 0.3, 0.1], k))) for k in codes]
    if gaps:
        height[random.random(n) < 0.15] = np.nan
        hair = [None if random.random() < 0.15 else each for each in hair]
    table = {"height": height, "weight": weight, "hair": hair}
    return table, [f"k{k}" for k in codes]


@together
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_it_is_scikit_learn_s_logistic_regression_of_standardised_and_one_hot_columns(classes, C):
    table, labels = people(classes=classes)
    model = textodds.train(table, labels, learner=f"{TIGHT}:C={C}", calibrate=False)
    numbers = StandardScaler().fit_transform(np.column_stack([table["height"], table["weight"]]))
    values = OneHotEncoder(sparse_output=False).fit_transform(np.array(table["hair"])[:, None])
    rows = np.hstack([numbers, values])
    oracle = LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(table), oracle.predict_proba(rows), atol=1e-5)


def test_missing_values_are_features_of_their_own():
    table, labels = people(gaps=True)
    model = textodds.train(table, labels, learner=f"{TIGHT}:C=1", calibrate=False)
    absent = np.isnan(table["height"])
    known = table["height"][~absent]
    z = np.where(absent, 0.0, (table["height"] - known.mean()) / known.std())
    weight = (table["weight"] - table["weight"].mean()) / table["weight"].std()
    hair = np.array([str(each) for each in table["hair"]])  # of which "None" is one
    values = OneHotEncoder(sparse_output=False).fit_transform(hair[:, None])
    rows = np.column_stack([z, weight, absent, values])
    oracle = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(table), oracle.predict_proba(rows), atol=1e-5)
    assert model({"weight": 60.0}).evidence == 1
    assert model({}).label in model.classes_


def test_a_category_that_was_never_seen_says_nothing():
    table, labels = people()
    model = textodds.train(table, labels, learner="softmax:C=1")
    explained = model.explain({"height": 170.0, "weight": 60.0, "hair": "green"})
    assert {name: odds for name, _, odds in explained.columns}["hair"] == 0.0


def test_the_penalty_is_chosen_on_held_out_rows_and_kept():
    table, labels = people(gaps=True)
    model = textodds.train(table, labels, learner="softmax")
    C = model.info["fit"]["C"]
    assert model.recipe.linear.C == C > 0
    again = textodds.train(table, labels, like=model)
    assert again.recipe.linear == model.recipe.linear
    assert len(model.held_out.truth) == len(labels)


def test_forgetting_is_as_never_having_learned_to_the_bit(tmp_path):
    table, labels = people(gaps=True)
    some = {name: values[:200] for name, values in table.items()}
    rest = {name: values[200:] for name, values in table.items()}
    model = textodds.train(some, labels[:200], learner="softmax:C=1")
    model.save(tmp_path / "model")
    opened = textodds.load(tmp_path / "model")
    assert isinstance(opened, LinearTableModel)
    opened.learn(rest, labels[200:])
    whole = textodds.train(table, labels, like=model)
    np.testing.assert_array_equal(opened.predict_proba(table), whole.predict_proba(table))
    opened.forget(rest, labels[200:])
    np.testing.assert_array_equal(opened.predict_proba(table), model.predict_proba(table))
    parts = model + textodds.train(rest, labels[200:], like=model)
    np.testing.assert_array_equal(parts.predict_proba(table), whole.predict_proba(table))
    with pytest.raises(NotLearned):
        opened.forget({"height": 1.0, "weight": 2.0, "hair": "long"}, "k1")


def test_a_new_class_and_a_new_category_may_come_and_one_class_may_not_be_left():
    table, labels = people(classes=2)
    model = textodds.train(table, labels, learner="softmax:C=1")
    model.learn([{"height": 120.0, "weight": 20.0, "hair": "pink"}] * 3, ["child"] * 3)
    assert model.classes_ == ("child", "k0", "k1")
    assert model({"height": 121.0, "weight": 21.0, "hair": "pink"}).label == "child"
    few = textodds.train([{"x": 1.0}, {"x": 2.0}], ["a", "b"], learner="softmax:C=1")
    before = few.predict_proba([{"x": 1.5}])
    with pytest.raises(InputError, match="two classes or more"):
        few.forget({"x": 2.0}, "b")
    np.testing.assert_array_equal(few.predict_proba([{"x": 1.5}]), before)


def test_without_rows_it_answers_and_is_not_changed(tmp_path):
    table, labels = people()
    model = textodds.train(table, labels, learner="softmax:C=1", documents=False)
    kept = textodds.train(table, labels, learner="softmax:C=1")
    np.testing.assert_array_equal(model.predict_proba(table), kept.predict_proba(table))
    with pytest.raises(Unsupported, match="without its rows"):
        model.learn({"height": 1.0, "weight": 2.0, "hair": "long"}, "k1")
    kept.save(tmp_path / "model", documents=False)
    with pytest.raises(Unsupported, match="without its rows"):
        textodds.load(tmp_path / "model").forget({"height": 1.0}, "k1")


def test_another_prior_shifts_the_log_odds_by_its_own():
    table, labels = people(classes=2)
    model = textodds.train(table, labels[:100] + ["k1"] * 140, learner="softmax:C=1")
    share = np.log(model.class_documents["k1"] / model.class_documents["k0"])
    even = model.with_prior("uniform").predict_log_proba(table)
    told = model.predict_log_proba(table)
    np.testing.assert_allclose(np.diff(told) - np.diff(even), share)


def test_it_is_no_density_and_has_words_of_texts_only():
    table, labels = people()
    model = textodds.train(table, labels, learner="softmax:C=1")
    for ask in (
        lambda: model.log_joint(table),
        lambda: textodds.train(table, labels, learner="softmax:C=1", typical=True),
    ):
        with pytest.raises(Unsupported, match=r"p\(class \| row\)"):
            ask()
    texts = textodds.train(table | {"note": labels}, labels, learner="softmax:C=1", columns={"note": "text"})
    assert "note" in {name for name, _, _ in texts.explain({"note": labels[0]}).columns}
    with pytest.raises(InputError, match="`ngrams` applies to texts"):
        textodds.train(table, labels, learner="softmax:ngrams=1-2", columns={"height": "number"})


def test_textbook_has_c_one_and_no_calibration():
    table, labels = people()
    model = textodds.train(table, labels, learner="softmax", textbook=True)
    assert model.recipe.linear.C == 1.0
    assert model.calibration is None
    assert model.held_out is None


def test_separable_columns_without_a_penalty_are_named():
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "hair": ["a", "a", "b", "b"]}
    with pytest.raises(textodds.errors.Separable, match=r"hair|x"):
        textodds.train(rows, ["no", "no", "yes", "yes"], learner="softmax:C=inf")


def test_balanced_classes_are_those_of_scikit_learn():
    table, labels = people(classes=2)
    labels = ["k0" if i % 5 else label for i, label in enumerate(labels)]
    model = textodds.train(table, labels, learner=f"{TIGHT}:C=1:class_weight=balanced", calibrate=False)
    numbers = StandardScaler().fit_transform(np.column_stack([table["height"], table["weight"]]))
    values = OneHotEncoder(sparse_output=False).fit_transform(np.array(table["hair"])[:, None])
    oracle = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-12, max_iter=10_000)
    rows = np.hstack([numbers, values])
    np.testing.assert_allclose(
        model.predict_proba(table), oracle.fit(rows, labels).predict_proba(rows), atol=1e-5
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, header: arrays.pop("linear.weights"),
        lambda arrays, header: arrays.update({"linear.weights": arrays["linear.weights"][:-1]}),
        lambda arrays, header: arrays.update({"linear.intercept": arrays["linear.intercept"] * np.nan}),
        lambda arrays, header: arrays.update({"linear.weights": arrays["linear.weights"].astype("f4")}),
        lambda arrays, header: header["recipe"].pop("linear"),
        lambda arrays, header: header["recipe"].update(learner="mixed"),
        lambda arrays, header: header["recipe"]["linear"].update(learner="nb-softmax"),
        lambda arrays, header: header["recipe"]["linear"].update(C=-1.0),
        lambda arrays, header: header["recipe"]["linear"].update(C="many"),
    ],
)
def test_a_damaged_file_is_refused(change, tmp_path):
    table, labels = people(gaps=True)
    textodds.train(table, labels, learner="softmax:C=1").save(tmp_path / "model")
    arrays, header = parts(tmp_path / "model")
    put_together(tmp_path / "same", arrays, header)
    assert textodds.load(tmp_path / "same").classes_ == ("k0", "k1", "k2")
    change(arrays, header)
    put_together(tmp_path / "damaged", arrays, header)
    with pytest.raises(ModelFileError):
        textodds.load(tmp_path / "damaged")


def test_an_explanation_has_the_class_prior_and_the_intercept_apart():
    table, labels = people()
    model = textodds.train(table, labels, learner="softmax:C=1")
    row = {name: values[0] for name, values in table.items()}
    explained = model.explain(row)
    counts = model.class_documents
    expected = np.log(counts[explained.label] / counts[explained.rival])
    assert explained.prior == pytest.approx(expected, abs=1e-12)
    assert [name for name, _ in explained.start_lines][:2] == ["class prior", "intercept"]
    total = explained.start + sum(odds for _, _, odds in explained.columns)
    assert total == pytest.approx(explained.log_odds, abs=1e-9)
