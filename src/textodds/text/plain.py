"""Choices as plain data: what a file says of a dataclass, checked against the types of its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from textodds.errors import InputError

LARGEST = 1e30
"""Numbers in a model file are below this in size: their sums and products are then numbers too."""

_TYPES: dict[type, set[str]] = {
    type(None): {"None", "ClassWeight"},
    bool: {"bool"},
    int: {"int", "float", "Alpha", "Shrinkage"},
    float: {"float", "Alpha", "Shrinkage"},
    str: {"str", "Prior", "ClassWeight", "Shrinkage"},
    list: {"Sequence", "tuple", "Alpha"},
    dict: {"dict", "Prior", "ClassWeight"},
}


def checked(kind: type, plain: object) -> dict[str, Any]:
    """Values for the fields of a dataclass, if each has one of the types that its field names.

    >>> from textodds.text import Weighting
    >>> checked(Weighting, {"idf": False})
    {'idf': False}
    >>> checked(Weighting, {"idf": 0.5})
    Traceback (most recent call last):
    textodds.errors.InputError: `idf` must be bool, got 0.5
    """
    if not isinstance(plain, dict):
        raise InputError(f"the settings of {kind.__name__} are {plain!r:.80}, not an object")
    types = {field.name: str(field.type) for field in fields(kind)}
    for name, value in plain.items():
        if name not in types:
            raise InputError(f"{kind.__name__} has no `{name}`")
        wanted = set(re.findall(r"\w+", types[name]))
        if type(value) in _TYPES and not (_TYPES[type(value)] & wanted and _is_small(value)):
            raise InputError(f"`{name}` must be {types[name]}, got {value!r:.80}")
    return dict(plain)


def _is_small(value: object) -> bool:
    """Whether numbers are numbers, also those within, and not absurdly large."""
    if isinstance(value, list | dict):
        inside = value if isinstance(value, list) else value.values()
        kinds = {type(each) for each in inside}
        return kinds <= {int, float, str} and all(map(_is_small, inside))
    return not isinstance(value, int | float) or -LARGEST < value < LARGEST


INFO: Mapping[str, tuple[type, ...]] = {
    "documents": (int, float),
    "source": (str,),
    "rejected": (int,),
    "fingerprint": (str,),
    "uncalibrated": (str,),
    "earlier": (bool,),
    "class_documents": (dict,),
    "columns": (dict,),
    "reading": (dict,),
    "quality": (dict,),
    "fit": (dict,),
    "left_out": (dict,),
    "chosen": (dict,),
    "prior": (str, dict),
}


def checked_info(info: object) -> dict[str, Any]:
    """What a file says is known of the data, if every part has the type that it must."""
    if not isinstance(info, dict):
        raise InputError("the description of its data is not an object")
    for name, value in info.items():
        kinds = INFO.get(name)
        if kinds is not None and value is not None and type(value) not in kinds:
            raise InputError(f"`{name}` of its data is {value!r:.80}")
    return info
