"""Exported models on real texts: labels and probabilities of every data set, 79 languages among them."""

import csv
import gzip

import pytest
from exported import by_c, by_node, by_python
from exported_models import assert_same

import textodds

pytestmark = pytest.mark.realdata

LEARNERS = {
    "20newsgroups": "multinomial",
    "ag_news_subset": "softmax:C=10:ngrams=1-2",
    "imdb": "bernoulli",
    "langid_lingua": "multinomial:unit=characters-in-words:ngrams=1-3",
    "mr": "nb-softmax:C=1",
    "reuters_r8": "complement",
    "sms_spam": "softmax:C=10:characters=2-4",
    "spamassassin": "multinomial:sklearn",
    "subjectivity": "multinomial:binary",
    "webkb_raw": "multinomial:strip_accents",
}
FEW, MANY = 60, 200  # texts of a set, of three in `make test` and of all at length
TARGETS = {"python": by_python, "javascript": by_node, "c": by_c}


def rows_of(folder, name, which):
    """Texts and labels of one part of a data set."""
    with gzip.open(folder / name / f"{which}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


@pytest.fixture(scope="module", params=LEARNERS)
def trained(request, data_folder):
    """A model of some texts of a data set, and texts that it has not seen."""
    texts, labels = rows_of(data_folder, request.param, "train")
    step = max(1, len(texts) // 1500)
    model = textodds.train(
        texts[::step], labels[::step], learner=LEARNERS[request.param], max_features=20_000
    )
    return model, rows_of(data_folder, request.param, "test")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trained", "target"),
    [("langid_lingua", "python"), ("ag_news_subset", "javascript"), ("sms_spam", "c")],
    indirect=["trained"],
)
def test_answers_to_some_texts_are_those_of_the_model(trained, target):
    model, texts = trained
    some = texts[:: max(1, len(texts) // FEW)]
    (answers,) = TARGETS[target]([(model, some)])
    assert_same(model, some, answers)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_answers_to_many_texts_are_those_of_the_model(trained, target):
    model, texts = trained
    many = texts[:: max(1, len(texts) // MANY)]
    (answers,) = TARGETS[target]([(model, many)])
    assert_same(model, many, answers)
