"""Every assigned character, one by one: the kernels' idea of it is Python's."""

import re
import unicodedata

import pytest

import twins
from textodds import TextSettings
from unicode_texts import DIFFERENT_BESIDE_SIGMA

CHARACTERS = [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) not in ("Cn", "Cs")]


def analysed(texts, **settings):
    """The terms of each text, from one call of the kernel."""
    return TextSettings(**settings).analyser.terms(texts)


@pytest.mark.slow
def test_word_characters_are_those_of_pythons_re():
    texts = [f"aa{c}bb" for c in CHARACTERS]
    got = analysed(texts, unit="sklearn", lower=False, normal_form=None)
    differing = [t for t, terms in zip(texts, got, strict=True) if terms != re.findall(r"(?u)\b\w\w+\b", t)]
    assert differing == []


@pytest.mark.slow
def test_white_space_is_that_of_str_split():
    texts = [f"a{c}b" for c in CHARACTERS]
    got = analysed(texts, unit="whitespace", lower=False, normal_form=None)
    assert [t for t, terms in zip(texts, got, strict=True) if terms != t.split()] == []


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
    texts = [f"x{c}x" for c in CHARACTERS]
    got = analysed(texts, unit="characters", **settings)
    differing = [
        t for t, terms in zip(texts, got, strict=True) if "".join(terms) != twins.prepared(t, **settings)
    ]
    assert differing == []


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("context", ["a{}Σ", "aΣ{}a", "{}Σ", "aΣ{}"])
def test_final_sigma_is_pythons_beside_all_but_two_characters(context):
    texts = [context.format(c) for c in CHARACTERS]
    got = analysed(texts, unit="characters", normal_form=None)
    differing = {c for c, t, terms in zip(CHARACTERS, texts, got, strict=True) if "".join(terms) != t.lower()}
    assert differing <= set(DIFFERENT_BESIDE_SIGMA)
