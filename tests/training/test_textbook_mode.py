"""Textbook mode: nothing is chosen or calibrated, and what is printed can be checked by hand."""

import numpy as np
import pytest

import textodds
from pairs import together
from textodds.errors import InputError
from textodds.spark.training import plan_on_spark
from textodds.study.audit import audit
from textodds.training.plan import plan_of
from textodds.training.tables import train_table

TEXTS = ["free free phone", "see you at six", "free prize", "six phone", "see you"] * 40
LABELS = ["spam", "ham", "spam", "ham", "ham"] * 40


def test_a_posterior_is_the_joint_over_the_density_and_weights_are_logarithms_of_shares():
    model = textodds.train(TEXTS, LABELS, textbook=True)
    assert model.calibration is None
    assert model.recipe.as_dict()["learner"] == {
        "learner": "multinomial",
        "alpha": 1.0,
        "prior": "data",
        "binary": False,
    }
    spam, ham = np.array([0.4, 0.6])
    words = {"free": 120, "phone": 40, "prize": 40}
    share = {word: (words.get(word, 0) + 1) / (200 + 7) for word in ("free", "phone", "six")}
    weights = model.words.weights("free")["by_class"]["spam"]["weight"]
    assert weights == pytest.approx(np.log(share["free"]), rel=1e-14)
    joint = spam * share["free"] * share["phone"], ham * 1 / (320 + 7) * 41 / (320 + 7)
    assert model("free phone").probabilities["spam"] == pytest.approx(joint[0] / sum(joint), rel=1e-12)
    found = model.log_joint(["free phone"])[0] - model.log_density(["free phone"])[0]
    np.testing.assert_allclose(np.exp(found), model.predict_proba(["free phone"])[0], rtol=1e-12)
    assert model("").probabilities == pytest.approx({"spam": 0.4, "ham": 0.6}, rel=1e-14)


@together
@pytest.mark.parametrize("name", ["multinomial", "bernoulli", "complement", "softmax", "nb-softmax"])
def test_every_learner_of_texts_has_its_textbook_settings_and_chooses_nothing(name):
    model = textodds.train(TEXTS, LABELS, learner=name, textbook=True)
    assert model.calibration is None
    assert model.held_out is None
    assert model.info["textbook"] is True
    assert "chosen" not in model.info
    assert model.recipe.settings.ngrams == (1, 1)
    assert model.recipe.selection.min_df == 1
    if model.recipe.weighting is not None:
        assert (model.recipe.weighting.frequency, model.recipe.weighting.idf) == ("count", False)
        assert model.recipe.learner.C == 1.0
    else:
        assert model.recipe.learner.alpha == 1.0


def test_what_is_given_as_a_number_stays():
    assert (
        textodds.train(TEXTS, LABELS, learner="softmax:C=10:ngrams=1-2", textbook=True).info["fit"]["C"] == 10
    )
    model = textodds.train(TEXTS, LABELS, learner="multinomial:alpha=0.5", textbook=True)
    assert model.recipe.learner.alpha == 0.5


def test_numbers_of_tables_are_gaussian_and_evidence_is_not_weighed():
    random = np.random.default_rng(0)
    k = np.arange(400) % 2
    table = {"a": np.where(random.random(400) < 0.5, 0.0, random.exponential(size=400) + k), "b": "xy" * 200}
    table["b"] = list(table["b"])
    labels = ["no", "yes"] * 200
    chosen = train_table(table, labels)
    assert "intervals" in chosen.recipe.choices[0].conditional
    model = train_table(table, labels, textbook=True)
    assert [choice.conditional for choice in model.recipe.choices] == ["Gaussian", "categorical"]
    assert model.calibration is None
    row = {"a": 1.0, "b": "x"}
    np.testing.assert_allclose(
        list(model(row).probabilities.values()), model.predict_proba([row], calibrate=False)[0], rtol=1e-12
    )


@pytest.mark.parametrize("learner", ["lda", "qda"])
def test_discriminants_of_tables_are_not_shrunk(learner):
    random = np.random.default_rng(0)
    table = {name: random.normal(np.arange(60) % 2).tolist() for name in "ab"}
    model = train_table(table, ["no", "yes"] * 30, learner=learner, textbook=True)
    assert model.recipe.blocks[0].conditional.shrinkage == 0.0


@together
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"learner": "auto"}, "cannot be combined with several learners"),
        ({"learner": ["multinomial", "softmax"]}, "cannot be combined with several learners"),
        ({"learner": "multinomial:prior=uniform"}, "maximum likelihood"),
        ({"features": "auto"}, "these features"),
        ({"budget": 3.0}, "`budget`"),
        ({"stream": True}, "`stream`"),
        ({"columns": {"a": "bins"}}, "intervals"),
    ],
    ids=str,
)
def test_what_contradicts_a_textbook_is_refused_with_what_to_do(given, told):
    with pytest.raises(InputError, match=told) as refused:
        textodds.train(TEXTS, LABELS, textbook=True, **given)
    assert refused.value.hint


def test_a_model_that_is_like_another_has_its_choices():
    table = {"a": [1.0, 2.0, 3.0, 4.0]}
    model = train_table(table, ["x", "x", "y", "y"])
    with pytest.raises(InputError, match="`like`"):
        train_table(table, ["x", "x", "y", "y"], like=model, textbook=True)


def test_compare_audit_and_spark_honour_it():
    found = textodds.compare(TEXTS, LABELS, models="multinomial, softmax", sizes=(), textbook=True)
    made = {row.name: row.made for row in found.rows}
    assert made["multinomial"].endswith("1")
    assert "1" in made["softmax"]
    looked = audit(TEXTS, LABELS, textbook=True).model
    assert (looked.recipe.learner.alpha, looked.calibration) == (1.0, None)
    plan = plan_on_spark(None, None, {"textbook": True})
    assert (plan.calibrate, plan.recipe().learner.alpha) == (False, 1.0)
    assert plan_of(None, None, {}, textbook=True).calibrate is False


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("learner", "share"), [(None, 0.720), ("categorical", 0.720), ("categorical:alpha=0", 0.795)]
)
def test_play_tennis_is_as_mitchell_has_it(learner, share, data_folder):
    r"""With alpha = 1, (n + 1) / (N + values) for every column; by hand 0.018222 against 0.007084."""
    model = textodds.train(data_folder / "tab_play_tennis/train.csv.gz", learner=learner, textbook=True)
    said = model({"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"})
    assert said.label == "No"
    assert said.probability == pytest.approx(share, abs=5e-4)
