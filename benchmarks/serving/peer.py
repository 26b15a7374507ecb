"""``textodds serve`` with another model in its place: ``python peer.py PIPELINE serve MODEL …``.

PIPELINE is a fitted pipeline of scikit-learn, as joblib has saved it, or ``nothing``: then the answer is
always the same, and what is left is the cost of the service without a model. Everything else (sockets,
HTTP, limits, types, JSON, metrics) is the service's own; the model file is opened for its version only.
"""

from __future__ import annotations

import sys
from typing import Any

from textodds.cli import main
from textodds.serve import answers
from textodds.serve.protocol import messages
from textodds.serve.updates.fold import ServedModel


class ByPipeline:
    """Answers of `pipeline.predict_proba`; it does not count known words, so ``evidence`` is 0."""

    def __init__(self, pipeline: Any) -> None:
        self._predict = pipeline.predict_proba
        self._classes = [str(label) for label in pipeline.classes_]

    def classify(self, serving: ServedModel, asked: messages.ClassifyRequest) -> messages.ClassifyAnswer:
        row = self._predict([asked.text])[0].tolist()
        share = max(row)
        return messages.ClassifyAnswer(
            label=self._classes[row.index(share)],
            probability=share,
            evidence=0,
            probabilities=dict(zip(self._classes, row, strict=True)),
            version=serving.version,
        )

    def classify_batch(self, serving: ServedModel, asked: messages.BatchRequest) -> messages.BatchAnswer:
        shares = self._predict(asked.texts)
        rows = zip(shares.tolist(), shares.argmax(axis=1).tolist(), strict=True)
        answers = [
            messages.Answer(
                label=self._classes[k],
                probability=row[k],
                evidence=0,
            )
            for row, k in rows
        ]
        return messages.BatchAnswer(answers=answers, version=serving.version)


class ByNothing:
    """One answer to everything."""

    def __init__(self, classes: list[str]) -> None:
        self._fields: dict[str, Any] = {
            "label": classes[0],
            "probability": 1 / len(classes),
            "evidence": 0,
            "probabilities": dict.fromkeys(classes, 1 / len(classes)),
        }

    def classify(self, serving: ServedModel, asked: messages.ClassifyRequest) -> messages.ClassifyAnswer:
        return messages.ClassifyAnswer(**self._fields, version=serving.version)

    def classify_batch(self, serving: ServedModel, asked: messages.BatchRequest) -> messages.BatchAnswer:
        fields = {name: value for name, value in self._fields.items() if name != "probabilities"}
        answers = [messages.Answer(**fields) for _ in asked.texts]
        return messages.BatchAnswer(answers=answers, version=serving.version)


def instead(pipeline: str, model: str) -> ByPipeline | ByNothing:
    """Who answers."""
    if pipeline == "nothing":
        import textodds

        return ByNothing(list(textodds.load(model).classes_))
    import joblib

    return ByPipeline(joblib.load(pipeline))


if __name__ == "__main__":
    found = instead(sys.argv[1], sys.argv[3])
    answers.classify, answers.classify_batch = found.classify, found.classify_batch  # type: ignore[assignment]
    sys.exit(main(sys.argv[2:]))
