import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs import together
from textodds.data.values import Unusable, label_of, labels_of, text_of, texts_of, weight_of, weights_of


@together
@pytest.mark.parametrize(
    ("value", "label"),
    [
        (3, "3"),
        (-1, "-1"),
        (True, "true"),
        (False, "false"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (1e-7, "1e-07"),
        (" spam ", " spam "),
        (np.int64(3), "3"),
        (np.float32(2), "2"),
        (np.bool_(True), "true"),
        (np.str_("spam"), "spam"),
        (Decimal("3.00"), "3"),
        (Decimal("2.50"), "2.50"),
        (Decimal("Infinity"), "Infinity"),
        (float("-inf"), "-inf"),
        (b"spam", "spam"),
    ],
)
def test_labels_become_text_as_one_would_write_them(value, label):
    assert label_of(value) == label
    assert type(label_of(value)) is str


@together
@pytest.mark.parametrize("value", [None, "", b"", float("nan"), np.nan, Decimal("nan"), pd.NA, pd.NaT])
def test_a_null_or_empty_label_is_bad(value):
    with pytest.raises(Unusable, match=r"^label is empty$"):
        label_of(value)


@together
@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT])
def test_a_null_text_is_bad(value):
    with pytest.raises(Unusable, match=r"^text is null$"):
        text_of(value)


def test_an_empty_text_is_a_document_like_any_other():
    assert texts_of(["", "a"]) == (["", "a"], {})


def test_a_text_that_is_a_number_is_bad():
    with pytest.raises(Unusable, match=r"text is 3 \(int\), not text"):
        text_of(3)


def test_a_label_that_is_a_list_is_bad():
    with pytest.raises(Unusable, match=r"label is \['a'\] \(list\), not text or a number"):
        label_of(["a"])


def test_a_label_too_long_to_write_out_is_bad():
    with pytest.raises(Unusable, match=r"label is a number of 16,610 bits"):
        label_of(10**5000)


def test_bytes_that_are_not_utf8_are_bad_with_their_offset():
    with pytest.raises(Unusable, match="invalid UTF-8 at byte 2 of the text"):
        text_of(b"ab\xffc")
    with pytest.raises(Unusable, match="invalid UTF-8 at byte 0 of the label"):
        label_of(b"\x80")


def test_half_a_surrogate_pair_is_bad_because_no_file_could_hold_it():
    values, problems = texts_of(["fine", "né\ud800"])
    assert problems == {1: "text has half a surrogate pair (U+D800) at character 2"}
    assert values[0] == "fine"


def test_nul_bytes_in_a_text_are_kept():
    assert texts_of(["a\0b"]) == (["a\0b"], {})


@together
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "weight is null"),
        (math.nan, "weight is `nan`; it must be a number from 0 to 2"),
        (math.inf, "weight is `inf`"),
        (-1, "weight is `-1`"),
        (2**32 + 1, "weight is `4294967297`"),
        (10**400, "weight is `inf`"),
        (Decimal("NaN"), "weight is `NaN`"),
        ("2", "weight is `2`"),
        (True, "weight is `True`"),
        (np.True_, "weight is `True`"),
        (pd.NA, "weight is `<NA>`"),
    ],
)
def test_a_weight_that_is_no_number_from_0_to_2_to_the_32_is_bad_with_its_value(value, reason):
    with pytest.raises(Unusable, match=reason):
        weight_of(value)


def test_weights_are_float64():
    weights, problems = weights_of([1, 0.5, Decimal("0.25"), np.float32(2), 0, 2**32])
    assert weights.dtype == np.float64
    assert weights.tolist() == [1, 0.5, 0.25, 2, 0, 2**32]
    assert not problems


def test_lists_of_plain_text_are_passed_on_and_not_copied():
    texts = ["a", "é"]
    assert texts_of(texts)[0] is texts
    assert labels_of(texts)[0] is texts


@given(st.lists(st.none() | st.text(st.characters(codec=None)) | st.integers() | st.floats() | st.binary()))
def test_what_is_admitted_can_be_encoded_and_the_rest_has_a_reason(values):
    for check in (texts_of, labels_of):
        checked, problems = check(values)
        assert len(checked) == len(values)
        assert all(type(text) is str and text.encode() is not None for text in checked)
        assert all(problems.values())
