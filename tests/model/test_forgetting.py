"""Learning and forgetting undo each other, through files, to the last bit; what is forgotten is gone."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import textodds
from textodds.errors import InputError, NoData
from textodds.learn.naive_bayes import BernoulliLearner, MultinomialLearner

LONG = "pneumonoultramicroscopicsilicovolcanoconiosis"
WORDS = ["ant", "bee", "cat", "naïve", "字", "x" * 15, "y" * 16, LONG]
RECIPES = [
    {},
    {"min_df": 2},
    {"min_df": 0.3},
    {"max_df": 3, "max_features": 4},
    {"ngrams": (1, 3)},
    {"unit": "characters", "ngrams": (2, 3)},
    {"characters": (2, 4)},
    {"hash_bits": 4},
    {"unknown": "smooth"},
    {"unknown": "first"},
    {"learner": BernoulliLearner(alpha=0.3)},
    {"learner": MultinomialLearner(binary=True, prior="uniform")},
    {"learner": "complement:alpha=1"},
]

text = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
label = st.sampled_from(["ham", "spam", "eggs", "späm"])
weight = st.one_of(st.integers(0, 3).map(float), st.floats(0, 5, allow_nan=False))
rows = st.lists(st.tuples(text, label, weight), min_size=1, max_size=8)


def columns(given):
    return [row[0] for row in given], [row[1] for row in given], [row[2] for row in given]


def trained(given, recipe):
    """The model of some rows, if there is one: a recipe may leave no word of them, or ask for more rows."""
    try:
        return textodds.train(*columns(given), **{"learner": "multinomial:alpha=1", **recipe})
    except InputError:
        return assume(False)


def through_a_file(model):
    """The model as it is after saving and loading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        model.save(path)
        return textodds.load(path)


def written(model):
    """The bytes of its file, but for what is said of where its data came from."""
    bare = textodds.TextModel(model.recipe, model.vocabulary, model.form, model.tally, {})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        bare.save(path)
        return path.read_bytes()


@pytest.mark.slow
@settings(max_examples=40)
@given(recipe=st.sampled_from(RECIPES), kept=rows, gone=rows)
def test_learning_and_forgetting_through_files_is_the_first_model_to_the_last_bit(recipe, kept, gone):
    first = trained(kept, recipe)
    model = through_a_file(first)
    try:
        model.learn(*columns(gone))
    except NoData:  # all words may have become too frequent
        assume(False)
    model = through_a_file(model)
    model.forget(*columns(gone))
    assert written(through_a_file(model)) == written(first)


@pytest.mark.slow
@settings(max_examples=40)
@given(recipe=st.sampled_from(RECIPES), kept=rows, gone=rows)
def test_forgetting_equals_training_without_to_the_last_bit(recipe, kept, gone):
    model = through_a_file(trained(kept + gone, recipe))
    without = trained(kept, recipe)
    model.forget(*columns(gone))
    assert written(model) == written(without)


@pytest.mark.slow
@settings(max_examples=40)
@given(recipe=st.sampled_from(RECIPES), early=rows, late=rows)
def test_learning_later_equals_training_on_all_to_the_last_bit(recipe, early, late):
    model = through_a_file(trained(early, recipe))
    both = trained(early + late, recipe)
    model.learn(*columns(late))
    assert written(model) == written(both)


@pytest.mark.slow
@given(given_rows=rows, data=st.data())
def test_documents_may_be_forgotten_in_any_order(given_rows, data):
    model = trained([*given_rows, ("kept", "kept", 1.0)], {})
    for row in data.draw(st.permutations(given_rows)):
        model = through_a_file(model)
        model.forget(*columns([row]))
    assert written(model) == written(trained([("kept", "kept", 1.0)], {}))


secret = st.text(st.characters(categories=["Ll"], max_codepoint=0x24F), min_size=8, max_size=40)


def in_any_form(word):
    """The ways in which a word's bytes could lie in a file: all of it, and the parts of a key."""
    spelt = word.encode()
    return [spelt, spelt[:8], spelt[-8:]]


@pytest.mark.slow
@given(
    recipe=st.sampled_from([{}, {"min_df": 2}, {"ngrams": (1, 2)}, {"max_features": 3}]),
    kept=rows.filter(lambda given: any(row[2] >= 1 and row[0] for row in given)),
    word=secret,
)
def test_a_word_of_a_forgotten_document_only_is_nowhere_in_the_file(recipe, kept, word):
    """In vocabulary, arena and tally: a name in a letter that must be forgotten must not be found again."""
    word = "".join(textodds.TextSettings().terms(word))
    assume(len(word.encode()) >= 8)
    assume(not any(part in " ".join(WORDS).encode() for part in in_any_form(word)))
    letter = (f"ant {word} bee {word}s", "ham", 1.0)
    model = trained([*kept, letter], recipe)
    without = trained(kept, recipe)
    assert word in model.tally.vocabulary.words()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        model.save(path)
        assert any(part in path.read_bytes() for part in in_any_form(word))  # it was there to be found
        changed = textodds.load(path)
        changed.forget(*columns([letter]))
        changed.save(path)
        contents = path.read_bytes()
        for part in in_any_form(word):
            if part not in written(without):  # what others say too, such as the name of an array, may stay
                assert part not in contents
        again = textodds.load(path)
        assert word not in again.vocabulary.words()
        assert word not in again.tally.vocabulary.words()


def test_a_class_of_forgotten_documents_only_is_nowhere_in_the_file(tmp_path):
    model = textodds.train(["ant", "bee"], ["ham", "the case of Mr Miller"])
    model.save(tmp_path / "m")
    assert b"Mr Miller" in (tmp_path / "m").read_bytes()
    model.forget("bee", "the case of Mr Miller")
    model.save(tmp_path / "m")
    assert b"Mr Miller" not in (tmp_path / "m").read_bytes()


def test_a_forgotten_document_does_not_live_on_in_what_is_typical(tmp_path):
    """Only lengths and surprises of typical texts are kept, none of their words."""
    texts = ["ant bee cat"] * 20 + [f"ant {LONG}"]
    model = textodds.train(texts, ["ham"] * 21, typical=True)
    model.forget(texts[-1], "ham")
    model.save(tmp_path / "m")
    assert LONG.encode() not in (tmp_path / "m").read_bytes()


@pytest.mark.slow
@given(kept=rows, stranger=text)
def test_forgetting_what_was_never_learned_changes_nothing_in_the_file(kept, stranger):
    model = trained([*kept, ("ant", "ham", 1.0)], {})
    before = written(model)
    with pytest.raises(InputError):
        model.forget(f"{stranger} zebra", "ham")
    assert written(model) == before
