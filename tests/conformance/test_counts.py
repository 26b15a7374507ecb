"""What only models of counts have: a tally, weights in two layouts, a file without counts."""

from dataclasses import replace

import numpy as np
import pytest

import textodds
from model_cases import OF_TEXTS, CountCase, close
from pairs import together
from textodds import TextModel
from textodds.learn.forms.linear import Weights

CASES = [case for case in OF_TEXTS if isinstance(case, CountCase)]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def test_the_layouts_are_what_they_are_meant_to_be():
    """Of few classes a full matrix, of many the exceptions; with a few words there is no difference."""
    for case in CASES:
        if len(case.model.vocabulary) > 50:
            assert (case.model.linear.weights.dense is not None) == (case.classes == 2), case


@together
@every_case
def test_weights_as_exceptions_equal_the_full_matrix(case):
    model = case.model
    matrix = model.linear.weights.rows(np.arange(len(model.vocabulary)))  # (V, K)
    default = matrix.min(axis=0)
    places, columns = np.nonzero(matrix != default)
    exceptions = Weights(
        default,
        np.zeros(0),
        np.zeros(0),
        starts=np.searchsorted(places, np.arange(len(matrix) + 1)).astype(np.uint64),
        class_of=columns.astype(np.uint32),
        exceptions=(matrix - default)[places, columns],
    )
    for weights in (exceptions, Weights.of_matrix(matrix)):
        linear = replace(model.linear, weights=weights)
        other = TextModel(model.recipe, model.vocabulary, linear, None, {})
        close(other.score(case.new)[0], model.score(case.new)[0])


@every_case
def test_the_tally_is_saved_with_the_model_unless_it_is_left_out(case, tmp_path):
    model = case.model
    model.save(tmp_path / "model")
    assert textodds.load(tmp_path / "model").tally == model.tally
    model.save(tmp_path / "bare", counts=False)
    bare = textodds.load(tmp_path / "bare")
    np.testing.assert_array_equal(bare.score(case.new)[0], model.score(case.new)[0])
    np.testing.assert_array_equal(bare.predict_proba(case.new), model.predict_proba(case.new))


@every_case
def test_the_tally_does_not_depend_on_threads_and_no_question_changes_it(case):
    texts, labels = case.rows_and_labels
    one, four = (case.train(texts * 16, labels * 16, threads=n) for n in (1, 4))
    assert one.tally == four.tally
    before = four.tally.fingerprint(), len(four.vocabulary)
    four.predict(["words nobody has ever seen"] * 3)
    four.explain("nor these")
    assert (four.tally.fingerprint(), len(four.vocabulary)) == before
