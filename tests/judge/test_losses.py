"""Losses as they are given, and what is wrong with them."""

import numpy as np
import pytest

from pairs import together
from textodds.errors import BadFile, InputError
from textodds.judge.decisions import Losses

CLASSES = ("ham", "spam", "news")


def test_a_dict_a_text_and_a_file_say_the_same(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("truth,spam,ham,news\nham,20,0,1\nnews,1,3,0\nspam,0,1,1\n")
    by_dict = Losses.of({("ham", "spam"): 20, ("news", "ham"): 3}, CLASSES)
    by_text = Losses.of_text("ham->spam: 20, news -> ham : 3.0", CLASSES)
    expected = [[0, 20, 1], [1, 0, 1], [3, 1, 0]]
    for losses in (by_dict, by_text, Losses.of_csv(path, CLASSES)):
        np.testing.assert_array_equal(losses.matrix, expected)
        assert losses.most == 20


def test_what_is_not_given_costs_one_where_wrong_and_nothing_where_right():
    np.testing.assert_array_equal(Losses.zero_one(CLASSES).matrix, 1 - np.eye(3))
    assert Losses.zero_one(CLASSES).most == 1


def test_the_largest_cost_is_that_of_the_matrix():
    random = np.random.default_rng(0)
    for _ in range(200):
        pairs = {
            (CLASSES[i], CLASSES[j]): float(random.choice([0.0, 0.25, 1.0, 4.0]))
            for i, j in random.integers(0, 3, (random.integers(0, 12), 2))
        }
        losses = Losses.of(pairs, CLASSES)
        assert losses.most == losses.matrix.max()


def test_expected_losses_are_the_product_with_the_matrix():
    random = np.random.default_rng(1)
    p = random.dirichlet(np.full(3, 0.3), size=500)
    losses = Losses.of(
        {("ham", "spam"): 20, ("spam", "spam"): 0.5, ("news", "ham"): 0, ("news", "news"): 2}, CLASSES
    )
    np.testing.assert_allclose(losses.expected(np.log(p)), p @ losses.matrix, rtol=1e-12, atol=1e-15)


def test_the_loss_of_the_almost_certain_keeps_its_digits():
    """1 - p is zero where p rounds to one; what is expected to be lost is not."""
    losses = Losses.of_text("ham->spam: 1e18", ("ham", "spam"))
    expected = losses.expected(np.array([[np.log(1e-20), 0.0]]))
    np.testing.assert_allclose(expected, [[1.0, 0.01]], rtol=1e-12)


def test_costs_of_answers_are_cells_of_the_matrix():
    losses = Losses.of_text("ham->spam: 20, spam->spam: 0.5", CLASSES)
    truth, answer = (each.ravel() for each in np.indices((3, 3)))
    np.testing.assert_array_equal(losses.cost(truth, answer), losses.matrix.ravel())


def test_ten_thousand_classes_cost_no_matrix():
    classes = tuple(f"c{k}" for k in range(10_000))
    losses = Losses.of_text("c1->c2: 9", classes)
    assert losses.costs.shape == (1, 1)
    assert losses.most == 9
    p = np.full((2, 10_000), 1e-4)
    np.testing.assert_allclose(losses.expected(np.log(p))[:, :3], [[0.9999, 0.9999, 0.9999 + 8e-4]] * 2)


@together
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ham->spma: 20", "the losses name `spma`, which is not a class; did you mean `spam`?"),
        ("eggs->ham: 1", "the losses name `eggs`, which is not a class"),
        ("ham->spam: -1", "the loss of ham->spam is -1"),
        ("ham->spam: nan", "the loss of ham->spam is nan"),
        ("ham->spam: inf", "the loss of ham->spam is inf"),
        ("ham->spam", "`ham->spam` is not a loss"),
        ("ham-spam: 2", "`ham-spam: 2` is not a loss"),
        ("ham->spam: dear", "`ham->spam: dear` is not a loss"),
        ("->spam: 2", "`->spam: 2` is not a loss"),
        ("ham->spam: 2, ham->spam: 3", "the loss of ham->spam is given twice"),
        ("  , ", "`--loss` names no class"),
        ("", "`--loss` names no class"),
    ],
)
def test_a_text_that_is_no_losses_is_refused(text, problem):
    with pytest.raises(InputError) as caught:
        Losses.of_text(text, CLASSES)
    assert caught.value.problem == problem
    assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the header of `l.csv` has no `ham`"),
        ("truth,ham,spam,spma\n", "the header of `l.csv` has `spma`, which is not a class; did you mean"),
        ("truth,ham,spam,spam\n", "the header of `l.csv` has `spam` twice"),
        ("truth,ham,spam\n", "the header of `l.csv` has no `news`"),
        ("t,ham,spam,news\nham,0,1,1\n", "the first column of `l.csv` has no `spam`"),
        ("t,ham,spam,news\nham,0,1\nspam,1,0,1\nnews,1,1,0\n", "`l.csv`, row 2: 2 costs for 3 classes"),
        ("t,ham,spam,news\nham,0,1,1\nspam,,0,1\nnews,1,1,0\n", "`l.csv`, row 3: `` is not a cost"),
        ("t,ham,spam,news\nham,0,1,1\nspam,-2,0,1\nnews,1,1,0\n", "the loss of spam->ham is -2"),
    ],
)
def test_a_file_that_is_no_losses_is_refused(tmp_path, monkeypatch, content, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        Losses.of_csv("l.csv", CLASSES)
    assert caught.value.problem.startswith(problem)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(BadFile, match=r"no file at `nowhere\.csv`"):
        Losses.of_csv("nowhere.csv", CLASSES)
