"""Write the golden files of format 1. Run once; the files are never made again, only read.

A later version of textodds must read them and give the same numbers. When the format changes, write a
make_v2.py beside this and keep these files.
"""

import json
from pathlib import Path

import textodds
from textodds import TextModel
from textodds.learn.naive_bayes import BernoulliLearner, MultinomialLearner

HERE = Path(__file__).resolve().parent

MAIL = [
    ("Win a free phone today! Call 0800 123 now", "spam"),
    ("FREE entry: you've won £1,000.50, claim at example.com", "spam"),
    ("Cheap pills, no prescription, 100% satisfaction", "spam"),
    ("Lunch at six o'clock? I can't make it earlier", "ham"),
    ("Die Straße nach Zürich ist gesperrt, bis später", "ham"),
    ("The pneumonoultramicroscopicsilicovolcanoconiosis seminar was moved", "ham"),
    ("See you at the café, bring the report", "ham"),
]
LANGUAGES = [
    ("the house is on the hill", "English"),
    ("das Haus steht auf dem Hügel", "Deutsch"),
    ("la maison est sur la colline", "Français"),
    ("la casa está en la colina", "Español"),
    ("la casa è sulla collina", "Italiano"),
    ("a casa está na colina", "Português"),
    ("het huis staat op de heuvel", "Nederlands"),
    ("huset står på kullen", "Svenska"),
    ("dom stoi na wzgórzu", "Polski"),
    ("дом стоит на холме", "Русский"),
    ("το σπίτι είναι στο λόφο ΟΔΟΣ", "Ελληνικά"),
    ("घर पहाड़ी पर है", "हिन्दी"),
]
WEIGHTS = {"v1": [1.0, 2.0, 0.5, 1.0, 1.0, 1.0, 3.0], "v1-sparse": [float(k) for k in range(1, 13)]}
QUESTIONS = {
    "v1": [
        "free lunch",
        "call me at six",
        "Zürich",
        "",
        "nothing known here",
        "1,000.50 pneumonoultramicroscopicsilicovolcanoconiosis",
        "FREE FREE free",
        "CAFE\u0301",
    ],
    "v1-sparse": [
        "la casa",
        "das Haus",
        "дом",
        "οδος λόφο",
        "घर",
        "",
        "zzz",
        "the house the house la colina",
    ],
}


def models() -> dict[str, TextModel]:
    """The golden models by name: a full matrix of weights, and exceptions of twelve classes."""
    texts, labels = map(list, zip(*MAIL, strict=True))
    dense = textodds.train(
        texts,
        labels,
        WEIGHTS["v1"],
        learner=MultinomialLearner(alpha=0.5),
        ngrams=(1, 2),
        max_features=40,
        unknown="smooth",
    )
    texts, labels = map(list, zip(*LANGUAGES, strict=True))
    sparse = textodds.train(texts, labels, WEIGHTS["v1-sparse"], learner=BernoulliLearner(alpha=0.1))
    return {"v1": dense, "v1-sparse": sparse}


def answers(model: TextModel, questions: list[str]) -> dict[str, object]:
    """What a model says, as plain data."""
    scores, evidence = model.score(questions)
    return {
        "classes": list(model.classes_),
        "fingerprint": model.tally.fingerprint(),
        "words": model.vocabulary.words(),
        "questions": [
            {
                "text": text,
                "label": model(text).label,
                "scores": scores[i].tolist(),
                "terms": evidence[i].tolist(),
            }
            for i, text in enumerate(questions)
        ],
    }


if __name__ == "__main__":
    for name, model in models().items():
        model.save(HERE / f"{name}.textodds")
        expected = json.dumps(answers(model, QUESTIONS[name]), ensure_ascii=False, indent=1)
        (HERE / f"{name}.json").write_text(expected + "\n", encoding="utf-8")
