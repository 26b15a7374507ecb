"""A text classifier that chooses its learner, and one whose learner's settings are searched for."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import textodds
from textodds import MultinomialNB, TextClassifier
from textodds.errors import InputError, Unsupported

TEXTS = [f"free phone {i % 9}" for i in range(60)] + [f"see you at {i % 7}" for i in range(60)]
LABELS = [1] * 60 + [0] * 60


def test_auto_chooses_as_train_does():
    estimator = TextClassifier(learner="auto", threads=1).fit(TEXTS, LABELS)
    model = textodds.train(TEXTS, LABELS, threads=1)
    assert estimator.model_.recipe == model.recipe
    assert estimator.model_.info["chosen"]["tried"] == model.info["chosen"]["tried"]
    assert np.array_equal(estimator.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert estimator.predict(["free"]).tolist() == [1]
    other = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(other.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_auto_takes_settings_of_texts_and_is_cloned_and_shown():
    estimator = TextClassifier(learner="auto", ngrams=(1, 2), threads=1)
    assert clone(estimator).get_params() == estimator.get_params()
    assert repr(estimator) == "TextClassifier(learner='auto', ngrams=(1, 2), threads=1)"
    assert clone(estimator).fit(TEXTS, LABELS).model_.recipe.settings.ngrams == (1, 2)


def test_auto_neither_learns_in_batches_nor_has_settings():
    estimator = TextClassifier(learner="auto")
    assert not hasattr(estimator, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        estimator.forget(["free"], [1])
    assert isinstance(caught.value.__cause__, Unsupported)
    with pytest.raises(InputError, match="a learner that is chosen has no settings"):
        estimator.set_params(learner__alpha=1.0)


@pytest.mark.parametrize(("learner", "alpha"), [("multinomial", None), (MultinomialNB(), 1.0)], ids=str)
def test_settings_of_the_learner_are_searched_for(learner, alpha):
    estimator = TextClassifier(learner=learner, threads=1)
    assert estimator.get_params()["learner__alpha"] == alpha
    assert "learner__alpha" not in estimator.get_params(deep=False)
    search = GridSearchCV(estimator, {"learner__alpha": [0.01, 50.0]}, cv=2, scoring="neg_log_loss")
    search.fit(TEXTS, LABELS)
    assert search.best_params_ == {"learner__alpha": 0.01}
    assert search.best_estimator_.model_.recipe.learner.alpha == 0.01
    assert estimator.get_params()["learner__alpha"] == alpha
    assert clone(search.best_estimator_).get_params()["learner__alpha"] == 0.01


def test_the_learner_and_its_settings_are_set_together_in_a_pipeline_too():
    pipeline = make_pipeline(TextClassifier(threads=1))
    pipeline.set_params(textclassifier__learner="softmax", textclassifier__learner__C=2.0)
    assert pipeline.fit(TEXTS, LABELS)[-1].model_.recipe.learner.C == 2.0
    with pytest.raises(InputError, match="multinomial has no alhpa; did you mean `alpha`"):
        TextClassifier().set_params(learner__alhpa=1)
