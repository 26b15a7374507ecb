"""Real texts: with smoothing chosen and calibrated, log-losses of the test part are as low as promised."""

import pytest

import textodds
from textodds.learn.naive_bayes import MultinomialLearner

pytestmark = pytest.mark.realdata

LOSSES = {"20newsgroups": 1.23, "imdb": 0.46, "ag_news_subset": 0.32}


@pytest.mark.parametrize(
    "name",
    ["ag_news_subset", *(pytest.param(name, marks=pytest.mark.long) for name in ("20newsgroups", "imdb"))],
)
def test_naive_bayes_has_probabilities_to_be_trusted(name, data_folder):
    train, test = (data_folder / name / f"{part}.csv.gz" for part in ("train", "test"))
    model = textodds.train(train, learner=MultinomialLearner(alpha=None))
    found = model.evaluate(test)
    assert found.log_loss <= LOSSES[name]
    plain = textodds.train(train, learner="multinomial", calibrate=False).evaluate(test)
    assert found.log_loss < 0.5 * plain.log_loss
    assert found.accuracy > plain.accuracy - 0.005
