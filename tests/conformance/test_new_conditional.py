"""A new class-conditional is one module and one entry of the registry, and everything takes it."""

import ast
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from scipy import stats

import textodds
from pairs import together
from textodds.errors import InputError
from textodds.learn import registry
from textodds.learn.registry import COUNTS, LEARNERS, Entry, as_dict, learner_named, names_of, of_dict
from textodds.learn.solvers.descent import Descent

SOURCE = Path(textodds.__file__).parent

MODULE = '''
"""Every word occurs as often as a coin falls tails before heads: geometric distributions."""

from dataclasses import dataclass

import numpy as np

from textodds.learn.conditionals.estimate import Alpha, Estimate, checked_alpha
from textodds.learn.forms.linear import Weights
from textodds.learn.naive_bayes import CountLearner
from textodds.learn.registry import Prior
from textodds.stats.tally import Counts


@dataclass(frozen=True)
class Geometric:
    """``p(x | k) = Π_v q_kv (1 - q_kv)^x_v`` with ``q = (d_k + α) / (d_k + n_kv + 2α)``."""

    alpha: Alpha = 1.0
    presence = False
    is_likelihood = True

    def __post_init__(self) -> None:
        checked_alpha(self.alpha)

    def fit(self, counts: Counts) -> Estimate:
        n = np.zeros((counts.n_features, len(counts.classes)))
        n[counts.feature_of, counts.class_of] = counts.occurrences
        d = counts.class_documents
        q = (d + self.alpha) / (d + n + 2 * self.alpha)
        return Estimate(np.log(q).sum(axis=0), Weights.of_matrix(np.log1p(-q)))


@dataclass(frozen=True)
class GeometricLearner(CountLearner):
    """Geometric naive Bayes."""

    alpha: Alpha | None = 1.0
    prior: Prior = "data"

    @property
    def conditional(self) -> Geometric:
        return Geometric(self.smoothing)
'''

TOY = Entry(
    "toy",
    "toy_geometric:GeometricLearner",
    "geometric naive Bayes",
    (COUNTS,),
    is_density=True,
    is_merged=True,
)

TEXTS = ["free phone free", "see you at six", "a free prize", "you are at home", "prize phone", "six then"]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]
NEW = ["free prize you", "at six", "unheard of", "", "phone phone phone"]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The module in a folder of its own, and its entry."""
    (tmp_path / "toy_geometric.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(LEARNERS, "toy", TOY)
    yield importlib.import_module("toy_geometric")
    sys.modules.pop("toy_geometric", None)


def same_bits(left, right):
    assert left.classes_ == right.classes_
    for got, expected in zip(left.score(NEW), right.score(NEW), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_it_trains_by_name_and_has_the_probabilities_of_bayes_rule(toy):
    """By hand: scipy's geometric distribution, a prior of a half, and Bayes' rule."""
    model = textodds.train(TEXTS, LABELS, learner="toy")
    assert isinstance(model.recipe.learner, toy.GeometricLearner)
    X = model.rows(TEXTS).toarray()
    n = np.array([X[[label == name for label in LABELS]].sum(axis=0) for name in model.classes_])  # (K, V)
    q = (3 + 1) / (3 + n + 2)
    rows = model.rows(NEW).toarray()
    likelihood = stats.geom.pmf(rows[:, None, :] + 1, q).prod(axis=2)  # (N, K)
    expected = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, rtol=1e-10)
    assert model("free prize").label == "spam"


def test_it_has_settings_which_are_checked(toy):
    by_name = textodds.train(TEXTS, LABELS, learner=learner_named("toy", alpha=0.5, prior="uniform"))
    assert by_name.recipe.learner == toy.GeometricLearner(0.5, "uniform")
    assert by_name.recipe.learner.settings() == {"alpha": 0.5, "prior": "uniform"}
    with pytest.raises(InputError, match="alpha must be zero or more"):
        learner_named("toy", alpha=-1.0)
    with pytest.raises(InputError, match="toy has no aplha; did you mean `alpha`"):
        learner_named("toy", aplha=1.0)
    with pytest.raises(InputError, match="unknown learner `tyo`; did you mean `toy`"):
        textodds.train(TEXTS, LABELS, learner="tyo")


def test_it_is_saved_and_loaded_to_the_last_bit(toy, tmp_path):
    model = textodds.train(TEXTS, LABELS, learner=toy.GeometricLearner(0.3))
    model.save(tmp_path / "toy.textodds")
    back = textodds.load(tmp_path / "toy.textodds")
    assert back.recipe == model.recipe
    same_bits(back, model)


def test_it_explains_and_the_parts_add_up(toy):
    model = textodds.train(TEXTS, LABELS, learner="toy")
    text = "free prize at six"
    explanation = model.explain(text, "spam", "ham")
    k, j = model.classes_.index("spam"), model.classes_.index("ham")
    log_odds = model.predict_log_proba([text])[0]
    assert explanation.log_odds == pytest.approx(log_odds[k] - log_odds[j], abs=1e-9)


def test_it_learns_forgets_and_merges_as_if_trained_on_the_result(toy):
    whole = textodds.train(TEXTS, LABELS, learner="toy")
    part = textodds.train(TEXTS[:4], LABELS[:4], learner="toy")
    part.learn(TEXTS[4], LABELS[4])
    part.learn(TEXTS[5], LABELS[5])
    same_bits(part, whole)
    part.forget(TEXTS[5], LABELS[5])
    part.forget(TEXTS[4], LABELS[4])
    same_bits(part, textodds.train(TEXTS[:4], LABELS[:4], learner="toy"))
    rest = textodds.train(TEXTS[4:], LABELS[4:], learner="toy")
    same_bits(part + rest, whole)


def test_it_is_evaluated_and_compared(toy):
    texts, labels = TEXTS * 30, LABELS * 30
    model = textodds.train(texts, labels, learner="toy")  # enough texts to calibrate, where that can be
    assert model.evaluate(texts, labels).accuracy == 1.0
    comparison = textodds.compare(texts, labels, models="toy:alpha=0.5,multinomial")
    assert {"toy:alpha=0.5", "multinomial"} <= set(re.findall(r"[\w.:=-]+", str(comparison)))


def test_texts_are_classified_with_it_by_the_estimator_of_texts(toy):
    model = textodds.TextClassifier(learner="toy").fit(TEXTS, LABELS)
    assert model.predict(["free prize", "at six"]).tolist() == ["spam", "ham"]
    model.partial_fit(["a late phone"], ["ham"]).forget(["a late phone"], ["ham"])


def test_the_lists_of_the_registry_name_it(toy):
    assert names_of(texts=True)[-1] == "toy"
    assert "toy" not in names_of(tables=True)
    assert "toy" not in names_of(choice=True)  # it says of no features that it is to be chosen with them
    with pytest.raises(InputError) as caught:
        learner_named("none")
    assert caught.value.hint.endswith("qda, toy")


def test_the_command_line_lists_it(toy, tmp_path):
    """In a process of its own: the command line reads the registry when it is imported."""
    program = dedent(f"""
        import sys
        from textodds.learn import registry
        registry.LEARNERS["toy"] = registry.Entry("toy", {TOY.home!r}, {TOY.title!r}, ("counts",))
        sys.argv = ["textodds", "compare", "--help"]
        from textodds.cli import main
        main()
    """)
    paths = [str(tmp_path), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert re.search(r"\btoy\b", done.stdout), done.stderr


SETTINGS = {
    "alpha": 0.25,
    "prior": {"a": 0.4, "b": 0.6},
    "C": float("inf"),
    "class_weight": {"a": 2.0},
    "descent": Descent(rate=0.1, epochs=3, batch=1),
    "shrinkage": 0.3,
    "pooling": 0.5,
    "unseen": "smooth",
    "backoff": "uniform",
    "form": "centred",
}
"""Settings that are not as usual, where half or twice the usual one would not do."""


def unusual(kind, name):
    """A learner with one setting that is not as usual."""
    usual = getattr(kind(), name)
    if name == "alpha" and "C" in {each.name for each in fields(kind)}:
        return kind(alpha=0.5)
    if name == "descent":
        return kind(C=1.0, descent=SETTINGS[name])
    if name == "missing":
        return kind(missing="ignore" if usual == "category" else "category")
    if name in SETTINGS:
        return kind(**{name: SETTINGS[name]})
    if usual is None:
        return kind(**{name: 0.5})
    return kind(**{name: not usual if isinstance(usual, bool) else type(usual)(usual / 2 or 0.5)})


@together
@pytest.mark.parametrize("name", LEARNERS)
def test_every_entry_has_a_class_that_knows_it_and_comes_back_from_plain_data(name):
    entry = LEARNERS[name]
    kind = entry.load()
    assert entry.name == name
    assert issubclass(kind, registry.Learner)
    assert kind().entry is entry
    assert of_dict(as_dict(kind())) == kind()
    for each in fields(kind):
        learner = unusual(kind, each.name)
        assert each.name in learner.settings()
        plain = json.loads(json.dumps(as_dict(learner)))
        assert of_dict(plain) == learner, each.name


def lists_of_names(path):
    """Tuples, lists, sets and keys of dicts in a file that spell two names of learners or more."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        spelled = [each.value for each in items if isinstance(each, ast.Constant) and each.value in LEARNERS]
        if len(spelled) > 1:
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", tuple(spelled)


@pytest.mark.slow
def test_no_other_place_spells_a_list_of_learners():
    found = dict(itertools.chain.from_iterable(map(lists_of_names, SOURCE.rglob("*.py"))))
    # Which of two models is told to overtake the other is a claim about them, not a list of what there is.
    assert {place.split(":")[0] for place in found} == {"study/compare/curves.py"}
