"""One text and a list of one are the same to a model, whatever it is."""

import numpy as np
import pytest

import textodds
from textodds.errors import InputError

TEXTS = ["win a free phone", "free cash prize now", "see you at noon", "are you home", "call me at noon"] * 30
LABELS = ["spam", "spam", "ham", "ham", "ham"] * 30
ASKED = ["free phone at noon", "", "zzz", "you you you", "é " * 3000 + "free"]


@pytest.mark.parametrize(
    "learner", ["multinomial", "bernoulli", "complement", "softmax", "lda", "qda", "gaussian"]
)
@pytest.mark.parametrize("calibrate", [True, False])
def test_a_text_alone_is_answered_as_in_a_list(learner, calibrate):
    model = textodds.train(TEXTS, LABELS, learner=learner, calibrate=calibrate)
    scores, evidence = model.score(ASKED)
    shares = model.predict_proba(ASKED)
    for text, row, known, expected in zip(ASKED, scores, evidence, shares, strict=True):
        said = model(text)
        assert said.label == model.predict([text])[0]
        assert said.evidence == known[0]
        assert list(said.probabilities.values()) == pytest.approx(expected, rel=1e-12)
        if learner not in ("qda", "gaussian"):
            alone, n = model.scorer.kernel.one(text)
            assert alone == row.tolist()
            assert n == known[0]


def test_calibrated_scores_of_one_row_are_those_of_many_to_the_last_bit():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    rows = np.random.default_rng(1).normal(size=(50, 2)) * 30
    for row, expected in zip(rows, model.calibration.applied(rows), strict=True):
        assert model.calibration.applied_to(row.tolist()) == expected.tolist()


def test_a_lone_surrogate_is_no_text():
    with pytest.raises(InputError, match="lone surrogate"):
        textodds.train(TEXTS, LABELS)("\ud800")
