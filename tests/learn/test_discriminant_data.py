"""Discriminant analysis of real texts is as good as was measured, with the features it has by default."""

import pytest

import textodds

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize(
    ("name", "learner", "accuracy", "log_loss"),
    [
        ("sms_spam", "lda", 0.98, 0.045),
        ("sms_spam", "qda", 0.98, 0.075),
        pytest.param("20newsgroups", "lda", 0.84, 0.6, marks=pytest.mark.long),
        pytest.param("20newsgroups", "qda", 0.80, 1.0, marks=pytest.mark.long),
    ],
)
def test_real_texts_are_told_apart_with_honest_probabilities(data_folder, name, learner, accuracy, log_loss):
    model = textodds.train(data_folder / name / "train.csv.gz", learner=learner)
    evaluation = model.evaluate(data_folder / name / "test.csv.gz")
    assert evaluation.accuracy >= accuracy
    assert evaluation.log_loss <= log_loss
    path = model.info["fit"]["path"]
    assert len({loss for _, loss in path}) == len(path) > 1
