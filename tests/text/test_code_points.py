"""Every assigned character, one by one: the kernels' idea of it is Python's."""

import functools
import re
import unicodedata

import pytest

import twins
from textodds import TextSettings
from unicode_texts import DIFFERENT_BESIDE_SIGMA

TOGETHER = 1000  # so many are asked of at once


@functools.cache
def assigned():
    """Every character that is one."""
    return [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) not in ("Cn", "Cs")]


def analysed(text, **settings):
    """The terms of a text, by the kernel."""
    return TextSettings(**settings).analyser.terms([text])[0]


def differing(context, by_kernel, by_python):
    """The characters that in a context, such as "a{}b", are not to the kernel what they are to Python.

    Asked of many characters at once, in words, and one by one where that differs.
    """

    def differ(characters):
        text = " ".join(map(context.format, characters))
        return by_kernel(text) != by_python(text)

    found = []
    for start in range(0, len(assigned()), TOGETHER):
        some = assigned()[start : start + TOGETHER]
        if differ(some):
            found += [c for c in some if differ([c])]
            assert found, "they differ only beside each other"
    return found


@pytest.mark.slow
def test_word_characters_are_those_of_pythons_re():
    kernel = functools.partial(analysed, unit="sklearn", lower=False, normal_form=None)
    assert differing("aa{}bb", kernel, re.compile(r"(?u)\b\w\w+\b").findall) == []


@pytest.mark.slow
def test_white_space_is_that_of_str_split():
    kernel = functools.partial(analysed, unit="whitespace", lower=False, normal_form=None)
    assert differing("a{}b", kernel, str.split) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"lower": True, "normal_form": None},
        {"lower": False, "normal_form": "NFC"},
        {"lower": False, "normal_form": "NFKC"},
        {"lower": False, "normal_form": None, "strip_accents": True},
        {"lower": True, "normal_form": "NFKC", "strip_accents": True},
    ],
    ids=str,
)
def test_preparation_of_every_character_is_pythons(settings):
    def kernel(text):
        return "".join(analysed(text, unit="characters", **settings))

    assert differing("x{}x", kernel, lambda text: twins.prepared(text, **settings)) == []


@pytest.mark.slow
@pytest.mark.parametrize("context", ["a{}Σ", "aΣ{}a", "{}Σ", "aΣ{}"])
def test_final_sigma_is_pythons_beside_all_but_two_characters(context):
    def kernel(text):
        return "".join(analysed(text, unit="characters", normal_form=None))

    assert set(differing(context, kernel, str.lower)) <= set(DIFFERENT_BESIDE_SIGMA)
