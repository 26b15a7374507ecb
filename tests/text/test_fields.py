"""Texts of several fields: every field has words of its own."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import hstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import textodds
from pairs import together
from textodds.cli import main
from textodds.data.batch import BETWEEN_FIELDS
from textodds.errors import InputError, MissingColumn, Unsupported
from textodds.model.explain.place import placed_terms
from textodds.study import generate
from textodds.text import TextSettings

FIELDS = ("subject", "body")
WAYS = (
    {},
    {"ngrams": (1, 2)},
    {"ngrams": (2, 3), "stop_words": "english"},
    {"characters": (2, 4)},
    {"unit": "characters", "ngrams": (2, 3)},
    {"unit": "characters-in-words", "ngrams": (2, 3)},
    {"unit": "whitespace", "lower": False},
    {"unit": "sklearn", "strip_accents": True},
)
texts_of_a_field = st.text(
    st.sampled_from("aA bB~é :ßÅ\n.1") | st.characters(exclude_characters=BETWEEN_FIELDS, codec="utf-8"),
    max_size=40,
)


def documents(n: int = 240) -> tuple[list[str], list[str], list[str]]:
    """Subjects, bodies and labels, whose words mean different things in the two."""
    random = np.random.default_rng(0)
    words = np.array(["free", "phone", "see", "you", "prize", "six", "call"])
    labels = np.where(random.random(n) < 0.4, "spam", "ham").tolist()
    subjects, bodies = [], []
    for label in labels:
        tilt = np.linspace(1, 4, len(words))
        p = tilt if label == "spam" else tilt[::-1]
        subjects.append(" ".join(random.choice(words, 3, p=p / p.sum())))
        bodies.append(" ".join(random.choice(words, 8, p=p[::-1] / p.sum())))
    return subjects, bodies, labels


def joined(*columns: list[str]) -> list[str]:
    return [BETWEEN_FIELDS.join(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("way", WAYS, ids=str)
@given(parts=st.lists(texts_of_a_field, min_size=2, max_size=2))
def test_the_terms_of_a_text_are_those_of_each_field_under_its_name(way, parts):
    plain, fields = TextSettings(**way), TextSettings(fields=FIELDS, **way)
    expected = []
    for name, part in zip(FIELDS, parts, strict=True):
        for term in plain.terms(part):
            is_gram = "characters" in way and term.startswith("~")
            expected.append((is_gram, f"~{name}:{term[1:]}" if is_gram else f"{name}:{term}"))
    expected.sort(key=lambda term: term[0])  # n-grams of characters stand behind all words
    assert fields.terms(BETWEEN_FIELDS.join(parts)) == [name for _, name in expected]


@pytest.mark.parametrize("way", WAYS, ids=str)
@given(parts=st.lists(texts_of_a_field, min_size=2, max_size=2))
def test_every_term_is_placed_in_its_own_field(way, parts):
    settings, text = TextSettings(fields=FIELDS, **way), BETWEEN_FIELDS.join(parts)
    places = placed_terms(settings, text)
    assert [term.name for term in places] == settings.terms(text)
    for term in places:
        for start, end in term.spans:
            first = term.name.removeprefix("~").startswith("subject:")
            assert end <= len(parts[0]) if first else start > len(parts[0])


def test_naive_bayes_of_fields_is_that_of_two_vectorisers_side_by_side():
    subjects, bodies, labels = documents()
    vectorisers = [CountVectorizer().fit(column) for column in (subjects, bodies)]

    def rows(*columns):
        return hstack([each.transform(column) for each, column in zip(vectorisers, columns, strict=True)])

    peer = MultinomialNB().fit(rows(subjects, bodies), labels)
    plain = {"learner": "multinomial:alpha=1", "sklearn": True, "calibrate": False}
    model = textodds.train(joined(subjects, bodies), labels, fields=FIELDS, **plain)
    new = documents(50)[:2]
    assert np.allclose(model.predict_log_proba(joined(*new)), peer.predict_log_proba(rows(*new)), atol=1e-12)


@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement", "softmax", "lda", "auto"])
def test_every_learner_explains_saves_and_loads_fields(learner, tmp_path):
    subjects, bodies, labels = documents()
    texts = joined(subjects, bodies)
    model = textodds.train(texts, labels, learner=learner, fields=FIELDS)
    why = model.explain(texts[0])
    assert {word.word.removeprefix("~").partition(":")[0] for word in why.words} <= set(FIELDS)
    model.save(tmp_path / "m.textodds")
    again = textodds.load(tmp_path / "m.textodds")
    assert again.recipe == model.recipe
    assert np.array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_fields_in_buckets_are_told_apart():
    settings = TextSettings(fields=FIELDS, hash_bits=18)
    first, second = settings.terms(f"free{BETWEEN_FIELDS}free")
    assert first != second


@together
@pytest.mark.parametrize("names", ["subject", ["subject"], ["a", "a"], ["", "b"], ["~a", "b"], [1, 2]])
def test_names_that_cannot_tell_fields_apart_are_refused(names):
    with pytest.raises(InputError, match="fields"):
        TextSettings(fields=names)


def mails(n: int = 240) -> list[dict[str, str]]:
    subjects, bodies, labels = documents(n)
    rows = zip(subjects, bodies, labels, strict=True)
    return [{"Subject": subject, "Body": body, "kind": label} for subject, body, label in rows]


def as_csv(rows, path):
    pandas.DataFrame(rows).to_csv(path, index=False)
    return path


FORMS = {
    "dicts": lambda rows, folder: rows,
    "a dict of columns": lambda rows, folder: {name: [row[name] for row in rows] for name in rows[0]},
    "pandas": lambda rows, folder: pandas.DataFrame(rows),
    "arrow": lambda rows, folder: pyarrow.Table.from_pylist(rows),
    "CSV": lambda rows, folder: as_csv(rows, folder / "mail.csv"),
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_any_source_are_the_fields_of_one_model(form, tmp_path):
    rows = mails()
    source = FORMS[form](rows, tmp_path)
    model = textodds.train(source, text=["subject", "body"], label="kind", learner="multinomial")
    subjects, bodies, labels = documents()
    by_hand = textodds.train(joined(subjects, bodies), labels, fields=FIELDS, learner="multinomial")
    assert np.array_equal(
        model.predict_proba(rows_without_label(rows)), by_hand.predict_proba(joined(subjects, bodies))
    )
    assert [column.name for column in model.schema.columns] == ["Subject", "Body"]
    assert model.schema.label == "kind"
    assert model.evaluate(source).as_dict() == by_hand.evaluate(joined(subjects, bodies), labels).as_dict()


def rows_without_label(rows):
    return [{"subject": row["Subject"], "body": row["Body"]} for row in rows]


def test_columns_that_are_joined_are_one_text(tmp_path):
    rows, (subjects, bodies, labels) = mails(), documents()
    naive = {"learner": "multinomial"}
    model = textodds.train(as_csv(rows, tmp_path / "mail.csv"), text="Subject+Body", label="kind", **naive)
    by_hand = textodds.train([f"{a}\n{b}" for a, b in zip(subjects, bodies, strict=True)], labels, **naive)
    assert model.top_words("spam") == by_hand.top_words("spam")
    assert (
        model.evaluate(tmp_path / "mail.csv").accuracy
        == by_hand.evaluate([f"{a}\n{b}" for a, b in zip(subjects, bodies, strict=True)], labels).accuracy
    )


def test_a_separator_in_the_data_moves_nothing_to_another_column():
    rows = [*mails(), {"Subject": "free\x1fphone", "Body": "six", "kind": "ham"}]
    model = textodds.train(rows, text=["Subject", "Body"], label="kind", learner="multinomial")
    own = model.tally.table(["Subject:phone", "Body:phone"])
    plain = textodds.train(mails(), text=["Subject", "Body"], label="kind", learner="multinomial")
    before = plain.tally.table(["Subject:phone", "Body:phone"])
    assert str(own) != str(before)
    assert model.row_of({"Subject": "free\x1fphone", "Body": "six"}) == "free phone\x1fsix"


def test_a_model_of_one_column_reads_that_column_again(tmp_path):
    rows = [{**row, "text": "another"} for row in mails()]
    path = as_csv(rows, tmp_path / "mail.csv")
    model = textodds.train(path, text="Body", label="kind", learner="multinomial")
    model.save(tmp_path / "m.textodds")
    model = textodds.load(tmp_path / "m.textodds")
    bodies, labels = [row["Body"] for row in rows], [row["kind"] for row in rows]
    assert model.evaluate(path).as_dict() == model.evaluate(bodies, labels).as_dict()
    assert model.evaluate(path, text="text").accuracy < model.evaluate(path).accuracy
    others = as_csv([{"text": row["Body"], "label": row["kind"]} for row in rows], tmp_path / "other.csv")
    with pytest.raises(MissingColumn, match="has no column `Body`"):
        model.evaluate(others)
    assert model.evaluate(others, text="text", label="label").accuracy == model.evaluate(path).accuracy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("free phone", "the model reads the columns subject, body"),
        ({"subject": "free", "bdy": "six"}, "there is no column `bdy`; did you mean `body`"),
        (3, "a text must be str"),
    ],
)
def test_a_text_without_its_columns_is_refused(text, problem):
    subjects, bodies, labels = documents()
    model = textodds.train(joined(subjects, bodies), labels, fields=FIELDS, learner="multinomial")
    for ask in (model, model.explain, lambda text: model.predict([text])):
        with pytest.raises(InputError, match=problem):
            ask(text)


def test_a_model_of_columns_learns_and_forgets_them():
    rows = mails()
    model = textodds.train(
        rows, text=["Subject", "Body"], label="kind", learner="multinomial", calibrate=False
    )
    before = model.predict_proba([{"Subject": "free", "Body": "six"}])
    more = {"Subject": "free free", "Body": "prize"}
    assert model.learn(more, "spam") == 1
    assert not np.array_equal(model.predict_proba([{"Subject": "free", "Body": "six"}]), before)
    assert model.forget([more], ["spam"]) == 1
    assert np.array_equal(model.predict_proba([{"Subject": "free", "Body": "six"}]), before)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(MissingColumn, match="Topic"):
        textodds.train(mails(), text=["Subject", "Topic"], label="kind")
    with pytest.raises(InputError, match="twice"):
        textodds.train(mails(), text=["Subject", "Subject"], label="kind")


def test_compare_and_audit_take_columns_apart():
    rows = mails()
    found = textodds.compare(rows, text=["Subject", "Body"], label="kind", models="multinomial", sizes=())
    assert found.rows[0].evaluation.n == 48
    doubtful = textodds.audit(rows, text=["Subject", "Body"], label="kind")
    assert doubtful is not None


@pytest.fixture(scope="module")
def of_two_columns():
    subjects, bodies, labels = documents()
    return textodds.train(
        joined(subjects, bodies), labels, fields=FIELDS, learner="multinomial", calibrate=False
    )


@given(data=st.data())
def test_words_are_taken_away_within_their_columns(of_two_columns, data):
    model = of_two_columns
    words = st.lists(st.sampled_from("free phone see you prize six".split()), max_size=4).map(" ".join)
    row = data.draw(st.fixed_dictionaries(dict.fromkeys(FIELDS, words)))
    reading = model.explain(row).reading
    every = {word.name for word in reading.words}
    removed = data.draw(st.sets(st.sampled_from(sorted(every)))) if every else set()
    left = reading.without(removed)
    assert left.count(BETWEEN_FIELDS) == 1
    assert set(model.recipe.settings.terms(left)) == every - removed
    if (flip := model.explain(row).flip()) is not None:
        assert model(flip.text).label == flip.label_after != model(row).label


def test_the_command_line_takes_columns_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    as_csv(mails(), tmp_path / "mail.csv")
    columns = ["--text", "subject", "--text", "body", "--label", "kind", "--learner", "multinomial"]
    assert main(["train", "mail.csv", *columns]) == 0
    assert "textodds predict mail.textodds NEW_DATA" in capsys.readouterr().err
    row = {"subject": "free prize", "body": "six"}
    assert main(["predict", "mail.textodds", "--say", json.dumps(row)]) == 0
    assert capsys.readouterr().out.split()[0] == textodds.load("mail.textodds")(row).label
    assert main(["explain", "mail.textodds", "--say", json.dumps(row)]) == 0
    assert "subject:free" in capsys.readouterr().out
    assert main(["evaluate", "mail.textodds", "mail.csv"]) == 0  # the columns are known
    capsys.readouterr()
    assert main(["predict", "mail.textodds", "--say", "free"]) == 2
    assert "the columns subject, body, and `free` came without them" in capsys.readouterr().err


def test_a_merged_model_remembers_the_columns_that_both_were_trained_on(tmp_path):
    rows, columns = mails(), {"text": ["Subject", "Body"], "label": "kind", "learner": "multinomial"}
    first, second = textodds.train(rows[:120], **columns), textodds.train(rows[120:], **columns)
    both = textodds.train(rows, **columns)
    path = as_csv(rows, tmp_path / "mail.csv")
    assert (first + second).evaluate(path).as_dict() == both.evaluate(path).as_dict()
    assert (both - second).schema == first.schema
    one, other = (
        textodds.train(rows, text=name, label="kind", learner="multinomial") for name in ("Subject", "Body")
    )
    assert (one + other).schema.columns == ()  # which of the two is not for us to say


def test_reports_and_what_to_label_next_take_columns(tmp_path):
    rows = mails()
    path = as_csv(rows, tmp_path / "mail.csv")
    model = textodds.train(path, text=["Subject", "Body"], label="kind", learner="multinomial")
    assert "240 rows" in textodds.evaluation_report(model, path)
    texts = [{"Subject": row["Subject"], "Body": row["Body"]} for row in rows]
    useful = textodds.most_useful(model, texts, 3)
    assert [each.index for each in useful] == [
        each.index for each in textodds.most_useful(model, [model.row_of(text) for text in texts], 3)
    ]
    with pytest.raises(Unsupported, match="Subject, Body"):
        generate.sample(model, 2)


def test_other_columns_are_read_if_they_are_as_many(tmp_path):
    rows = mails()
    renamed = [{"Topic": row["Subject"], "Content": row["Body"], "kind": row["kind"]} for row in rows]
    model = textodds.train(rows, text=["Subject", "Body"], label="kind", learner="multinomial")
    said = model.evaluate(renamed, text=["Topic", "Content"]).as_dict()
    assert said == model.evaluate(rows).as_dict()
    with pytest.raises(InputError, match="the model reads Subject, Body, and other columns are named"):
        model.evaluate(rows, text="Body")
    one = textodds.train(rows, text="Body", label="kind", learner="multinomial")
    with pytest.raises(InputError, match="the model reads one column, and other columns are named"):
        one.evaluate(rows, text=["Subject", "Body"])
