from typing import NamedTuple

import pytest

from pairs import together
from textodds.data import read
from textodds.data.columns import LABEL_NAMES, TEXT_NAMES, ColumnRequest
from textodds.errors import InputError, MissingColumn


class Found(NamedTuple):
    text: int
    label: int | None
    weight: int | None


def find(columns, *, text=None, **wanted):
    places = ColumnRequest([] if text is None else [text], **wanted).places("mail.csv", columns)
    ((at,),) = places.columns.values()
    return Found(at, places.label, places.weight)


@together
@pytest.mark.parametrize("name", TEXT_NAMES)
def test_each_usual_name_of_a_text_column_is_found_in_any_case(name):
    assert find(["id", name.upper(), "label"]).text == 1


@together
@pytest.mark.parametrize("name", LABEL_NAMES)
def test_each_usual_name_of_a_label_column_is_found_in_any_case(name):
    assert find(["id", "text", name.title()]).label == 2


def test_the_first_usual_name_wins_over_the_first_column():
    assert find(["title", "body", "message", "y", "class"]) == Found(2, 4, None)


def test_a_blank_around_a_name_in_the_header_is_no_part_of_it():
    assert find(["text", " label"]) == Found(0, 1, None)


def test_a_named_column_is_taken_as_it_is_written_before_any_other_case():
    assert find(["Body", "body", "label"], text="body").text == 1
    assert find(["Body", "label"], text="body").text == 0


def test_a_weight_is_never_guessed():
    columns = ["text", "label", "weight", "sample_weight"]
    assert find(columns).weight is None
    assert find(columns, weight="sample_weight").weight == 3


def test_a_missing_text_column_lists_what_is_there():
    with pytest.raises(
        MissingColumn, match=r"mail\.csv has no text column; its columns are `a`, `b`"
    ) as caught:
        find(["a", "b"])
    assert "--text COLUMN" in caught.value.hint


def test_a_missing_label_column_lists_what_is_there():
    with pytest.raises(MissingColumn, match="has no label column; its columns are `text`, `kind`"):
        find(["text", "kind"])


def test_a_misspelt_column_is_answered_with_its_near_miss():
    with pytest.raises(MissingColumn, match="did you mean `body`"):
        find(["body", "label"], text="boddy")


def test_two_columns_without_usual_names_are_not_guessed():
    with pytest.raises(MissingColumn):
        find(["first", "second"])


def test_a_label_is_not_looked_for_where_none_is_wanted():
    assert find(["text"], labelled=False) == Found(0, None, None)
    assert find(["text", "label"], labelled=False) == Found(0, None, None)


def test_a_label_that_is_named_is_read_even_where_none_is_wanted():
    assert find(["text", "label"], label="label", labelled=False) == Found(0, 1, None)


def test_a_column_that_is_named_for_one_thing_is_not_guessed_for_another():
    assert find(["label", "class"], text="label") == Found(0, 1, None)
    assert find(["text", "title"], label="text") == Found(1, 0, None)
    assert find(["text", "label", "y"], weight="label") == Found(0, 2, 1)


def test_a_column_cannot_be_named_for_two_things():
    with pytest.raises(InputError, match=r"text and label are both column `label` of mail\.csv"):
        find(["label", "class"], text="label", label="label")
    with pytest.raises(InputError, match="label and weight are both column `y`"):
        find(["text", "y"], label="y", weight="y")


def test_a_name_for_texts_that_have_no_columns_is_an_error():
    with pytest.raises(InputError, match="`text` names a column, but a list of 1 text has no columns"):
        read(["a"], ["x"], text="body")
