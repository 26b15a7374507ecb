"""Documents come as they do to scikit-learn's vectorisers, and bad ones give the same errors."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from same import assert_same, assert_same_deed, assert_same_result, outcome
from sklearn.feature_extraction import text as theirs

from pairs import in_turn, pairwise, together
from textodds.interop import vectorisers as ours

TEXTS = ["Free phone, free calls", "see you at the café", "", "free\tat last 漢字", "été ÉTÉ e\u0301te\u0301"]
NEW_LETTER = "aa bb\u1c8a"  # a letter since Unicode 16, which a Python before 3.14 does not know
NAMES = ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"]

every = pytest.mark.parametrize("name", NAMES)


def both(kind, documents, **choices):
    """Rows from all ways to get them; documents are made anew for each."""
    return [
        kind(**choices).fit_transform(documents()),
        kind(**choices).fit(documents()).transform(documents()),
    ]


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda texts: (text for text in texts),
    "iterator": iter,
    "map": lambda texts: map(str, texts),
    "dict": dict.fromkeys,
    "object array": lambda texts: np.array(texts, dtype=object),
    "str array": np.array,
    "string array": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "strided array": lambda texts: np.array([t for text in texts for t in (text, "no")], dtype=object)[::2],
    "object series": lambda texts: pd.Series(texts, dtype=object),
    "str series": lambda texts: pd.Series(texts, dtype="str"),
    "string series": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "numbered series": lambda texts: pd.Series(texts, index=range(7, 7 + len(texts))),
    "category series": lambda texts: pd.Series(texts, dtype="category"),
    "index": pd.Index,
    "polars series": pl.Series,
    "polars categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "bytes": lambda texts: [text.encode() for text in texts],
    "bytes and texts": lambda texts: [text.encode() if i % 2 else text for i, text in enumerate(texts)],
    "texts by numpy": lambda texts: [np.str_(text) for text in texts],
}


@together
@in_turn(2)
@every
@pytest.mark.parametrize("container", CONTAINERS)
def test_any_container_gives_scikit_learns_rows(name, container):
    made = CONTAINERS[container]
    assert_same_result(name, lambda kind: both(kind, lambda: made(TEXTS)))


ARROW = {
    "array": pa.array,
    "large": lambda texts: pa.array(texts, pa.large_string()),
    "view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "slice": lambda texts: pa.array(["no", *texts, "no"])[1:-1],
    "chunked": lambda texts: pa.chunked_array([texts[:2], texts[2:]], pa.string()),
    "no chunks": lambda texts: pa.chunked_array([texts[:0], texts], pa.string()),
}


@in_turn(2)
@every
@pytest.mark.parametrize("container", ARROW)
@pytest.mark.parametrize("texts", [TEXTS, [*TEXTS, NEW_LETTER]], ids=["kernels", "scikit-learn"])
def test_arrow_gives_the_rows_of_a_list(name, container, texts):
    expected = both(getattr(theirs, name), lambda: texts)
    assert_same(both(getattr(ours, name), lambda: ARROW[container](texts)), expected)


@pairwise
@every
@pytest.mark.parametrize("container", ["array", "chunked"])
@pytest.mark.parametrize(
    "choices", [{"token_pattern": r"[^,]+"}, {"tokenizer": str.split, "token_pattern": None}], ids=str
)
def test_arrow_may_go_with_what_is_left_to_scikit_learn(name, container, choices):
    expected = both(getattr(theirs, name), lambda: TEXTS, **choices)
    assert_same(both(getattr(ours, name), lambda: ARROW[container](TEXTS), **choices), expected)


@pairwise
@every
@pytest.mark.parametrize("kind", ["array", "chunked"])
@pytest.mark.parametrize("documents", [["free", None], [1, 2]], ids=["null", "numbers"])
def test_arrow_without_texts_fails_as_a_list_does(name, kind, documents):
    made = {"array": pa.array, "chunked": lambda values: pa.chunked_array([values])}[kind]
    expected = outcome(lambda: both(getattr(theirs, name), lambda: documents))
    got = outcome(lambda: both(getattr(ours, name), lambda: made(documents)))
    assert expected.error is not None
    assert got.error == expected.error


@together
@in_turn(3)
@every
@pytest.mark.parametrize(
    "document",
    [
        None,
        np.nan,
        float("nan"),
        pd.NA,
        3,
        1.5,
        True,
        ["a", "list"],
        {"a": "dict"},
        np.array(["free"]),
        b"\xff",
        bytearray(b"free"),
        Path("free"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "choices", [{}, {"lowercase": False}, {"analyzer": "char", "lowercase": False}], ids=str
)
def test_a_document_that_is_no_text_gives_scikit_learns_error(name, document, choices):
    for documents in ([document], ["free phone", document], (document, "free phone")):
        assert_same_deed(name, lambda kind, given=documents: kind(**choices).fit_transform(given))
        assert_same_deed(name, lambda kind, given=documents: kind(**choices).fit(TEXTS).transform(given))


@together
@in_turn(2)
@every
@pytest.mark.parametrize(
    "documents",
    [
        "one text",
        np.str_("one text"),
        b"bytes",
        "",
        3,
        None,
        np.array("of no dimension"),
        np.array([["two", "dimensions"]]),
        pd.DataFrame({"free": ["phone"], "see": ["you"]}),
        pl.DataFrame({"free": ["phone"], "see": ["you"]}),
        pd.Series(["free", None]),
        pd.Series(["free", None], dtype=object),
        pd.Series(["free", None], dtype="string[python]"),
        pl.Series(["free", None]),
        [],
        (),
        np.array([], dtype=object),
        pd.Series([], dtype=object),
        [""],
        ["", " ", "."],
    ],
    ids=lambda documents: repr(documents).replace("\n", " ")[:30],
)
def test_what_is_no_list_of_texts_gives_scikit_learns_error(name, documents):
    assert_same_deed(name, lambda kind: kind().fit_transform(documents))
    assert_same_deed(name, lambda kind: kind().fit(TEXTS).transform(documents))
    if name != "HashingVectorizer":
        assert_same_deed(name, lambda kind: kind(vocabulary=["free", "see"]).fit_transform(documents))
    with pytest.raises(ValueError, match="Iterable over raw text documents expected, string object received"):
        getattr(ours, name)().fit_transform("one text")


@every
def test_a_generator_that_breaks_off_gives_its_own_error(name):
    def broken():
        yield "free phone"
        raise RuntimeError("the line went dead")

    assert assert_same_deed(name, lambda kind: kind().fit_transform(broken())).error is not None


@together
@in_turn(2)
@every
@pytest.mark.parametrize(
    "choices",
    [
        {"encoding": "latin-1"},
        {"encoding": "utf-8"},
        {"encoding": "utf-8", "decode_error": "ignore"},
        {"encoding": "utf-8", "decode_error": "replace"},
        {"encoding": "ascii", "decode_error": "replace", "analyzer": "char"},
        {"encoding": "utf-16"},
        {"encoding": "nonsense"},
        {"decode_error": "nonsense"},
    ],
    ids=str,
)
def test_bytes_are_decoded_as_scikit_learn_does(name, choices):
    documents = [
        "café au lait".encode("latin-1"),
        b"plain words",
        "naïve words".encode("latin-1"),
        "a text é",
    ]
    assert_same_deed(name, lambda kind: both(kind, lambda: documents, **choices))
    assert_same_deed(name, lambda kind: kind(**choices).transform(documents))


@pytest.fixture
def files(tmp_path):
    for i, text in enumerate([*TEXTS, "file number 5"]):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    return sorted(tmp_path.glob("*.txt"))


@every
@pytest.mark.parametrize("form", [str, Path, lambda path: str(path).encode()], ids=["str", "path", "bytes"])
def test_files_are_read_by_name(name, files, form):
    names = [form(path) for path in files]
    assert_same_result(name, lambda kind: both(kind, lambda: names, input="filename"))
    assert_same_result(name, lambda kind: both(kind, lambda: iter(names), input="filename"))
    assert_same_result(name, lambda kind: both(kind, lambda: np.array(names), input="filename"))


@every
def test_a_file_that_is_not_there_gives_scikit_learns_error(name, files):
    names = [str(files[0]), str(files[0]) + ".missing"]
    assert assert_same_deed(name, lambda kind: both(kind, lambda: names, input="filename")).error is not None


@every
@pytest.mark.parametrize("what", ["filename", "file"])
def test_no_files_at_all_are_as_no_texts(name, what, files):
    assert_same_deed(name, lambda kind: kind(input=what).fit_transform([]))
    opened = {"filename": lambda: files, "file": lambda: [io.StringIO(text) for text in TEXTS]}[what]
    assert_same_deed(name, lambda kind: kind(input=what).fit(opened()).transform([]))


FORMS = {
    "bytes": lambda text: io.BytesIO(text.encode()),
    "text": io.StringIO,
}


@pairwise
@every
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "texts",
    [TEXTS, [*TEXTS, NEW_LETTER], ["aa bb", "aa \U0005ffff bb"]],
    ids=["plain", "new letter", "unassigned"],
)
def test_open_files_are_read_once(name, form, texts):
    assert_same_result(
        name, lambda kind: both(kind, lambda: [FORMS[form](text) for text in texts], input="file")
    )


@every
def test_an_open_file_with_half_a_character_is_read_once(name):
    def documents():
        return [io.StringIO("half \ud800 of it"), io.StringIO("whole")]

    assert_same_result(name, lambda kind: both(kind, documents, input="file"))


@every
def test_the_decode_of_a_subclass_is_called_once_for_each_open_file(name):
    def decoded(kind):
        class Child(kind):
            def decode(self, doc):
                return super().decode(doc) + " more"

        return Child(input="file").fit_transform([io.StringIO("free phone"), io.BytesIO(b"free")])

    assert_same_result(name, decoded)


@every
def test_what_is_no_file_gives_scikit_learns_error(name):
    assert_same_deed(name, lambda kind: kind(input="file").fit_transform(TEXTS))
    assert_same_deed(name, lambda kind: kind(input="file").fit_transform([None]))
    assert_same_deed(name, lambda kind: kind(input="filename").fit_transform([io.StringIO("free")]))


@every
@pytest.mark.parametrize("number", [1023, 1024, 1025, 2500])
def test_thousands_of_files_are_one_matrix(name, number):
    """They are read in batches of 1,024."""

    def documents():
        return [io.BytesIO(b"w%d w%d shared" % (i % 1500, i * 7 % 13)) for i in range(number)]

    choices = {} if name == "HashingVectorizer" else {"min_df": 2}
    assert_same_result(name, lambda kind: both(kind, documents, input="file", **choices))
    assert_same_result(name, lambda kind: kind(input="file", binary=True).fit_transform(documents()))


@every
def test_texts_are_left_as_they_were(name):
    documents = np.array(TEXTS, dtype=object)
    getattr(ours, name)().fit_transform(documents)
    assert documents.tolist() == TEXTS
