"""Which classes `partial_fit` is told of, and what it makes of others."""

import numpy as np
import pytest
from sklearn import naive_bayes

from pairs import in_turn, together
from textodds.errors import InputError
from textodds.interop.estimators import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    JointTable,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)

NAIVE = [GaussianNB, MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB]
OTHERS = [JointTable, LinearDiscriminantAnalysis, MixedNB, QuadraticDiscriminantAnalysis]
OTHER_CLASSES = "is not the same as on last call to partial_fit, was: "

X = np.array([[0, 2], [1, 0], [3, 1], [2, 2], [0, 1], [3, 3]])
Y = np.array(["a", "a", "b", "b", "c", "c"])


def begun(kind):
    """A model of the classes a and b, with two rows of each."""
    return kind().partial_fit(X[:4], Y[:4], classes=["b", "a"])


@together
@pytest.mark.parametrize("kind", NAIVE)
def test_the_first_batch_must_name_the_classes_as_in_scikit_learn(kind):
    model = kind()
    with pytest.raises(InputError) as ours:
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match="classes must be passed") as theirs:
        getattr(naive_bayes, kind.__name__)().partial_fit(X, Y)
    assert ours.value.problem == str(theirs.value)
    assert "classes=np.unique(y) will do" in ours.value.hint
    assert not hasattr(model, "classes_")
    assert model.partial_fit(X, Y, classes=np.unique(Y)).classes_.tolist() == ["a", "b", "c"]


@together
@pytest.mark.parametrize("kind", OTHERS)
def test_others_need_no_names_of_classes(kind):
    assert kind().partial_fit(X, Y).classes_.tolist() == ["a", "b", "c"]


@together
@pytest.mark.parametrize("kind", NAIVE)
def test_after_fit_a_batch_names_no_classes(kind):
    model = kind().fit(X[:4], Y[:4]).partial_fit(X[4:], Y[4:])
    np.testing.assert_allclose(model.predict_proba(X), kind().fit(X, Y).predict_proba(X), rtol=1e-12)


@in_turn(2)
@pytest.mark.parametrize("kind", NAIVE)
@pytest.mark.parametrize("named", [None, ["a", "b", "c"], ["c", "b", "a"]], ids=str)
def test_a_later_batch_may_bring_a_class_named_or_not(kind, named):
    model = begun(kind).partial_fit(X[4:], Y[4:], classes=named)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.class_count_.tolist() == [2, 2, 2]
    np.testing.assert_allclose(model.predict_proba(X), kind().fit(X, Y).predict_proba(X), rtol=1e-12)


@together
@pytest.mark.parametrize("kind", NAIVE)
def test_a_later_batch_may_name_the_same_classes_again(kind):
    model = begun(kind).partial_fit(X[:1], ["b"], classes=["a", "b"])
    assert model.class_count_.tolist() == [2, 3]


@in_turn(2)
@pytest.mark.parametrize("kind", NAIVE)
@pytest.mark.parametrize(
    ("labels", "named"),
    [(["a"], ["a", "b", "c"]), (["a"], ["a"]), (["c"], ["a", "b", "c", "d"]), (["c"], ["a", "c"])],
    ids=str,
)
def test_a_later_batch_that_names_classes_nobody_has_or_leaves_some_out_changes_nothing(kind, labels, named):
    model = begun(kind)
    with pytest.raises(InputError) as caught:
        model.partial_fit(X[:1], labels, classes=named)
    assert caught.value.problem == f"`classes={named}` {OTHER_CLASSES}['a', 'b']"
    assert "leave `classes` out" in caught.value.hint
    assert model.classes_.tolist() == ["a", "b"]
    assert model.class_count_.tolist() == [2, 2]


@together
@pytest.mark.parametrize("kind", [*NAIVE, JointTable, LinearDiscriminantAnalysis])
def test_a_batch_with_a_label_that_is_not_among_the_classes_it_names_is_refused(kind):
    model = kind()
    told = r"target label\(s\) \['c'\] in y do not exist in the initial classes \['a', 'b'\]"
    with pytest.raises(InputError, match=told):
        model.partial_fit(X, Y, classes=["b", "a"])
    assert not hasattr(model, "classes_")
    with pytest.raises(InputError, match=told):
        begun(kind).partial_fit(X[4:], Y[4:], classes=["b", "a"])


@pytest.mark.parametrize("kind", [JointTable, LinearDiscriminantAnalysis])
def test_of_others_the_classes_that_are_named_may_grow_but_leave_nothing_out(kind):
    model = begun(kind).partial_fit(X[:1], ["a"], classes=["a", "b", "c"])
    with pytest.raises(InputError, match=OTHER_CLASSES) as caught:
        model.partial_fit(X[:1], ["a"], classes=["a", "b"])
    assert "name at least" in caught.value.hint
    assert model.classes_.tolist() == ["a", "b", "c"]


@together
@pytest.mark.parametrize("kind", NAIVE)
def test_a_class_that_is_named_and_has_no_rows_waits_for_them(kind):
    model = kind().partial_fit(X[:4], Y[:4], classes=["a", "b", "c"])
    assert model.class_count_.tolist() == [2, 2, 0]
    model.partial_fit(X[4:], Y[4:])
    np.testing.assert_allclose(model.predict_proba(X), kind().fit(X, Y).predict_proba(X), rtol=1e-12)
