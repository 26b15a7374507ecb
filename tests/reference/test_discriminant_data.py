"""Discriminant analysis of real texts is as accurate as was measured, with the features it has by default."""

import pytest

import textodds

pytestmark = pytest.mark.realdata

LEAST = {
    ("sms_spam", "lda"): 0.98,
    ("sms_spam", "qda"): 0.98,
    ("20newsgroups", "lda"): 0.84,
    ("20newsgroups", "qda"): 0.80,
}


@pytest.mark.parametrize(("name", "learner"), LEAST, ids=str)
def test_real_texts_are_told_apart_and_their_probabilities_are_honest(data_folder, name, learner):
    folder = data_folder / name
    model = textodds.train(folder / "train.csv.gz", learner=learner)
    evaluation = model.evaluate(folder / "test.csv.gz")
    assert evaluation.accuracy >= LEAST[name, learner]
    assert evaluation.calibration_error < 0.05
    assert model.info["fit"]["shrinkage"] in (0.97, 0.9, 0.7, 0.5, 0.3, 0.1)
