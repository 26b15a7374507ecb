"""Texts for hypothesis: every character the running Python knows, and the awkward ones more often."""

import unicodedata

from hypothesis import strategies as st

DIFFERENT_BESIDE_SIGMA = "\u0295\U0001171e"
"""Letters after which, or before which, Σ ends a word in one version of Unicode and not in another.

Python 3.11 has Unicode 14, the kernels a later version, in which U+0295 is no longer a letter with
case and U+1171E is passed over when looking for one. `test_code_points.py` tries all characters and
finds no others.
"""

AWKWARD = (
    "aAzZ09_ .,;:'\"-!?()<>#@/\\\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\0\x7f\x85\xa0\xad·"
    "éÉñÑüßẞøØåÅœŒﬁİıIiǅǆſK"  # accents, ligatures, dotted and dotless i, title case, long s, Kelvin
    "ΟΔΣσςάΆΐ"  # Greek with both small sigmas
    "ЖжЙйЁё"
    "אבש״׳ּ"  # Hebrew with gershayim and a point
    "نا٣٤ـ"  # Arabic letters, digits and the tatweel
    "हिन्दीक़१"  # Hindi: vowel signs, virama, nukta, digits
    "สวัดี漢字カタひーｶﾞ한글각"  # Thai, ideographs, both kana, half width, Hangul composed and not
    "😀👍🏽❤️🇩🇪🇫👨‍👩‍👧①²½Ⅳℵ𝔄𝟘"  # emoji, flags, joiners, numbers that are no digits, mathematics
    "\u0300\u0301\u0307\u0308\u0327\u0338\u034f\u200b\u200c\u200d\u200e\u2028\u2029\u202f\u2060\u3000\ufeff\ufe0f"
    "’‘“”‿…‐—"
)

assigned = st.characters(exclude_categories=("Cn", "Cs"), exclude_characters=DIFFERENT_BESIDE_SIGMA)
awkward = st.sampled_from(sorted({c for c in AWKWARD if unicodedata.category(c) != "Cn"}))
texts = st.one_of(
    st.text(assigned, max_size=60),
    st.text(awkward, max_size=200),
    st.text(st.one_of(st.sampled_from("aAbB1_ .'"), awkward), max_size=200),
)
