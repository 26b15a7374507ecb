"""One text and a list of one are the same to a model, whatever it is."""

import numpy as np
import pytest

import textodds
from pairs import together
from textodds.errors import InputError

TEXTS = ["win a free phone", "free cash prize now", "see you at noon", "are you home", "call me at noon"] * 30
LABELS = ["spam", "spam", "ham", "ham", "ham"] * 30
ASKED = ["free phone at noon", "", "zzz", "you you you", "é " * 3000 + "free"]


@together
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


@pytest.mark.parametrize("classes", [2, 3, 4, 6])
@pytest.mark.parametrize("features", ["ngrams=1-2", "ngrams=1-3:characters=2-4", "ngrams=2-2:binary=yes"])
def test_a_text_alone_is_answered_as_among_so_many_that_terms_are_indexed(classes, features, tmp_path):
    labels = [str(i % classes) for i in range(len(TEXTS))]
    features = features.replace(":binary=yes", ":frequency=binary")
    trained = textodds.train(TEXTS, labels, learner=f"softmax:C=1:min_df=1:{features}", calibrate=False)
    trained.save(tmp_path / "model.textodds")
    indexed, plain = (textodds.load(tmp_path / "model.textodds") for _ in range(2))
    texts = [*ASKED, *TEXTS[:5], "you at at noon noon", "i\u0915\u093f \u093f at noon"] * 600
    assert sum(map(len, texts)) > 16 * trained.scorer.n_features * 2  # enough for an index
    scores, evidence = indexed.score(texts)
    some = texts[:12]
    alone = [plain.scorer.kernel.one(text) for text in some]
    assert [row for row, _ in alone] == scores[:12].tolist()
    assert [n for _, n in alone] == evidence[:12, 0].tolist()
    assert indexed.score(some)[0].tolist() == scores[-12:].tolist()
    weights = indexed.scorer.form.weights.dense  # (V, K)
    summed = plain.scorer.rows(some) @ weights + scores[texts.index("zzz")]
    np.testing.assert_allclose(scores[:12], summed, rtol=0, atol=1e-12)


def test_calibrated_scores_of_one_row_are_those_of_many_to_the_last_bit():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    rows = np.random.default_rng(1).normal(size=(50, 2)) * 30
    for row, expected in zip(rows, model.calibration.applied(rows), strict=True):
        assert model.calibration.applied_to(row.tolist()) == expected.tolist()


def test_a_lone_surrogate_is_no_text():
    with pytest.raises(InputError, match="lone surrogate"):
        textodds.train(TEXTS, LABELS)("\ud800")
