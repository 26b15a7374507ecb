"""Models as tables and views: DuckDB, SQLite and PostgreSQL give the model's answers."""

import sqlite3

import pytest
from exported import by_duckdb, by_postgres, by_sqlite, sql_of
from exported_models import TEXTS, assert_same, awkward_texts, model_of, several_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_cases import CLASSES, documents, new_texts

import textodds
from label_texts import label_texts
from pairs import Failures, cover, together
from textodds.errors import Unsupported
from textodds.interop.portable.to_sql import DIALECTS

TARGETS = {"duckdb": by_duckdb, "sqlite": by_sqlite, "postgres": by_postgres}


def is_of_words(settings):
    """Whether a database can cut texts so."""
    unit, others = settings.get("unit", "words"), ("characters", "strip_accents")
    return not unit.startswith("characters") and not any(name in settings for name in others)


CUTS = [name for name, settings in TEXTS.items() if is_of_words(settings)]
CASES = cover(
    ("multinomial", "bernoulli", "nb-softmax"),
    CLASSES,
    CUTS,
    allowed=lambda learner, _, cut: "unknown" not in TEXTS[cut] or learner != "nb-softmax",
)


def without_zeros(texts):
    """The texts without zero bytes, which end a string in SQLite and cannot be in PostgreSQL."""
    return [text.replace("\0", "") for text in texts]


def must_agree(target, asked):
    """Every model answers its texts as it does itself."""
    with Failures() as failures:
        for (model, texts, name), said in zip(
            asked, TARGETS[target]([each[:2] for each in asked]), strict=True
        ):
            with failures.noted(name):
                assert_same(model, texts, said)


def asked_of(cases, n=25):
    """Models of words, which leaves out those whose learner has chosen characters; and texts."""
    return [
        (model_of(*case), without_zeros(new_texts(case[1])[-20:] + awkward_texts(n)), str(case))
        for case in cases
        if "characters" not in model_of(*case).recipe.settings.unit
        and model_of(*case).recipe.settings.characters is None
    ]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_answers_are_those_of_the_model(target):
    must_agree(target, asked_of(CASES[::12]))


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_answers_are_those_of_the_model_for_more_cases(target):
    must_agree(target, asked_of(CASES[1::6], 60))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_several_labels_have_thresholds(target):
    texts = [*label_texts(30, seed=1)[0], "", "unheard"]
    must_agree(target, [(several_labels("multinomial"), texts, "several")])


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_names_and_words_cannot_break_out_of_a_string(target):
    names = [
        "'; DROP TABLE mail_terms; --",
        "\\'); SELECT 1; --",
        'a "b" $$ {p} {tokens}',
        "new\nline\\",
        "-- é",
    ]
    hard = [f"{name.replace(' ', '_')} w{i}" for i, name in enumerate(names)] * 20
    model = textodds.train(hard, names * 20, learner="multinomial", unit="whitespace", lower=False)
    must_agree(target, [(model, [*hard[: len(names)], *names, ""], "hard names")])


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=2, max_size=3))
@pytest.mark.slow
@settings(max_examples=5)
def test_names_of_any_characters_come_back_out_of_sqlite(names):
    names = sorted({name.strip() for name in names} - {""})
    if len(names) < 2:
        return
    texts = [f"own{k}" for k, _ in enumerate(names)]
    model = textodds.train(texts * 3, names * 3, learner="multinomial")
    connection = sqlite3.connect(":memory:")
    connection.executescript(sql_of(model, "sqlite"))
    found = connection.execute("SELECT label FROM mail_classes ORDER BY class").fetchall()
    assert [label for (label,) in found] == list(model.class_names)


@together
@pytest.mark.parametrize("database", DIALECTS)
@pytest.mark.parametrize(
    "options", [{"unit": "characters", "ngrams": (1, 2)}, {"characters": (2, 3)}, {"strip_accents": True}]
)
def test_what_a_database_cannot_cut_is_said_by_its_name(options, database):
    model = textodds.train(*documents(2), learner="multinomial", **options)
    with pytest.raises(Unsupported, match=f"cannot cut texts with {next(iter(options))}=") as caught:
        sql_of(model, database)
    assert "export to C" in str(caught.value)


@pytest.mark.long
@pytest.mark.realdata
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["sms_spam", "langid_lingua", "reuters_r8"])
def test_answers_to_real_texts_are_those_of_the_model(name, target, real_data):
    (texts, labels), (new, _) = real_data(name)
    step = max(1, len(texts) // 1500)
    model = textodds.train(texts[::step], labels[::step], learner="multinomial:ngrams=1-2", max_features=5000)
    some = without_zeros(new[:: max(1, len(new) // 60)])
    must_agree(target, [(model, some, name)])
