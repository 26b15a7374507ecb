"""Write the golden file of format 2, which adds weightings. Run once; the file is only read after that."""

import json
from pathlib import Path

from make_v1 import MAIL, QUESTIONS

import textodds
from textodds import TextModel
from textodds.learn.softmax.regression import NBSoftmaxLearner

HERE = Path(__file__).resolve().parent


def model() -> TextModel:
    """Words, pairs and characters, weighted, scaled by naive Bayes, at the optimum."""
    texts, labels = map(list, zip(*MAIL, strict=True))
    learner = NBSoftmaxLearner(C=5.0, tolerance=1e-12)
    return textodds.train(texts, labels, learner=learner, ngrams=(1, 2), characters=(2, 3), min_df=1)


def answers(made: TextModel) -> dict[str, object]:
    """What the model says, as plain data."""
    scores, evidence = made.score(QUESTIONS["v1"])
    return {
        "classes": list(made.classes_),
        "words": made.vocabulary.words(),
        "terms": evidence.tolist(),
        "scores": scores.tolist(),
    }


if __name__ == "__main__":
    made = model()
    made.save(HERE / "v2.textodds")
    expected = json.dumps(answers(made), ensure_ascii=False, indent=1)
    (HERE / "v2.json").write_text(expected + "\n", encoding="utf-8")
