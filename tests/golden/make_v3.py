"""Write the golden files of format 3: tables, their discriminants, typical texts. Run once, then read."""

import json
from pathlib import Path

import numpy as np
from make_v1 import MAIL, QUESTIONS

import textodds
from textodds import TableModel, TextModel
from textodds.learn.registry import learner_named
from textodds.learn.tables import MixedLearner
from textodds.training.tables import train_table

HERE = Path(__file__).resolve().parent

COLUMNS = {"height": "gaussian", "rain": "bins", "soil": "category", "note": "text", "id": "ignore"}
NOTES = ["weiße Rinde, Blätter", "needles and resin", "leaf and bark", "resin smell, no leaf", "Blätter"]
LABELS = ["Birke", "pine", "oak"]


def table() -> tuple[dict[str, list[object]], list[str], list[float]]:
    """Twenty-four trees that are written down here as whole numbers, without a random one."""
    i = np.arange(24)
    columns: dict[str, list[object]] = {
        "height": [None if n == 5 else float(n * 37 % 23) + 10.0 * (n % 3) for n in i.tolist()],
        "rain": [[0.0, 0.25, 2.5, 40.0][(n % 4 + n // 6) % 4] for n in i.tolist()],
        "soil": [None if n % 11 == 10 else ["sand", "Löß", "clay"][(n * 5 + n % 3) % 3] for n in i.tolist()],
        "note": [NOTES[(n % 3 + n // 5) % 5] for n in i.tolist()],
        "id": [f"tree {n}" for n in i.tolist()],
    }
    return columns, [LABELS[n % 3] for n in i.tolist()], [0.5 if n % 7 == 0 else 1.0 for n in i.tolist()]


ROWS: list[dict[str, object]] = [
    {"height": 12.0, "rain": 0.0, "soil": "Löß", "note": "Blätter"},
    {"height": 45.5, "rain": 3.75, "soil": "sand", "note": "resin resin"},
    {"height": None, "rain": None, "soil": None, "note": "zzz"},
    {"height": 20.0, "rain": 100.0, "soil": "granite", "note": "unheard of"},
    {"height": -1e6, "rain": -1.0, "soil": "clay", "note": "leaf and bark"},
]


def models() -> dict[str, TableModel | TextModel]:
    """The golden models by name: every block of a table, full covariances, typical texts."""
    rows, labels, weights = table()
    mixed = train_table(rows, labels, weights, learner=MixedLearner(alpha=0.5), columns=COLUMNS, typical=True)
    numbers = {"height": [50.0 if each is None else each for each in rows["height"]], "rain": rows["rain"]}
    qda = train_table(numbers, labels, learner=learner_named("qda", shrinkage=0.25, prior="uniform"))
    texts, names = map(list, zip(*MAIL, strict=True))
    typical = textodds.train(texts, names, typical=True)
    assert isinstance(typical, TextModel)
    return {"v3-table": mixed, "v3-qda": qda, "v3-typical": typical}


def questions(name: str) -> list[object]:
    """What the golden model of that name is asked."""
    if name == "v3-typical":
        return list(QUESTIONS["v1"])
    if name == "v3-qda":
        return [{"height": row["height"] or 0.0, "rain": row["rain"] or 0.0} for row in ROWS]
    return list(ROWS)


def answers(model: TableModel | TextModel, name: str) -> dict[str, object]:
    """What a model says, as plain data."""
    asked = questions(name)
    scores, evidence = model.score(asked)
    familiar = [] if model.typical is None else model.familiarity(asked)
    return {
        "classes": list(model.classes_),
        "recipe": model.recipe_as_dict() if model.kind == "tables" else model.recipe.as_dict(),
        "class_documents": model.class_documents,
        "labels": model.predict(asked).tolist(),
        "evidence": evidence.tolist(),
        "scores": scores.tolist(),
        "log_joint": model.log_joint(asked).tolist(),
        "p_values": [each.p_value for each in familiar],
        "surprises": [each.surprise for each in familiar],
    }


if __name__ == "__main__":
    for name, model in models().items():
        model.save(HERE / f"{name}.textodds")
        expected = json.dumps(answers(model, name), ensure_ascii=False, indent=1)
        (HERE / f"{name}.json").write_text(expected + "\n", encoding="utf-8")
