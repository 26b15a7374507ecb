"""`textodds.train` with something left to choose: ordinary data, odd data, and what is kept of it."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import textodds
from textodds.errors import InputError, NoData, TextoddsError
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.text import Weighting
from textodds.text.settings import FEATURES
from textodds.training.choose import Pins, candidates
from textodds.training.choose.candidates import AGAINST
from textodds.training.choose.race import FIRST

from .made_up import drawn, misleading

pytestmark = pytest.mark.slow

FRESH = drawn(400, seed=1)
GENEROUS = 600


def same_weights(model, other):
    """Whether two models say the same of new texts, before anything is made of it."""
    assert model.classes_ == other.classes_
    np.testing.assert_array_equal(model.score(FRESH[0])[0], other.score(FRESH[0])[0])


def tried(model):
    return {line["name"] for line in model.info["chosen"]["tried"]}


def test_what_was_tried_is_in_the_model(auto):
    chosen = auto.info["chosen"]
    assert len(tried(auto)) > 10
    assert chosen["tried"][0]["name"].startswith(f"{chosen['learner']}, {chosen['features']}")
    assert auto.recipe.as_dict()["learner"]["learner"] == chosen["learner"]
    for name, value in FEATURES[chosen["features"]].items():
        assert getattr(auto.recipe.settings, name) == value
    assert chosen["budget"] == GENEROUS


def test_the_held_out_loss_foretells_that_on_new_texts(auto):
    texts, labels = FRESH
    found = log_loss(labels, auto.predict_proba(texts))
    assert auto.info["chosen"]["log_loss"] == pytest.approx(found, rel=0.15)


def test_the_same_data_give_the_same_file_on_any_number_of_threads(auto, texts, tmp_path):
    for threads in (1, 2):
        again = textodds.train(*texts, learner="auto", budget=GENEROUS, threads=threads)
        assert again.info["chosen"] == auto.info["chosen"]
        auto.save(tmp_path / "first")
        again.save(tmp_path / "again")
        assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()


def test_a_model_that_was_saved_answers_as_before_and_knows_how_it_was_chosen(auto, tmp_path):
    auto.save(tmp_path / "m")
    loaded = textodds.load(tmp_path / "m")
    same_weights(loaded, auto)
    np.testing.assert_array_equal(loaded.predict_proba(FRESH[0]), auto.predict_proba(FRESH[0]))
    assert loaded.info["chosen"] == auto.info["chosen"]
    assert loaded.recipe == auto.recipe


@pytest.mark.parametrize("learner", ["auto", ["softmax", "nb-softmax"], ["bernoulli", "complement"]], ids=str)
def test_the_recipe_in_the_file_trains_the_same_weights_again(texts, tmp_path, learner):
    model = textodds.train(*texts, learner=learner, features=["words", "pairs"])
    model.save(tmp_path / "m")
    recipe = textodds.load(tmp_path / "m").recipe
    given = {"learner": recipe.learner, "settings": recipe.settings, "weighting": recipe.weighting}
    again = textodds.train(*texts, **given, min_df=recipe.selection.min_df)
    same_weights(again, model)


def test_features_and_learners_that_are_asked_for_are_those_that_are_tried(texts):
    model = textodds.train(*texts, learner=("multinomial", "softmax"), features=("words", "pairs"))
    assert {tuple(name.split(", ")[:2]) for name in tried(model)} == {
        (learner, features) for learner in ("multinomial", "softmax") for features in ("words", "pairs")
    }


def test_features_alone_are_taken_without_a_race_where_the_learner_is_named(texts):
    model = textodds.train(*texts, learner="nb-softmax", features="letters")
    assert "chosen" not in model.info
    same_weights(model, textodds.train(*texts, learner="nb-softmax", **FEATURES["letters"]))


def test_a_chosen_model_of_counts_learns_and_forgets(texts):
    chosen = textodds.train(*texts, learner=["multinomial", "bernoulli", "complement"], features="auto")
    before = chosen.score(FRESH[0])[0]
    chosen.learn(["w0x1 c5"], ["k0"])
    assert not np.array_equal(chosen.score(FRESH[0])[0], before)
    chosen.forget(["w0x1 c5"], ["k0"])
    np.testing.assert_allclose(chosen.score(FRESH[0])[0], before, rtol=1e-12)


def test_chosen_models_of_counts_are_merged_where_they_have_the_same_recipe(texts):
    given = {"learner": ["multinomial", "bernoulli"], "features": ["words"]}
    model = textodds.train(*texts, **given)
    recipe = model.recipe
    more = drawn(200, seed=3)
    other = textodds.train(*more, learner=recipe.learner, settings=recipe.settings)
    both = textodds.train(
        [*texts[0], *more[0]], [*texts[1], *more[1]], learner=recipe.learner, settings=recipe.settings
    )
    np.testing.assert_allclose((model + other).score(FRESH[0])[0], both.score(FRESH[0])[0], rtol=1e-12)


def test_a_chosen_softmax_model_learns_and_forgets(texts):
    model = textodds.train(*texts, learner=["softmax", "nb-softmax"], features="words")
    before, recipe = model.class_documents, model.recipe
    model.learn(["w0x1"], ["k0"])
    assert model.class_documents["k0"] == before["k0"] + 1
    model.forget(["w0x1"], ["k0"])
    assert (model.class_documents, model.recipe) == (before, recipe)
    with pytest.raises(TextoddsError, match="was not learned as `k0`"):
        model.forget(["w0x1"], ["k0"])


def test_softmax_chooses_its_features_by_itself_within_its_budget(texts):
    model = textodds.train(*texts, learner="softmax")
    assert {name.split(", ")[1] for name in tried(model)} == set(FEATURES)
    assert len(tried(textodds.train(*texts, learner="softmax", budget=0))) == 1


def test_a_penalty_that_is_given_is_kept_whatever_features_win(texts):
    model = textodds.train(*texts, learner=SoftmaxLearner(C=0.7), features="auto")
    assert model.recipe.learner == SoftmaxLearner(C=0.7)
    assert len(tried(model)) > 3


def test_without_a_budget_there_is_a_sound_model_at_once(texts):
    model = textodds.train(*texts, learner="auto", budget=0)
    assert tried(model) == {"multinomial, words"}
    assert len(model.info["chosen"]["no_time"]) > 10
    same_weights(model, textodds.train(*texts, learner=textodds.MultinomialNB(alpha=None)))


def test_a_class_that_the_first_lap_has_not_seen_is_learned_all_the_same():
    """Where there was no time for a lap of all texts, held-out scores know fewer classes than the model."""
    texts, labels = drawn(2 * FIRST + 200, 2)
    for i in range(4):
        labels[1000 * i] = f"rare{i}"
    model = textodds.train(texts, labels, learner=["softmax", "nb-softmax"], features="words", budget=0)
    assert model.info["chosen"]["texts"] == FIRST
    assert len(model.classes_) == 6
    assert np.isfinite(model.predict_log_proba(texts[:10])).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_texts_to_choose_by_get_naive_bayes(n):
    texts, labels = drawn(n)
    model = textodds.train(texts, labels, learner="auto")
    same_weights(model, textodds.train(texts, labels))
    assert "chosen" not in model.info


def test_too_few_texts_get_what_was_asked_for_first(texts):
    few = texts[0][:3], texts[1][:3]
    model = textodds.train(*few, learner=["bernoulli", "softmax"], features=["letters", "words"])
    assert model.recipe.as_dict()["learner"]["learner"] == "bernoulli"
    assert model.recipe.settings.unit == "characters-in-words"


def test_one_class_is_learned_without_a_race():
    model = textodds.train(drawn(150)[0], ["only"] * 150, learner="auto")
    assert model("anything").label == "only"
    assert "chosen" not in model.info


def test_a_class_of_one_text_among_others_is_no_obstacle(texts):
    labels = ["one", *texts[1][1:]]
    model = textodds.train(texts[0], labels, learner="auto")
    assert "one" in model.classes_
    assert "chosen" in model.info
    assert len(textodds.train(texts[0], ["a"] * 299 + ["b"], learner="auto").classes_) == 2


@pytest.mark.parametrize("text", ["", "the very same", "?!"])
def test_texts_that_say_nothing_leave_the_shares_of_the_classes(text):
    labels = ["a", "a", "b"] * 60
    model = textodds.train([text] * 180, labels, learner="auto")
    np.testing.assert_allclose(model.predict_proba([text, ""])[0], [2 / 3, 1 / 3], atol=0.01)
    assert model.info["chosen"]["log_loss"] == pytest.approx(0.6365, abs=0.01)  # the entropy of ⅓


def test_where_labels_are_tossed_probabilities_say_so():
    """Nothing can be learned; on new texts the loss is the entropy, or hardly more."""
    random = np.random.default_rng(5)
    labels = random.choice(["a", "b", "c"], 600, p=[0.5, 0.3, 0.2]).tolist()
    model = textodds.train(drawn(600)[0], labels, learner="auto")
    shares = np.array([labels.count(name) for name in "abc"]) / 600
    entropy = -float(shares @ np.log(shares))
    assert model.info["chosen"]["log_loss"] == pytest.approx(entropy, abs=0.03)
    fresh = random.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2])
    assert log_loss(fresh, model.predict_proba(FRESH[0])) == pytest.approx(entropy, abs=0.06)


def test_what_one_word_says_is_learned_to_the_last():
    texts, labels = ["yes", "no", "perhaps"] * 50, ["a", "b", "c"] * 50
    model = textodds.train(texts, labels, learner="auto")
    assert model.predict(["yes", "no", "perhaps"]).tolist() == ["a", "b", "c"]
    assert model.info["chosen"]["log_loss"] < 0.05


def test_very_long_texts_beside_very_short_ones(texts):
    long = [f"{text} {' '.join(f'z{i % 997}' for i in range(20_000))}" for text in texts[0][:3]]
    rows = [*long, *texts[0], *["x"] * 20], [*texts[1][:3], *texts[1], *["k0"] * 20]
    usual = textodds.train(*rows, learner="multinomial").evaluate(*FRESH).log_loss
    chosen = textodds.train(*rows, learner="auto", features=["words", "pairs"])
    assert chosen.evaluate(*FRESH).log_loss < usual + 0.05


@pytest.mark.parametrize(("K", "learner"), [(200, ["softmax", "nb-softmax"]), (30, "auto")])
def test_many_classes_of_a_few_texts_each(K, learner):
    texts, labels = drawn(5 * K, K, doubt=0.05)
    model = textodds.train(texts, labels, learner=learner, features="words", min_df=1, budget=GENEROUS)
    assert len(model.classes_) == K
    fresh = drawn(400, K, seed=2, doubt=0.05)
    accuracy = (model.predict(fresh[0]) == np.array(fresh[1])).mean()
    assert accuracy > 10 / K
    assert model.info["chosen"]["accuracy"] == pytest.approx(accuracy, abs=0.15)


def test_whole_weights_are_so_many_texts(texts):
    weights = np.where(np.arange(300) % 5 == 0, 3.0, 1.0)
    model = textodds.train(*texts, weights, learner=["multinomial", "bernoulli"], features="words")
    rows = [row for row, n in zip(zip(*texts, strict=True), weights, strict=True) for _ in range(int(n))]
    recipe = model.recipe
    again = textodds.train(*zip(*rows, strict=True), learner=recipe.learner, settings=recipe.settings)
    assert model.class_documents == again.class_documents
    np.testing.assert_allclose(model.score(FRESH[0])[0], again.score(FRESH[0])[0], rtol=1e-12)


def test_texts_without_weight_are_as_good_as_absent(texts):
    """And so is a class of which no text has any."""
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    model = textodds.train(*texts, weights, learner="auto", features="words")
    assert model.classes_ == ("k1", "k2")
    tried = model.info["chosen"]["tried"][1:]  # other weights may be ahead, by less than a standard error
    assert all(-line["error"] <= line["behind"] < 10 for line in tried)


@pytest.mark.parametrize("n", [300, 2 * FIRST + 200])
def test_so_few_texts_with_weight_that_none_is_held_out_are_learned_without_a_race(n):
    weights = np.zeros(n)
    weights[:6] = 1.0
    model = textodds.train(*drawn(n, 2), weights, learner="auto", features="words")
    assert sum(model.class_documents.values()) == 6


@pytest.mark.parametrize(
    "given",
    [
        {"stop_words": ("c1", "c2")},
        {"vocabulary": ["w0x1", "w1x1", "w2x1", "c1"]},
        {"hash_bits": 10},
        {"ngrams": (1, 2)},
        {"weighting": Weighting("binary")},
        {"min_df": 3},
        {"max_features": 40},
        {"sklearn": True},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_is_given_is_in_the_recipe_that_wins(texts, given):
    few = texts[0][:320], texts[1][:320]
    learners = ["softmax", "nb-softmax"] if "weighting" in given else ["multinomial", "softmax"]
    model = textodds.train(*few, learner=learners, **given)
    chosen = model.info["chosen"]
    shape = {} if chosen["features"] == "as given" else FEATURES[chosen["features"]]
    wanted = textodds.train(*few, learner=chosen["learner"], **shape, **given).recipe
    assert model.recipe.settings == wanted.settings
    assert model.recipe.selection == wanted.selection
    assert "weighting" not in given or model.recipe.weighting == given["weighting"]


@pytest.mark.parametrize("min_df", [280, 0.9])
def test_words_that_must_be_in_many_texts_are_found_in_a_part_of_them_too(texts, min_df):
    """A number of texts is meant for all of them: of a fold, or of the first lap, it is too many."""
    always = [f"{text} always" for text in texts[0]]
    model = textodds.train(always, texts[1], learner="auto", features="words", min_df=min_df)
    assert "always" in {word for word, _ in model.top_words("k0", 10)}


def test_typical_texts_are_kept_by_learners_that_can_and_refused_beside_others():
    given = {"features": "words", "typical": True}
    either = ["multinomial", "bernoulli"]
    assert textodds.train(*misleading(200), learner=either, **given).familiarity(["sure0"])
    with pytest.raises(InputError, match="`typical` is for single words"):
        textodds.train(*misleading(200), features=["words", "pairs"], typical=True)
    with pytest.raises(InputError, match="`typical` is for one learner"):
        textodds.train(*misleading(200), learner=["softmax", "multinomial"], **given)


def test_without_calibration_counts_are_chosen_by_what_they_say_uncalibrated(texts):
    given = {"learner": ["multinomial", "bernoulli"], "features": "letters"}
    model = textodds.train(*texts, **given, calibrate=False)
    found = log_loss(FRESH[1], model.predict_proba(FRESH[0]))
    assert model.info["chosen"]["log_loss"] == pytest.approx(found, rel=0.3)


def test_nothing_to_learn_from_is_said():
    with pytest.raises(NoData, match="has no row to learn from"):
        textodds.train([], [], learner="auto")
    with pytest.raises(NoData, match="has no row to learn from"):
        textodds.train(["a"] * 200, ["x", "y"] * 100, np.zeros(200), learner="auto")


def test_a_table_has_no_features_to_choose_and_gets_the_learner_of_tables():
    table = {"height": [170.0, 180.0] * 60, "label": ["f", "m"] * 60}
    model = textodds.train(table, label="label", learner="auto")
    assert model.kind == "tables"
    assert model.predict({"height": [180.0]}).tolist() == ["m"]


@pytest.mark.parametrize("given", [{"features": "pairs"}, {"learner": ["multinomial", "softmax"]}], ids=str)
def test_a_table_is_not_taken_where_features_or_learners_of_texts_are_asked_for(given):
    table = {"height": [170.0, 180.0] * 60, "label": ["f", "m"] * 60}
    with pytest.raises(TextoddsError):
        textodds.train(table, label="label", **given)


def test_unlabelled_texts_do_not_go_with_a_choice(texts):
    with pytest.raises(TextoddsError, match="unlabelled"):
        textodds.train(*texts, features="pairs", unlabelled=["w0x1 c1"])


@pytest.mark.parametrize("n", [8, 16])
def test_from_eight_texts_on_a_model_is_chosen_and_calibrated_but_promises_nothing(n):
    texts, labels = drawn(n)
    model = textodds.train(texts, labels)
    chosen = model.info["chosen"]
    assert chosen["held_out"] == n
    assert model.recipe.selection.min_df == 1  # most words of a new text are known from one text, if at all
    assert model.held_out is None
    assert model.recipe.learner.entry.needs_documents
    assert model.calibration is not None
    assert not np.ndim(model.calibration.bias)  # so few texts tell a temperature, and no bias for each class
    empty, mass = model.predict_proba([""])[0], np.array([*model.class_documents.values()])
    np.testing.assert_allclose(empty.sum(), 1.0)
    assert mass.sum() == n


@pytest.mark.parametrize("threads", [2, 3])
def test_few_texts_choose_the_same_on_any_number_of_threads(threads):
    texts, labels = drawn(40)
    one, several = (textodds.train(texts, labels, threads=n) for n in (1, threads))
    assert one.info["chosen"] == several.info["chosen"]
    same_weights(one, several)


def test_min_df_that_is_given_stays_where_texts_are_few(texts):
    few = texts[0][:60], texts[1][:60]
    model = textodds.train(*few, learner=["softmax", "nb-softmax"], min_df=2)
    assert model.recipe.selection.min_df == 2


def test_prior_odds_decide_between_candidates_that_texts_cannot_tell_apart():
    odds = {one.name: one.prior_odds for one in candidates(Pins())}
    assert odds["softmax, characters"] == 0.0 == odds["softmax, letters"]
    assert odds["nb-softmax, characters"] == 0.0 == odds["nb-softmax, letters"]
    assert odds["softmax, words"] == AGAINST == odds["multinomial, letters"]
    assert odds["multinomial, words"] == 2 * AGAINST
    binary = next(one for one in candidates(Pins()) if one.name == "softmax, words").reweighted()[0]
    assert binary.prior_odds == 2 * AGAINST
