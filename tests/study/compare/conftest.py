import numpy as np
import pytest

WORDS = {
    "spam": "free prize win cash offer claim now call".split(),
    "ham": "lunch home later see you at six meeting".split(),
}
COMMON = "the a to and of in is it".split()


def made_up(n, seed=0, doubt=0.25):
    """n texts of two classes that share most of their words, and their labels."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        label = ("ham", "ham", "spam")[i % 3]
        of_class = WORDS["spam" if (label == "spam") != (random.random() < doubt) else "ham"]
        texts.append(" ".join([*random.choice(of_class, 2), *random.choice(COMMON, 5), f"n{i}"]))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="session")
def mail():
    return made_up(600)


@pytest.fixture(scope="session")
def people():
    """A table of two numbers and a category, by class."""
    random = np.random.default_rng(1)
    labels = ["m", "f"] * 150
    height = [random.normal(178 if label == "m" else 165, 7) for label in labels]
    weight = [0.9 * tall - 85 + random.normal(0, 8) for tall in height]
    return {"height": height, "weight": weight}, labels
