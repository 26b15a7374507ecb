"""The texts most worth a label: in doubt, like many others in doubt, unlike one another."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

import textodds
from pairs import together
from textodds.errors import InputError, Unsupported
from textodds.study.active import Useful, doubt, most_useful, unit_rows
from textodds.text import TextSettings

LEARNERS = (
    "multinomial", "bernoulli", "complement", "semisupervised", "softmax", "nb-softmax", "lda", "qda",
    "gaussian",
)  # fmt: skip


def drawn(N, seed, unknown=0):
    """Texts of words of two classes, of both, and of words that only few texts have; and their labels."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(N):
        k = int(random.integers(2))
        own = [f"{'pq'[k]}{random.integers(15):02}" for _ in range(random.integers(1, 5))]
        both = [f"m{random.integers(20):02}" for _ in range(random.integers(1, 6))]
        new = [f"z{random.integers(30):02}" for _ in range(random.integers(0, unknown + 1))]
        texts.append(" ".join([*own, *both, *new]))
        labels.append("pq"[k])
    return texts, labels


def trained(learner="multinomial", N=40):
    texts, labels = drawn(N, seed=1)
    if learner == "semisupervised":
        return textodds.train(texts, labels, unlabelled=drawn(30, seed=2)[0])
    return textodds.train(texts, labels, learner=learner, features="words")  # softmax would choose others


def by_definition(model, texts, n):
    """Equations (1) to (3), pair by pair, over the rows of scikit-learn."""
    rows = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\S+").fit_transform(texts).toarray()
    ranked = np.sort(model.predict_proba(texts), axis=1)
    d = [1.0 - (row[-1] - row[-2]) for row in ranked]
    known = [model(text).evidence > 0 for text in texts]
    everyone = range(len(texts))
    s = [[float(rows[i] @ rows[j]) for j in everyone] for i in everyone]
    d = [d[i] if s[i][i] > 0 else 0.0 for i in everyone]
    chosen, r = [], list(d)
    while len(chosen) < n:
        free = [i for i in everyone if s[i][i] > 0 and all(s[i][a] < 1 - 1e-9 for a, _ in chosen)]
        if not free:
            break
        u = {i: r[i] * sum(s[i][j] * r[j] for j in everyone if j != i or known[i]) / sum(d) for i in free}
        best = max(free, key=u.__getitem__)
        chosen.append((best, u[best]))
        r = [d[j] * math.prod(1 - s[a][j] for a, _ in chosen) for j in everyone]
    return chosen


def both_by_hand():
    """Words of one class each: p(x | aa) = 2/3, p(x | aa bb) = 1/2."""
    return textodds.train(["aa", "bb"], ["x", "y"])


@together
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_choice_is_that_of_the_definition_for_every_learner(learner):
    model = trained(learner)
    assert model.recipe.as_dict()["learner"]["learner"] == learner
    texts = [*drawn(80, seed=3, unknown=3)[0], "", "zebra", "z01 z02 z03"]
    found, wanted = most_useful(model, texts, 12), by_definition(model, texts, 12)
    assert [text.index for text in found] == [i for i, _ in wanted]
    np.testing.assert_allclose([text.usefulness for text in found], [u for _, u in wanted], rtol=1e-7)
    for text in found:
        assert (text.label, text.probability) == (
            model(texts[text.index]).label,
            pytest.approx(model(texts[text.index]).probability),
        )


def test_probabilities_are_the_calibrated_ones_where_there_are_such():
    model, texts = trained(N=150), drawn(80, seed=8)[0]
    assert model.calibration is not None
    assert np.abs(model.predict_proba(texts) - model.predict_proba(texts, calibrate=False)).max() > 0.01
    found, wanted = most_useful(model, texts), by_definition(model, texts, 10)
    assert [text.index for text in found] == [i for i, _ in wanted]
    np.testing.assert_allclose([text.usefulness for text in found], [u for _, u in wanted], rtol=1e-7)
    for text in found:
        assert text.probability == pytest.approx(model(texts[text.index]).probability)


def test_usefulness_is_what_is_reckoned_by_hand():
    # Every word is in two of three texts, so the rows are (1, 0), (0, 1) and (1, 1) / sqrt 2; the doubts are
    # 2/3, 2/3 and 1, of which the first choice leaves 1 - 1 / sqrt 2.
    root = math.sqrt(2)
    left = 2 / 3 * (1 - 1 / root)
    first, second, third = most_useful(both_by_hand(), ["aa", "bb", "aa bb"])
    assert first == Useful(2, "x", pytest.approx(0.5), pytest.approx((1 + 2 * (2 / 3) / root) / (7 / 3)))
    assert second == Useful(0, "x", pytest.approx(2 / 3), pytest.approx(left**2 / (7 / 3)))
    assert third == Useful(1, "y", pytest.approx(2 / 3), pytest.approx(left**2 / (7 / 3)))


def test_doubt_is_one_less_the_margin_and_keeps_its_digits_where_the_model_is_sure():
    found = doubt(np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3], [1.0, 1e-30, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(found, [0.8, 1.0, 2e-30, 0.0], rtol=1e-12)


def test_a_text_that_is_like_nothing_else_comes_after_one_that_is_like_many():
    model = both_by_hand()
    crowd = [f"aa bb red green w{i}" for i in range(10)]
    texts = ["aa bb lone strange", *crowd]
    plain = doubt(model.predict_proba(texts))
    assert plain[0] == pytest.approx(plain.max())  # least margin cannot tell it from the others
    assert most_useful(model, texts, 1)[0].index != 0
    assert most_useful(model, [crowd[0], "bb aa yellow", *["bb aa yellow"] * 9], 1)[0].index == 1


def test_choices_are_of_several_kinds_where_least_margin_takes_all_of_one():
    model = textodds.train(["aa", "bb", "cc cc dd"], ["x", "y", "y"])
    one = [f"aa bb red green blue white w{i}" for i in range(6)]
    other = [f"aa cc north south east west v{i}" for i in range(6)]
    texts = [*one, *other]
    order = np.argsort(-doubt(model.predict_proba(texts)), kind="stable")
    assert len({i // 6 for i in order[:6].tolist()}) == 1
    assert len({text.index // 6 for text in most_useful(model, texts, 2)}) == 2


def test_texts_without_words_are_never_asked_for():
    model = both_by_hand()
    assert [text.index for text in most_useful(model, ["", "aa", " \n", "!?", "bb aa"])] == [4, 1]
    assert most_useful(model, ["", " ", "..."]) == []


def test_a_text_without_a_known_word_is_of_use_to_others_like_it_only():
    model = both_by_hand()
    found = most_useful(model, ["qwerty", "aa aa bb"])
    assert [(text.index, text.usefulness > 0) for text in found] == [(1, True), (0, False)]
    assert found[1].usefulness == 0.0
    subject = [f"comet orbit c{i}" for i in range(8)]
    assert most_useful(model, ["aa aa bb", *subject], 1)[0].index > 0


def test_texts_with_the_same_words_are_asked_for_once_the_first_of_them():
    model = both_by_hand()
    texts = ["bb", "aa bb", "bb aa", "aa bb", "AA  bb!", "bb"]
    assert [text.index for text in most_useful(model, texts)] == [1, 0]


def test_the_same_words_are_those_of_the_settings_of_the_model():
    model = textodds.train(["aa bb", "bb aa cc"], ["x", "y"], ngrams=(1, 2))
    assert sorted(text.index for text in most_useful(model, ["aa bb", "bb aa", "AA BB"])) == [0, 1]


def test_copies_make_a_text_more_worth_asking_for():
    model = both_by_hand()
    pair = ["aa bb red", "aa bb green"]
    assert most_useful(model, pair)[0].index == 0  # as useful as the other, and first
    assert most_useful(model, [*pair, pair[1]])[0].index == 1


@given(st.lists(st.text("abz \u00e9!", max_size=9), max_size=12), st.integers(1, 15))
def test_usefulness_is_between_0_and_1_never_grows_and_sums_to_1_at_most(texts, n):
    model = textodds.train(["a b ab", "b ba", "a"], ["x", "y", "z"])
    found = most_useful(model, texts, n)
    useful = np.array([text.usefulness for text in found])
    assert len({text.index for text in found}) == len(found) <= min(n, len(texts))
    assert ((useful >= 0) & (useful <= 1)).all()
    assert (np.diff(useful) <= 1e-8 * useful[:-1]).all()
    assert useful.sum() <= 1 + 1e-9


def test_the_order_of_the_texts_does_not_matter():
    model, texts = trained(), drawn(150, seed=4, unknown=3)[0]
    wanted = most_useful(model, texts, 15)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(texts))
        found = most_useful(model, [texts[i] for i in order], 15)
        assert [int(order[text.index]) for text in found] == [text.index for text in wanted]
        np.testing.assert_allclose([t.usefulness for t in found], [t.usefulness for t in wanted], rtol=1e-9)


def test_the_same_is_said_again_and_fewer_are_the_first_of_more():
    model, texts = trained(), drawn(100, seed=5, unknown=2)[0]
    many = most_useful(model, texts, 1000)
    assert len(many) == len({" ".join(sorted(text.split())) for text in texts})
    assert most_useful(model, texts, 1000) == many
    assert most_useful(model, tuple(texts)) == many[:10]
    model.threads = 2
    assert most_useful(model, texts, 4) == many[:4]


def test_a_model_of_one_class_asks_for_one_of_each_kind_the_largest_first():
    model = textodds.train(["aa bb"], ["x"])
    kinds = [("sun moon star", 3), ("cat dog horse", 7), ("tea milk bread", 5)]
    texts = [f"{words} {words[0]}{i}" for words, size in kinds for i in range(size)]
    first = [text.index for text in most_useful(model, texts, 3)]
    assert [i < 3 for i in first] == [False, False, True]
    assert [3 <= i < 10 for i in first] == [True, False, False]


def test_a_model_that_is_sure_of_all_to_the_last_digit_still_answers():
    model = textodds.train(["aa " * 50, "bb " * 50], ["x", "y"])
    found = most_useful(model, ["aa " * 3000, "bb " * 3000, "aa cc " * 3000])
    assert sorted(text.index for text in found) == [0, 1, 2]
    assert all(text.usefulness == 0.0 and text.probability == 1.0 for text in found)


@together
@pytest.mark.parametrize(
    "settings",
    [
        {"ngrams": (1, 2)},
        {"hash_bits": 9},
        {"unit": "characters-in-words", "ngrams": (2, 3)},
        {"characters": (2, 3)},
        {"vocabulary": ["p01", "q01", "m03", "m04"], "unknown": "count"},
    ],
    ids=str,
)
def test_any_way_of_making_terms_will_do(settings):
    texts, labels = drawn(60, seed=6)
    model = textodds.train(texts, labels, **settings)
    found = most_useful(model, [*texts, "!!!", ""], 5)
    assert len(found) == 5
    assert found[0].usefulness > found[-1].usefulness > 0


def test_rows_have_length_1_even_where_one_of_two_kinds_of_terms_is_missing():
    rows = unit_rows(["free phone", "!!!", ""], TextSettings(characters=(3, 3)))
    np.testing.assert_allclose((rows.toarray() ** 2).sum(axis=1), [1.0, 1.0, 0.0], rtol=1e-12)


def test_of_no_texts_none_is_useful():
    assert most_useful(both_by_hand(), []) == []


def test_the_model_and_the_texts_are_left_as_they_were():
    model, texts = trained(), drawn(20, seed=7)[0]
    before, given_texts = model.predict_proba(texts).tolist(), list(texts)
    most_useful(model, texts)
    assert model.predict_proba(texts).tolist() == before
    assert texts == given_texts


@together
@pytest.mark.parametrize("n", [0, -1, 2.0, True, "3", None])
def test_a_number_of_texts_that_cannot_be_is_refused(n):
    with pytest.raises(InputError, match="must be a whole number of 1 or more"):
        most_useful(both_by_hand(), ["aa"], n)


def test_one_text_or_something_else_in_the_place_of_texts_is_refused():
    with pytest.raises(InputError, match="expected several texts, got one"):
        most_useful(both_by_hand(), "aa bb")
    with pytest.raises(InputError, match="text 1 is of type `NoneType`"):
        most_useful(both_by_hand(), ["aa", None])


def test_a_model_of_a_table_is_refused():
    model = textodds.train({"height": [1.0, 2.0, 3.0, 4.0], "label": ["a", "a", "b", "b"]}, label="label")
    assert model.kind == "tables"
    with pytest.raises(Unsupported, match="model of a table"):
        most_useful(model, ["aa"])


def labelled(train, test, seed, choose, most=100):
    """Test accuracy after 20 labels drawn, and ten at a time that are chosen."""
    random = np.random.default_rng(seed)
    rows = [(train[0][i], train[1][i]) for i in random.permutation(len(train[0]))[:2000]]
    known, rows = rows[:20], rows[20:]
    model = textodds.train(*map(list, zip(*known, strict=True)))
    for _ in range(20, most, 10):
        chosen = set(choose(model, [text for text, _ in rows], random))
        assert len(chosen) == 10
        model.learn(*map(list, zip(*(rows[i] for i in sorted(chosen)), strict=True)))
        rows = [row for i, row in enumerate(rows) if i not in chosen]
    return float(np.mean(model.predict(test[0]) == np.array(test[1], dtype=object)))


@pytest.mark.realdata
@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.long)])
def test_a_hundred_labels_that_were_asked_for_are_worth_more_than_a_hundred_drawn(real_data, seeds):
    train, test = real_data("reuters_r8")

    def asked(model, texts, random):
        return [text.index for text in most_useful(model, texts)]

    def at_random(model, texts, random):
        return random.choice(len(texts), 10, replace=False).tolist()

    chosen, by_chance = (
        np.mean([labelled(train, test, seed, way) for seed in range(seeds)]) for way in (asked, at_random)
    )
    assert chosen > by_chance + 0.03
