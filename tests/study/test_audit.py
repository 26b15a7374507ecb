"""Labels that look wrong come first, each with its row, whatever the cut of the data."""

import itertools

import numpy as np
import pytest

import textodds
from pairs import together
from textodds.data import Batch, Source, read
from textodds.data.columns import ColumnRequest
from textodds.data.rejects import Rejects
from textodds.errors import InputError, Unsupported
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.study.audit import audit


def drawn(N=600, K=3, seed=0):
    """Texts that leave no doubt of their class, but for one in twelve words."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, K, N)
    texts = [
        " ".join(
            f"{'abc'[k if random.random() < 0.92 else random.integers(K)]}{random.integers(40)}"
            for _ in range(12)
        )
        for k in codes
    ]
    return texts, [f"c{k}" for k in codes]


def planted(labels, rows, K=3):
    """The labels with those of some rows, counted from 1, made wrong."""
    made = list(labels)
    for row in rows:
        made[row - 1] = f"c{(int(labels[row - 1][1:]) + 1) % K}"
    return made


WRONG = sorted(np.random.default_rng(7).choice(np.arange(1, 601), 20, replace=False).tolist())
LEARNERS = [
    MultinomialLearner(),
    MultinomialLearner(alpha=None),
    MultinomialLearner(binary=True),
    BernoulliLearner(),
    ComplementLearner(),
]


@together
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_labels_made_wrong_come_first_with_what_they_were(learner):
    texts, labels = drawn()
    found = audit(read(texts, planted(labels, WRONG)), learner=learner, most=20)
    assert sorted(suspect.row for suspect in found.suspects) == WRONG
    for suspect in found.suspects:
        assert suspect.suggested == labels[suspect.row - 1]
        assert suspect.label == planted(labels, WRONG)[suspect.row - 1]
        assert suspect.text == texts[suspect.row - 1]
        assert suspect.p_label < 0.5 < suspect.p_suggested
    assert found.disagreements == 20
    assert found.left_out.accuracy == pytest.approx(580 / 600)


def test_suspects_are_in_the_order_of_their_probability_which_is_that_of_leaving_out():
    texts, labels = drawn()
    made = planted(labels, WRONG)
    found = audit(read(texts, made), learner=MultinomialLearner(), most=600)
    p = [suspect.p_label for suspect in found.suspects]
    assert p == sorted(p)
    expected = textodds.train(texts, made, learner="multinomial").leave_one_out(texts, made)
    best = expected.log_posterior.argmax(axis=1)
    wrong = np.flatnonzero(best != expected.truth)
    assert len(wrong) >= 20
    np.testing.assert_allclose(p, np.sort(np.exp(expected.own[wrong])))
    assert {suspect.row: suspect.suggested for suspect in found.suspects} == {
        i + 1: f"c{best[i]}" for i in wrong
    }


@together
@pytest.mark.parametrize("cuts", [[], [1], [300], range(7, 600, 7)], ids=str)
def test_rows_are_numbered_across_batches(cuts):
    texts, labels = drawn()
    made = planted(labels, WRONG)
    edges = [0, *cuts, 600]

    def batches(rejects, progress):
        return (Batch(texts[a:b], made[a:b], None) for a, b in itertools.pairwise(edges))

    source = Source(ColumnRequest.without_names(), "some batches", batches, Rejects("stop"))
    found = audit(source, learner=MultinomialLearner(), most=20)
    assert sorted(suspect.row for suspect in found.suspects) == WRONG
    assert all(suspect.text == texts[suspect.row - 1] for suspect in found.suspects)
    whole = audit(read(texts, made), learner=MultinomialLearner(), most=20)
    assert found.suspects == whole.suspects


def test_rows_of_several_files_are_numbered_through(tmp_path):
    texts, labels = drawn()
    made = planted(labels, WRONG)
    for part in range(3):
        rows = zip(texts[200 * part : 200 * part + 200], made[200 * part : 200 * part + 200], strict=True)
        lines = "".join(f"{text},{label}\n" for text, label in rows)
        (tmp_path / f"{part}.csv").write_text("text,label\n" + lines)
    found = audit(read(str(tmp_path / "*.csv")), learner=MultinomialLearner(), most=20)
    assert sorted(suspect.row for suspect in found.suspects) == WRONG
    assert all(suspect.text == texts[suspect.row - 1] for suspect in found.suspects)


def test_rows_are_counted_without_those_that_were_skipped(tmp_path):
    texts, labels = drawn()
    lines = [f"{text},{label}" for text, label in zip(texts, planted(labels, WRONG), strict=True)]
    lines.insert(0, "a bad row,with three,fields")
    (tmp_path / "mail.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    source = read(tmp_path / "mail.csv", bad_rows="skip", rejects_path=tmp_path / "rejected.jsonl")
    found = audit(source, learner=MultinomialLearner(), most=20)
    assert sorted(suspect.row for suspect in found.suspects) == WRONG


def test_a_heavy_row_does_not_stand_up_for_its_own_label():
    texts, labels = drawn()
    made = planted(labels, WRONG)
    weights = [5.0 if row in WRONG else 1.0 for row in range(1, 601)]
    found = audit(read(texts, made, weights), learner=MultinomialLearner(), most=20)
    assert sorted(suspect.row for suspect in found.suspects) == WRONG


def test_a_row_without_weight_does_not_end_an_audit():
    texts, labels = drawn()
    source = read([*texts, "a1"], [*planted(labels, WRONG), "other"], [1.0] * 600 + [0.0])
    assert len(audit(source, learner=MultinomialLearner(), most=5).suspects) == 5


def test_a_row_whose_label_is_the_expected_one_is_not_listed():
    texts, labels = drawn()
    found = audit(read(texts, planted(labels, WRONG)), learner=MultinomialLearner(), most=600)
    assert all(suspect.suggested != suspect.label for suspect in found.suspects)
    assert len(found.suspects) == found.disagreements
    assert not audit(read(["a a", "a", "b b", "b"], ["x", "x", "y", "y"])).suspects


def test_threads_do_not_matter():
    texts, labels = drawn()
    one, two = (audit(read(texts, labels), learner=MultinomialLearner(alpha=None), threads=n) for n in (1, 2))
    assert one.suspects == two.suspects


@together
@pytest.mark.parametrize(
    "recipe",
    [
        {"learner": textodds.SoftmaxRegression()},
        {"learner": textodds.LinearDiscriminantAnalysis()},
        {"learner": ComplementLearner(norm=True)},
        {"learner": "complement:transform"},
        {"learner": "multinomial", "unknown": "smooth"},
        {"learner": MultinomialLearner(alpha=np.ones(3))},
    ],
    ids=["softmax", "lda", "norm", "transform", "unknown", "alpha by word"],
)
def test_models_that_do_not_rest_on_counts_alone_are_refused_before_anything_is_read(recipe):
    def batches(rejects, progress):
        raise AssertionError("it was read")

    source = Source(ColumnRequest.without_names(), "some batches", batches, Rejects("stop"))
    with pytest.raises(Unsupported, match="needs a learner of counts"):
        audit(source, **recipe)


def test_what_can_be_read_but_once_is_refused_before_it_is_read():
    texts, labels = drawn()
    rows = zip(texts, labels, strict=True)
    with pytest.raises(InputError, match="read only once"):
        audit(read(rows), learner=MultinomialLearner())
    assert next(rows) in [(texts[i], labels[i]) for i in (0, 1)]  # the first says what they are
