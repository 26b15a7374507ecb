"""Models and texts to ask exported models, and what their answers are held to."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from interop_cases import LEARNERS, SETTINGS, documents

import textodds
from label_texts import label_texts
from unicode_texts import AWKWARD

TEXTS = {name: settings for name, settings in SETTINGS.items() if "hash_bits" not in settings}
"""How texts are cut, where that can be exported."""


def awkward_texts(n: int, seed: int = 0) -> list[str]:
    """Texts of characters that are hard to cut, known words between them."""
    draw = random.Random(seed)
    signs = [*AWKWARD, *["shared0 ", " own0x1", " "] * 6]
    return ["".join(draw.choices(signs, k=draw.randint(0, 60))) for _ in range(n)]


@cache
def model_of(learner: str, classes: int, settings: str):
    """A model of how texts are cut, calibrated where that is better; not to be changed."""
    return textodds.train(*documents(classes), learner=LEARNERS[learner], **TEXTS[settings])


@cache
def several_labels(learner: str = "multinomial"):
    """A model of several labels a text; not to be changed."""
    return textodds.train(*label_texts(300), learner=learner)


def assert_same(model, texts, answers, atol=1e-9):
    """Labels and probabilities are those of the model; where two classes tie, either label will do."""
    labels, p = answers
    expected = model.predict_proba(texts)
    np.testing.assert_allclose(p, expected, rtol=0, atol=atol)
    ours = model.predict(texts)
    if not isinstance(labels[0], str):
        assert [set(each) for each in labels] == [set(each) for each in ours]
        return
    second, first = np.sort(expected, axis=1)[:, -2:].T
    clear = first - second > 1e-9
    assert clear.mean() > 0.4
    assert np.array(labels)[clear].tolist() == np.asarray(ours)[clear].tolist()
