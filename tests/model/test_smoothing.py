"""The smoothing of naive Bayes is chosen: when, by what, and what becomes of it as models change."""

import numpy as np
import pytest

import textodds
from textodds.errors import InputError
from textodds.learn.recipe import Recipe

P = 1 / np.arange(1, 401)
KINDS = ["multinomial", "multinomial:binary", "bernoulli", "complement"]


def drawn(N, seed):
    """Texts of two classes: words of one language, and some of the class alone, many of them rare."""
    random = np.random.default_rng(seed)
    labels = np.where(random.random(N) < 0.4, "spam", "ham")
    ranks = random.choice(len(P), (N, 8), p=P / P.sum())
    own = random.random((N, 8)) < 0.3
    return [
        " ".join(f"{label if mine else 'w'}{rank}" for rank, mine in zip(*row, strict=True))
        for label, *row in zip(labels.tolist(), ranks.tolist(), own.tolist(), strict=True)
    ], labels.tolist()


JANUARY, FEBRUARY, MARCH, FEW = drawn(300, 1), drawn(400, 2), drawn(150, 3), drawn(7, 4)
NEW = drawn(50, 5)[0]


def trained(rows, learner="multinomial", **options):
    return textodds.train(*rows, learner=learner, **options)


def together(*parts):
    """The rows of several data sets."""
    return tuple([each for part in parts for each in part[i]] for i in range(2))


def alpha(model):
    return model.recipe.learner.alpha


def same(one, two):
    """Whether two models say the same, to the bit, and were made by the same choices."""
    assert one.recipe == two.recipe
    np.testing.assert_array_equal(one.predict_proba(NEW), two.predict_proba(NEW))


@pytest.mark.parametrize("kind", KINDS)
def test_the_smoothing_is_chosen_unless_it_is_given(kind):
    model = trained(JANUARY, kind)
    assert alpha(model) != 1.0
    assert alpha(trained(JANUARY, f"{kind}:alpha=1")) == 1.0
    # Three digits say all of it: whoever names it gets the same model.
    np.testing.assert_array_equal(
        model.predict_proba(NEW), trained(JANUARY, f"{kind}:alpha={alpha(model)}").predict_proba(NEW)
    )


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (FEW, {}),
        (JANUARY, {"textbook": True}),
        (JANUARY, {"unknown": "first"}),
        (JANUARY, {"learner": textodds.MultinomialNB()}),
        ((JANUARY[0], ["ham"] * 300), {}),
    ],
    ids=["few texts", "textbook", "unknown words", "an estimator's own", "one class"],
)
def test_the_smoothing_is_1_where_it_is_not_chosen(rows, options):
    assert alpha(trained(rows, **options)) == 1.0


def test_the_order_of_the_texts_does_not_matter_to_the_smoothing():
    backwards = tuple(part[::-1] for part in JANUARY)
    same(trained(JANUARY), trained(backwards))


def test_the_choice_stays_while_a_model_learns_and_forgets_and_asking_again_chooses_again():
    model = trained(JANUARY)
    before = alpha(model)
    model.learn(*FEBRUARY)
    assert alpha(model) == before
    same(textodds.train(like=model), trained(together(JANUARY, FEBRUARY)))
    model.forget(*FEBRUARY)
    same(model, trained(JANUARY))


@pytest.mark.parametrize("kind", KINDS)
def test_merged_models_choose_by_all_of_their_documents(kind):
    january, february = trained(JANUARY, kind), trained(FEBRUARY, kind)
    assert alpha(january) != alpha(february)
    both = january + february
    same(both, trained(together(JANUARY, FEBRUARY), kind))
    same(both, february + january)
    same(both - february, january)


def test_models_of_few_texts_choose_once_they_are_enough_together():
    january, march, few = (trained(part) for part in (JANUARY, MARCH, FEW))
    same((january + march) + few, january + (march + few))
    same((january + march) + few, trained(together(JANUARY, MARCH, FEW)))
    assert alpha(few + few) == 1.0
    assert alpha(few + few + few) != 1.0


def test_without_documents_merged_models_have_a_smoothing_between_theirs_by_their_shares():
    january, february = (trained(part, documents=False) for part in (JANUARY, FEBRUARY))
    both = january + february
    same(both, february + january)
    shares = np.array([300, 400]) / 700
    expected = np.exp(shares @ np.log([alpha(january), alpha(february)]))
    assert alpha(both) == pytest.approx(expected, rel=5e-3)
    assert alpha(both - february) == alpha(both)
    # One that has its documents does not know those of the other.
    assert alpha(trained(JANUARY) + february) == alpha(both)


def test_a_smoothing_that_was_given_merges_with_the_same_number_only():
    given = trained(FEBRUARY, "multinomial:alpha=1")
    with pytest.raises(
        InputError, match=r"different settings: alpha is .* in one and 1.0 in the other"
    ) as told:
        _ = trained(JANUARY) + given
    assert "multinomial:alpha=1" in told.value.hint
    with pytest.raises(InputError, match=r"alpha is 1\.0 in one"):
        _ = given + trained(JANUARY)
    few = trained(FEW)
    for both in (given + few, few + given):
        same(both, trained(together(FEBRUARY, FEW), "multinomial:alpha=1"))


def test_a_file_knows_that_the_smoothing_was_chosen(tmp_path):
    model = trained(JANUARY)
    model.save(tmp_path / "january.textodds")
    same(textodds.load(tmp_path / "january.textodds"), model)
    both = textodds.load(tmp_path / "january.textodds") + trained(FEBRUARY)
    both.save(tmp_path / "both.textodds")
    same(textodds.train(like=tmp_path / "both.textodds"), trained(together(JANUARY, FEBRUARY)))


@pytest.mark.parametrize("learner", [{"learner": "lda"}, {"learner": "multinomial", "alpha": [0.5, 0.5]}])
def test_a_recipe_that_says_so_of_what_has_no_one_smoothing_is_refused(learner):
    plain = trained(JANUARY).recipe.as_dict()
    assert plain["smoothing"] == "chosen"
    with pytest.raises(InputError, match="a smoothing that was chosen is one number"):
        Recipe.of_dict({**plain, "learner": learner})


def test_fit_chooses_as_train_does_and_batches_have_1_however_they_are_cut():
    same(textodds.TextClassifier().fit(*JANUARY).model_, trained(JANUARY))
    whole = textodds.TextClassifier().partial_fit(*JANUARY).model_
    assert alpha(whole) == 1.0
    parts = textodds.TextClassifier()
    for start in range(0, 300, 130):
        parts.partial_fit(*(part[start : start + 130] for part in JANUARY))
    same(parts.model_, whole)
