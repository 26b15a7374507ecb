"""From the first parameter to the last pickle, our vectorisers behave as scikit-learn's."""

import copy
import inspect
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from same import assert_same, assert_same_deed, assert_same_result, outcome
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import text as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from pairs import in_turn, pairwise, together, turns
from textodds.interop import vectorisers as ours


def told(value):
    """A value as a name, sets in order: the same in every process."""
    if isinstance(value, dict):
        return ", ".join(f"{key!r}: {told(one)}" for key, one in value.items())
    return str(sorted(map(repr, value)) if isinstance(value, set) else value)


TEXTS = ["Free phone, free calls", "see you at the café", "free at last", "you see the phone", "at the café"]
OTHERS = ["the phone is free", "nothing known", "", "You SEE calls"]
LABELS = ["spam", "ham", "spam", "ham", "ham"]
LEARN = ["CountVectorizer", "TfidfVectorizer"]
NAMES = [*LEARN, "HashingVectorizer"]

every = pytest.mark.parametrize("name", NAMES)
learning = pytest.mark.parametrize("name", LEARN)


def small(kind, **choices):
    """A vectoriser, with few columns if it hashes."""
    return kind(**({"n_features": 64} if kind.__name__ == "HashingVectorizer" else {}), **choices)


def state(vectoriser):
    """What can be seen of a fitted vectoriser."""
    return [
        vectoriser.transform(OTHERS),
        vectoriser.vocabulary_,
        vectoriser.get_feature_names_out(),
        vectoriser.transform(TEXTS),
    ]


# Parameters


@together
@pytest.mark.parametrize("name", [*NAMES, "TfidfTransformer"])
def test_parameters_are_scikit_learns(name):
    assert_same(getattr(ours, name)().get_params(), getattr(theirs, name)().get_params())
    assert_same_result(name, lambda kind: [(p.name, p.kind) for p in parameters(kind)])
    assert_same_result(name, lambda kind: repr(kind()))
    assert_same_result(name, lambda kind: repr(kind().__sklearn_tags__()))


def parameters(kind):
    return inspect.signature(kind).parameters.values()


@every
def test_parameters_can_be_set_and_cloned(name):
    choices = {"ngram_range": (1, 2), "analyzer": "char_wb", "lowercase": False}
    assert_same_result(name, lambda kind: kind().set_params(**choices).get_params())
    assert_same_result(name, lambda kind: repr(kind(**choices)))
    assert_same_result(name, lambda kind: clone(kind(**choices)).get_params())
    assert_same_result(name, lambda kind: clone(small(kind, **choices).fit(TEXTS)).fit_transform(TEXTS))
    copied = clone(getattr(ours, name)(**choices).fit(TEXTS))
    assert type(copied) is getattr(ours, name)
    assert not hasattr(copied, "vocabulary_")
    assert_same_deed(name, lambda kind: kind().set_params(nonsense=1))


BAD = [
    {"ngram_range": [1, 2]},
    {"ngram_range": (2, 1)},
    {"ngram_range": "12"},
    {"analyzer": "words"},
    {"analyzer": 3},
    {"strip_accents": "all"},
    {"lowercase": "yes"},
    {"stop_words": "german"},
    {"stop_words": {"the"}},
    {"stop_words": [["the"]]},
    {"stop_words": [1, 2]},
    {"stop_words": ["the", None]},
    {"token_pattern": 3},
    {"token_pattern": "("},
    {"token_pattern": r"(\w)(\w)"},
    {"token_pattern": None},
    {"input": "text"},
    {"preprocessor": "upper"},
    {"tokenizer": "split"},
    {"dtype": "nonsense"},
    {"dtype": np.float16},
    {"dtype": object},
    {"dtype": "U5"},
]
BAD_COUNTS = [
    {"min_df": 0},
    {"min_df": 1.5},
    {"max_df": -1},
    {"max_df": 1, "min_df": 3},
    {"min_df": 6},
    {"max_features": 0},
    {"max_features": 1.5},
    {"vocabulary": 3},
    {"vocabulary": []},
    {"vocabulary": {}},
    {"vocabulary": ["free", "free"]},
    {"vocabulary": {"free": 0, "see": 0}},
    {"vocabulary": {"free": 0, "see": 2}},
    {"vocabulary": [["free"]]},
    {"vocabulary": ["free", 3]},
    {"vocabulary": ["free", None], "lowercase": False},
    {"vocabulary": [b"free", "free"], "lowercase": False},
    {"vocabulary": {"free", 3}},
]


@together
@pytest.mark.parametrize(
    ("name", "choices"),
    turns(NAMES, BAD)
    + turns(LEARN, BAD_COUNTS)
    + [("HashingVectorizer", {"n_features": n}) for n in (0, -1, 2**31, 1.5)]
    + [(name, {"norm": "max"}) for name in ("HashingVectorizer", "TfidfVectorizer")],
    ids=told,
)
def test_bad_parameters_give_scikit_learns_errors(name, choices):
    assert_same_deed(name, lambda kind: kind(**choices).fit(TEXTS))
    assert_same_deed(name, lambda kind: kind(**choices).fit_transform(TEXTS))
    if choices.get("n_features") not in (0, -1, 2**31):  # which scikit-learn does not survive
        assert_same_deed(name, lambda kind: kind(**choices).transform(TEXTS))
    if name in LEARN and "vocabulary" not in choices:
        assert_same_deed(name, lambda kind: kind(vocabulary=["free"], **choices).transform(TEXTS))


@every
@pytest.mark.parametrize(
    "choices", [{"stop_words": {"the"}}, {"stop_words": ("the",), "ngram_range": [1, 2]}]
)
def test_parameters_are_not_checked_where_that_is_switched_off(name, choices):
    with config_context(skip_parameter_validation=True):
        assert_same_result(name, lambda kind: small(kind, **choices).fit_transform(TEXTS))


@in_turn(2)
@every
@pytest.mark.parametrize(
    "choices",
    [
        {"stop_words": ["don't", "the"]},
        {"stop_words": ["The"]},
        {"stop_words": "english", "analyzer": "char"},
        {"token_pattern": r"\w+", "analyzer": "char_wb"},
        {"tokenizer": str.split},
        {"preprocessor": str.upper, "analyzer": str.split, "ngram_range": (1, 2)},
    ],
    ids=told,
)
def test_warnings_are_scikit_learns(name, choices):
    def warned(kind):
        vectoriser = small(kind, **choices)
        heard = [outcome(lambda: vectoriser.fit(TEXTS)).warnings]
        heard += [outcome(lambda: vectoriser.transform(TEXTS)).warnings]
        heard += [outcome(lambda: small(kind, **choices).fit_transform(TEXTS)).warnings]
        return [sorted(set(warnings), key=str) for warnings in heard]

    assert any(assert_same_result(name, warned))


@learning
@pytest.mark.parametrize("vocabulary", [["Free", "see"], {"see": 1, "FREE": 0}, {"É", "free"}], ids=told)
def test_upper_case_in_a_vocabulary_is_warned_of_as_in_scikit_learn(name, vocabulary):
    choices = {"vocabulary": vocabulary, "stop_words": ["don't"]}
    found = assert_same_deed(name, lambda kind: kind(**choices).fit_transform(TEXTS))
    assert len(found.warnings) == 2
    assert_same_deed(name, lambda kind: kind(**choices, lowercase=False).fit_transform(TEXTS))


@together
@every
@pytest.mark.parametrize(
    ("choices", "document"),
    [({"stop_words": ["don't"]}, np.nan), ({"stop_words": ["a"], "analyzer": "char"}, b"\xff")],
    ids=["stop words", "unused"],
)
def test_warnings_come_before_the_error_of_a_document(name, choices, document):
    def warned(kind):
        return set(outcome(lambda: small(kind, **choices).fit_transform([*TEXTS, document])).warnings)

    assert assert_same_result(name, warned)


# Fitted and not


@every
def test_before_it_is_fitted_the_errors_are_scikit_learns(name):
    for deed in (
        lambda kind: kind().transform(TEXTS),
        lambda kind: check_is_fitted(kind()),
        lambda kind: kind().get_feature_names_out(),
        lambda kind: kind().inverse_transform(np.eye(2)),
        lambda kind: kind().vocabulary_,
        lambda kind: kind().fixed_vocabulary_,
        lambda kind: kind().idf_,
        lambda kind: kind().set_output(transform="pandas"),
        lambda kind: kind().partial_fit(TEXTS),
    ):
        assert_same_deed(name, deed)


@every
def test_whether_it_is_fitted_can_be_asked(name):
    assert_same_result(name, lambda kind: check_is_fitted(small(kind).fit(TEXTS)))
    if name in LEARN:
        for attribute in ("vocabulary_", "fixed_vocabulary_"):
            assert_same_result(name, lambda kind, a=attribute: check_is_fitted(kind().fit(TEXTS), a))


@learning
def test_a_vocabulary_set_by_hand_makes_it_fitted(name):
    def fitted(kind):
        vectoriser = kind()
        vectoriser.vocabulary_ = {"see": 0, "free": 1}
        check_is_fitted(vectoriser)

    assert_same_result(name, fitted)


@together
@pytest.mark.parametrize(
    "vocabulary",
    [
        {"see": 0, "free": 1},
        {"see": np.int64(1), "free": np.int32(0)},
        {"free": 0, "See": 1, "nothing": 2},
        {"free": 0, "see": 5},  # beyond the last column
        {"free": 0, "see": 0},  # one column for both
        {"free": 1, "see": 2},
        {"free": 0, 3: 1},
        {"free": 0, "\ud800": 1},
        {},
    ],
    ids=told,
)
def test_a_vocabulary_set_by_hand_is_used(vocabulary):
    def used(kind):
        vectoriser = kind()
        vectoriser.vocabulary_ = dict(vocabulary)
        return [vectoriser.transform(TEXTS), vectoriser.vocabulary_, vectoriser.get_feature_names_out()]

    def replaced(kind):
        vectoriser = kind().fit(OTHERS)
        vectoriser.vocabulary_ = dict(vocabulary)
        return vectoriser.transform(TEXTS)

    assert_same_deed("CountVectorizer", used)
    assert_same_deed("CountVectorizer", replaced)


@pytest.mark.parametrize(
    "vocabulary", [{"free": 0, "see": 5}, {"free": 1, "see": 2}, {"free": -1, "see": 0}], ids=told
)
def test_weights_and_a_vocabulary_with_gaps_are_scikit_learns(vocabulary):
    def replaced(kind):
        vectoriser = kind().fit(["free see"])
        vectoriser.vocabulary_ = dict(vocabulary)
        return vectoriser.transform(TEXTS)

    assert_same_deed("TfidfVectorizer", replaced)


@learning
def test_a_vocabulary_can_be_taken_away(name):
    def bereft(kind):
        vectoriser = kind().fit(TEXTS)
        del vectoriser.vocabulary_
        return hasattr(vectoriser, "vocabulary_")

    assert_same_result(name, bereft)


@learning
def test_it_can_be_fitted_again(name):
    def again(kind):
        vectoriser = kind()
        first = state(vectoriser.fit(TEXTS))
        second = state(vectoriser.fit(["other words", "other texts"]))
        third = state(vectoriser.set_params(token_pattern=r"[^,]+").fit(TEXTS))  # which scikit-learn does
        fourth = state(vectoriser.set_params(token_pattern=r"\w+", vocabulary=["free", "a"]).fit(TEXTS))
        fifth = state(vectoriser.set_params(vocabulary=None).fit(TEXTS))
        return [first, second, third, fourth, fifth, vectoriser.fixed_vocabulary_]

    assert_same_result(name, again)


@learning
def test_parameters_may_change_after_fitting(name):
    changes = [
        {"lowercase": False},
        {"lowercase": True, "binary": True},
        {"analyzer": "char"},
        {"analyzer": "word", "token_pattern": r"[^,]+"},
        {"token_pattern": r"\w+", "stop_words": ["free"]},
        {"vocabulary": ["calls", "free"]},  # which only the next `fit` looks at
        {"dtype": np.float32},
    ]

    def changed(kind):
        vectoriser = kind().fit(TEXTS)
        return [state(vectoriser.set_params(**change)) for change in changes]

    assert_same_result(name, changed)


@together
@pytest.mark.parametrize("bad", ["...", ""])
@pytest.mark.parametrize("pattern", [r"\w+", r"[a-z]+'?[a-z]*"], ids=["kernels", "scikit-learn"])
def test_after_a_fit_that_failed_the_vocabulary_is_the_old_one(bad, pattern):
    def failed(kind):
        vectoriser = kind().fit(TEXTS)
        with pytest.raises(ValueError, match="empty vocabulary"):
            vectoriser.set_params(token_pattern=pattern).fit([bad])
        with pytest.raises(ValueError, match="max_df corresponds to"):
            vectoriser.set_params(min_df=9).fit(TEXTS)
        with pytest.raises(ValueError, match="no terms remain"):
            vectoriser.set_params(min_df=3, max_df=3).fit(TEXTS[1:3])
        return state(vectoriser)

    assert_same_result("CountVectorizer", failed)


@together
@learning
@pytest.mark.parametrize(
    "vocabulary", [["see", "free", "never"], {"see": 1, "free": 0, "at the": 2}, {"the", "see"}, ("you", "a")]
)
def test_a_vocabulary_that_is_given_needs_no_fit(name, vocabulary):
    choices = {"vocabulary": vocabulary, "ngram_range": (1, 2)}
    assert_same_deed(name, lambda kind: kind(**choices).transform(TEXTS))
    assert_same_deed(name, lambda kind: kind(**choices).get_feature_names_out())
    assert_same_deed(name, lambda kind: kind(**choices).inverse_transform(np.eye(len(vocabulary))))
    assert_same_result(name, lambda kind: state(kind(**choices).fit(TEXTS)))


@pairwise
@learning
@pytest.mark.parametrize(
    "vocabulary", [["", "see"], ["see", ""], ["at", "", "see"], ["", "at", "see"], {"see": 2, "": 1, "at": 0}]
)
@pytest.mark.parametrize(
    "choices", [{}, {"analyzer": "char_wb", "ngram_range": (1, 4)}], ids=["word", "char_wb"]
)
def test_an_empty_word_in_a_vocabulary_has_its_column(name, vocabulary, choices):
    assert_same_result(name, lambda kind: state(kind(vocabulary=vocabulary, **choices).fit(TEXTS)))
    assert_same_deed(name, lambda kind: kind(vocabulary=vocabulary, **choices).transform(TEXTS))


@learning
def test_a_vocabulary_may_be_a_generator(name):
    assert_same_result(name, lambda kind: state(kind(vocabulary=(w for w in ["Free", "see"])).fit(TEXTS)))


@learning
def test_the_vocabulary_of_one_serves_another(name):
    def passed_on(kind):
        first = kind(ngram_range=(1, 2)).fit(TEXTS)
        return state(kind(ngram_range=(1, 2), vocabulary=first.vocabulary_).fit(OTHERS))

    assert_same_result(name, passed_on)


@learning
def test_columns_are_plain_numbers(name):
    vectoriser = getattr(ours, name)(max_features=3).fit(TEXTS)
    assert {type(column) for column in vectoriser.vocabulary_.values()} == {int}
    assert {type(word) for word in vectoriser.vocabulary_} == {str}
    assert {type(word) for word in vectoriser.get_feature_names_out()} == {str}


@learning
@pytest.mark.parametrize(
    "choices", [{}, {"ngram_range": (1, 3)}, {"analyzer": "char"}, {"vocabulary": ["a", "see"]}]
)
def test_words_are_found_again(name, choices):
    def found_again(kind):
        vectoriser = kind(**choices)
        rows = vectoriser.fit_transform(TEXTS)
        forms = [rows, rows.toarray(), rows.tocsc(), sparse.csr_array(rows), vectoriser.transform(OTHERS)]
        return [vectoriser.inverse_transform(form) for form in forms]

    assert_same_result(name, found_again)
    assert_same_deed(name, lambda kind: kind().fit(TEXTS).inverse_transform(np.ones((2, 99))))


# Copies


@in_turn(2)
@learning
@pytest.mark.parametrize("looked_at", [False, True])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_same(name, looked_at, protocol):
    def pickled(kind, **choices):
        vectoriser = kind(**choices).fit(TEXTS)
        if looked_at:
            _ = vectoriser.vocabulary_, vectoriser.get_feature_names_out(), vectoriser.transform(OTHERS)
        twin = pickle.loads(pickle.dumps(vectoriser, protocol))
        assert type(twin) is kind
        return [*state(twin), *state(vectoriser), twin.get_params(), twin.fit_transform(OTHERS)]

    assert_same_result(name, lambda kind: pickled(kind, ngram_range=(1, 2)))
    assert_same_result(name, lambda kind: pickled(kind, vocabulary={"see": 1, "free": 0}))
    assert_same_result(name, lambda kind: pickled(kind, token_pattern=r"[a-z]+'?[a-z]*"))


@every
def test_a_pickle_of_what_is_not_fitted_is_the_same(name):
    assert_same_result(name, lambda kind: pickle.loads(pickle.dumps(small(kind))).fit_transform(TEXTS))


@every
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, "joblib"], ids=["copy", "deepcopy", "joblib"])
def test_a_copy_is_the_same_and_stands_alone(name, copied):
    def through_a_file(vectoriser):
        file = io.BytesIO()
        joblib.dump(vectoriser, file)
        file.seek(0)
        return joblib.load(file)

    copy_of = through_a_file if copied == "joblib" else copied

    def lived_on(kind):
        first = small(kind).fit(TEXTS)
        second = copy_of(first)
        first.fit(["other words"])
        seen = state(second) if name in LEARN else second.transform(TEXTS)
        return [seen, first.transform(TEXTS)]

    assert_same_result(name, lived_on)


def parts(thing, seen=None):
    """All objects that an object is made of."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    yield thing
    inner = (
        thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple | set) else ()
    )
    kept = thing.__getstate__() if hasattr(thing, "__dict__") and not isinstance(thing, type) else None
    for part in [*inner, *(kept.values() if isinstance(kept, dict) else ())]:
        yield from parts(part, seen)


@together
@every
@pytest.mark.parametrize("choices", [{}, {"stop_words": ["the"], "analyzer": "word"}])
def test_the_state_holds_no_kernels(name, choices):
    vectoriser = small(getattr(ours, name), **choices).fit(TEXTS)
    vectoriser.transform(OTHERS)
    kernels = [
        part for part in parts(vectoriser.__getstate__()) if type(part).__module__ == "textodds._kernels"
    ]
    assert kernels == []
    assert b"_kernels" not in pickle.dumps(vectoriser)


@learning
def test_a_pickle_does_not_grow_when_it_is_looked_at(name):
    vectoriser = getattr(ours, name)().fit(TEXTS)
    before = len(pickle.dumps(vectoriser))
    state(vectoriser)
    assert len(pickle.dumps(vectoriser)) == before


@learning
def test_a_pickle_of_a_vocabulary_set_by_hand_is_the_same(name):
    def by_hand(kind):
        vectoriser = kind().fit(TEXTS)
        words = list(vectoriser.get_feature_names_out())
        vectoriser.vocabulary_ = {word: column for column, word in enumerate(reversed(words))}
        return state(pickle.loads(pickle.dumps(vectoriser)))

    assert_same_result(name, by_hand)


# Subclasses and callables


def keep_nothing(words):
    return []


OVERRIDES = {
    "build_analyzer": lambda self: lambda document: ["one", str(document)[:3]],
    "build_tokenizer": lambda self: lambda document: document.split("e"),
    "build_preprocessor": lambda self: lambda document: str(document)[::-2],
    "decode": lambda self, document: str(document).replace("e", "ee"),
    "get_stop_words": lambda self: frozenset(["free"]),
    "_word_ngrams": lambda self, tokens, stop_words=None: ["-".join(tokens), *tokens],
}


@in_turn(1)
@every
@pytest.mark.parametrize("method", OVERRIDES)
@pytest.mark.parametrize("documents", [TEXTS, [text.encode() for text in TEXTS]], ids=["str", "bytes"])
def test_a_subclass_may_override(name, method, documents):
    def overridden(kind):
        child = small(type("Child", (kind,), {method: OVERRIDES[method]}))
        rows = [child.fit_transform(documents), child.fit(documents).transform(documents)]
        return [*rows, getattr(child, "vocabulary_", None)]

    assert_same_result(name, overridden)


@every
@pytest.mark.parametrize("method", ["_char_ngrams", "_char_wb_ngrams"])
def test_a_subclass_may_override_how_characters_are_joined(name, method):
    def overridden(kind):
        child = type("Child", (kind,), {method: lambda self, text: [text[:2], text[-2:]]})
        return small(child, analyzer=method[1:].removesuffix("_ngrams")).fit_transform(TEXTS)

    assert_same_result(name, overridden)


@in_turn(1)
@every
@pytest.mark.parametrize("method", OVERRIDES)
def test_a_method_of_one_object_may_be_replaced(name, method):
    def replaced(kind):
        vectoriser = small(kind)
        setattr(vectoriser, method, lambda *given, **named: OVERRIDES[method](vectoriser, *given, **named))
        return [vectoriser.fit_transform(TEXTS), getattr(vectoriser, "vocabulary_", None)]

    assert_same_result(name, replaced)


def test_fit_is_by_the_fit_transform_of_a_subclass():
    def counted(kind):
        class Child(kind):
            calls = 0

            def fit_transform(self, raw_documents, y=None):
                self.calls += 1
                return super().fit_transform(raw_documents, y)

        return Child().fit(TEXTS).calls

    assert_same_result("CountVectorizer", counted)


@every
def test_a_subclass_with_parameters_of_its_own_is_cloned_and_pickled(name):
    def made(kind):
        class Child(kind):
            def __init__(self, extra=1, **choices):
                super().__init__(**choices)
                self.extra = extra

            @classmethod
            def _get_param_names(cls):
                return sorted([*super()._get_param_names(), "extra"])

        return [clone(Child(extra=2)).fit_transform(TEXTS), repr(Child(extra=2))]

    assert_same_deed(name, made)


CALLABLES = [
    {"analyzer": str.split},
    {"analyzer": lambda text: text.lower().split("e")},
    {"analyzer": lambda text: [len(word) for word in text.split()]},  # terms that are no texts
    {"tokenizer": str.split, "token_pattern": None},
    {"tokenizer": lambda text: text.split("e"), "token_pattern": None, "ngram_range": (1, 2)},
    {"tokenizer": str.split},
    {"preprocessor": str.upper},
    {"preprocessor": lambda text: text[::-1], "lowercase": False},
    {"strip_accents": str.swapcase},
    {"strip_accents": lambda text: text.replace("é", "e")},
    {"tokenizer": str.split, "analyzer": "char", "token_pattern": None},
    {"tokenizer": keep_nothing, "token_pattern": None},
    {"analyzer": str.split, "stop_words": ["free"], "token_pattern": r"\w"},
]


@in_turn(1)
@every
@pytest.mark.parametrize("choices", CALLABLES, ids=range(len(CALLABLES)))
def test_callables_are_called(name, choices):
    assert_same_deed(name, lambda kind: small(kind, **choices).fit_transform(TEXTS))
    assert_same_deed(name, lambda kind: small(kind, **choices).fit(TEXTS).transform(OTHERS))
    if name in LEARN:
        assert_same_deed(name, lambda kind: state(small(kind, **choices).fit(TEXTS)))


@every
def test_a_callable_is_called_once_for_each_text(name):
    def seen_by(kind, method):
        seen = []
        given = {"token_pattern": None} if method == "tokenizer" else {}
        small(kind, **given, **{method: lambda text: seen.append(text) or ["a"]}).fit_transform(TEXTS)
        return seen

    for method in ("analyzer", "tokenizer"):
        assert assert_same_result(name, lambda kind, m=method: seen_by(kind, m)) != []


# Within scikit-learn


@every
def test_it_works_in_a_pipeline(name):
    def learned(kind):
        model = make_pipeline(small(kind), LogisticRegression(max_iter=50)).fit(TEXTS, LABELS)
        return [model.predict_proba(OTHERS), model.predict(OTHERS)]

    assert_same_result(name, learned)


def test_it_works_in_a_pipeline_with_weights():
    def learned(kind):
        module = ours if kind is ours.CountVectorizer else theirs
        model = make_pipeline(kind(), module.TfidfTransformer(), MultinomialNB())
        return model.fit(TEXTS, LABELS).predict_proba(OTHERS)

    assert_same_result("CountVectorizer", learned)


@learning
def test_it_works_in_a_union(name):
    def joined(kind):
        union = FeatureUnion([("words", kind()), ("pieces", kind(analyzer="char_wb", ngram_range=(2, 3)))])
        return [union.fit_transform(TEXTS), union.transform(OTHERS), union.get_feature_names_out()]

    assert_same_result(name, joined)


@learning
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_it_works_on_a_column(name, frame):
    table = frame({"text": TEXTS, "number": [1.0, 2.0, 3.0, 4.0, 5.0], "title": TEXTS[::-1]})

    def transformed(kind):
        columns = ColumnTransformer(
            [("text", kind(), "text"), ("title", kind(analyzer="char"), "title")], remainder="passthrough"
        )
        rows = columns.fit_transform(table)
        return [rows, columns.transform(table), columns.get_feature_names_out()]

    assert_same_result(name, transformed)


@together
@learning
@pytest.mark.parametrize("container", ["pandas", "polars", "default"])
def test_set_output_is_refused_as_by_scikit_learns(name, container):
    def wanted(kind):
        return Pipeline([("words", kind())]).set_output(transform=container).fit_transform(TEXTS)

    assert_same_deed(name, wanted)
    assert_same_deed(name, lambda kind: kind().set_output(transform=container).fit_transform(TEXTS))
    with config_context(transform_output=container):
        assert_same_deed(name, lambda kind: kind().fit_transform(TEXTS))


@pytest.mark.parametrize("container", ["pandas", "polars", "default"])
def test_set_output_of_hashes_and_weights_is_refused_as_by_scikit_learns(container):
    counts = sparse.csr_array(np.eye(3))
    for name, X in (("HashingVectorizer", TEXTS), ("TfidfTransformer", counts)):
        assert_same_result(name, lambda kind: hasattr(kind(), "set_output"))
        with config_context(transform_output=container):
            assert_same_deed(name, lambda kind, X=X: kind().fit_transform(X))
            assert_same_deed(name, lambda kind, X=X: kind().fit(X).transform(X))


@learning
def test_it_can_be_searched_over(name):
    def searched(kind):
        model = Pipeline([("vect", kind()), ("nb", MultinomialNB())])
        grid = {"vect__ngram_range": [(1, 1), (1, 2)], "vect__analyzer": ["word", "char_wb"]}
        search = GridSearchCV(model, grid, cv=2).fit(TEXTS * 4, LABELS * 4)
        scores = search.cv_results_["mean_test_score"]
        return [scores, search.best_params_, search.predict_proba(OTHERS)]

    assert_same_result(name, searched)


@every
def test_it_can_be_cross_validated(name):
    def scored(kind):
        model = make_pipeline(small(kind), LogisticRegression(max_iter=50))
        return cross_val_score(model, TEXTS * 4, LABELS * 4, cv=2, scoring="neg_log_loss")

    assert_same_result(name, scored)


@every
def test_metadata_is_routed_as_in_scikit_learn(name):
    with config_context(enable_metadata_routing=True):
        assert_same_result(name, lambda kind: repr(kind().get_metadata_routing()))
    assert_same_result(name, lambda kind: [n for n in dir(kind()) if not n.startswith("_")])


@every
def test_labels_are_passed_over(name):
    assert_same_result(name, lambda kind: small(kind).fit(TEXTS, LABELS).transform(TEXTS))
    assert_same_result(name, lambda kind: small(kind).fit_transform(TEXTS, y=LABELS))
    document = "X" if name == "HashingVectorizer" else "raw_documents"
    assert_same_result(name, lambda kind: small(kind).fit_transform(**{document: TEXTS}))
    assert_same_result(name, lambda kind: small(kind).fit(**{document: TEXTS}).transform(**{document: TEXTS}))
