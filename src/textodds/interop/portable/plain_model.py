r"""A model as plain data, from which every other language can predict.

.. math::
    z_k = b_k + \sum_v x_v w_{vk}, \qquad w_{vk} = d_k + s_k a_v + e_{vk}

Prior, intercept and calibration are in b and w; x is what the occurrences of a term are worth.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import textodds
from textodds.errors import Unsupported
from textodds.interop.portable.characters import Characters, needed, word_rules
from textodds.learn.arrays import Floats
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.text import UNKNOWN, TextSettings

FORMAT = 1

_RUN = re.compile(r"(?P<whole>\\b)?(?P<set>\\w|\\S|\[[^]]+\])\{(?P<least>\d+),\}")
_NAMED = {"whitespace": r"\S{1,}", "sklearn": r"\w{2,}"}

Plain = dict[str, object]


@dataclass(frozen=True, eq=False)
class WeightMatrix:
    """Weights (V, K): a full matrix, or what differs from ``default_k + slope_k base_v``."""

    default: Floats  # (K,)
    slope: Floats  # (K,) or (0,)
    base: Floats  # (V,) or (0,)
    starts: Floats  # (V + 1,) whole numbers
    class_of: Floats  # (C,) whole numbers
    cells: Floats  # (C,)
    dense: Floats | None = None  # (V, K)

    def rows(self) -> Floats:
        """All weights, (V, K)."""
        if self.dense is not None:
            return self.dense
        V, K = len(self.starts) - 1, len(self.default)
        out = np.tile(self.default, (V, 1))
        if len(self.base):
            out += np.outer(self.base, self.slope)
        word_of = np.repeat(np.arange(V), np.diff(self.starts).astype(np.intp))
        out.reshape(-1)[word_of * K + self.class_of.astype(np.intp)] += self.cells
        return out


@dataclass(frozen=True, eq=False)
class PlainModel:
    """Everything that an answer follows from."""

    name: str
    classes: tuple[str, ...]
    terms: list[str]
    settings: TextSettings
    bias: Floats  # (K,) prior, intercept and calibration
    start: dict[str, list[float]]  # the parts of it, by name
    weights: WeightMatrix
    scale: Floats | None  # (V,)
    frequency: str  # count, log or binary: what occurrences are worth
    norm: str  # l2, l1 or nothing
    presence: bool
    unknown: int  # the term that stands for unknown ones, or -1
    characters: Characters
    is_posterior: bool  # whether a prior or costs can be applied to its probabilities
    prior: list[float] | None  # scores of a text without a known term, where they are not the bias
    thresholds: list[float] | None  # of several labels

    @property
    def blocks(self) -> int:
        """How many parts of a row are brought to one length each."""
        return self.settings.blocks if self.norm == "l2" else 1

    @property
    def several(self) -> bool:
        """Whether a text may have several labels."""
        return self.thresholds is not None


def plain_model(
    model: TextModel | MultiLabelModel, target: str, most_weights: int, name: str = ""
) -> PlainModel:
    """The model as plain data; `Unsupported` if ``target`` cannot hold it or cut its texts."""
    settings, recipe = model.recipe.settings, model.recipe
    must_be_portable(settings, target)
    V, K = len(model.vocabulary), len(model.class_names)
    if not V:
        raise Unsupported("the model has no words to export", hint="train it on texts that hold words")
    form, bias = _form(model)
    weights = _cells(form.weights)
    stored = V * K if weights.dense is not None else len(weights.cells) + len(weights.base)
    if stored > most_weights:
        raise Unsupported(
            f"the model has {stored:,} weights, and {target} holds up to {most_weights:,}",
            hint="train with fewer words: max_features, or a larger min_df",
        )
    weighting = recipe.weighting
    several = model if isinstance(model, MultiLabelModel) else None
    has_unknown = recipe.unknown != "ignore" and model.scale is None
    return PlainModel(
        name or "textodds",
        tuple(model.class_names),
        model.vocabulary.words(),
        settings,
        bias,
        _start(model, bias),
        weights,
        model.scale,
        "count" if weighting is None else weighting.frequency,
        "" if weighting is None else weighting.norm,
        form.presence,
        int(model.vocabulary.find([UNKNOWN])[0]) if has_unknown else -1,
        needed(settings),
        form.is_posterior,
        _without_terms(model),
        None if several is None else np.asarray(several.thresholds).tolist(),
    )


def _without_terms(model: TextModel | MultiLabelModel) -> list[float] | None:
    """Scores (K,) of a text without a known term; None if they are the bias."""
    if isinstance(model, MultiLabelModel):
        return list(map(float, model.prior_logits))
    return list(map(float, model.form.log_prior)) if model.has_prior_without_words else None


def must_be_portable(settings: TextSettings, target: str) -> None:
    """Refuse settings whose terms cannot be found outside."""
    hints = {
        "hash_bits": (settings.hash_bits is not None, "train without hash_bits"),
        "fields": (bool(settings.fields), "train on one text a row"),
        "unit": (settings.buckets is not None, "convert it to ONNX, or serve it"),
    }
    for name, (is_set, hint) in hints.items():
        if is_set:
            value = getattr(settings, name)
            raise Unsupported(f"{target} cannot cut texts with {name}={value!r}", hint=hint)


def _form(model: TextModel | MultiLabelModel) -> tuple[LinearModel, Floats]:
    """The linear form of a model's answers, and its bias."""
    if isinstance(model, MultiLabelModel):
        form, odds = model.form, model.odds
        assert odds is not None
        weights = form.weights.scaled(1.0)
        if weights.replaces or weights.dense is not None:
            V = weights.shape[0]
            weights = Weights.of_matrix(weights.rows(np.arange(V)) * odds.slopes)
        else:
            assert weights.exceptions is not None
            slope = weights.slope * odds.slopes if len(weights.slope) else weights.slope
            cells = weights.exceptions * odds.slopes[weights.class_of]
            default = weights.default * odds.slopes
            weights = Weights(default, slope, weights.base, None, weights.starts, weights.class_of, cells)
        bias = odds.logits(form.log_prior + form.intercept)
        return replace(form, weights=weights), bias
    answers = model.calibrated_form
    return answers, np.asarray(answers.log_prior + answers.intercept)


def _cells(weights: Weights) -> WeightMatrix:
    """The weights as they are stored, but full where an exception would replace its default."""
    nothing = np.zeros(0)
    if weights.dense is not None or weights.replaces:
        V, K = weights.shape
        rows = weights.rows(np.arange(V))
        return WeightMatrix(np.zeros(K), nothing, nothing, nothing, nothing, nothing, rows)
    assert weights.starts is not None
    assert weights.class_of is not None
    assert weights.exceptions is not None
    return WeightMatrix(
        weights.default,
        weights.slope,
        weights.base,
        weights.starts.astype(np.float64),
        weights.class_of.astype(np.float64),
        weights.exceptions,
    )


def _start(model: TextModel | MultiLabelModel, whole: Floats) -> dict[str, list[float]]:
    """What is believed before reading, by name, as explanations have it; the sum is the bias."""
    if isinstance(model, MultiLabelModel):
        prior = model.form.log_prior
        return {"class prior": prior.tolist(), "intercept": (whole - prior).tolist()}
    form, calibration = model.linear, model.calibration
    slope = 1.0 if calibration is None else float(calibration.slopes[0])
    bias = np.zeros(1) if calibration is None else np.asarray(calibration.bias)
    parts = {"class prior": form.log_prior}
    if form.presence and form.intercept.any():
        parts["absent words"] = slope * form.intercept
    elif form.intercept.any():
        parts["intercept"] = form.intercept
        bias = bias + (slope - 1.0) * form.intercept
    if bias.any():
        parts["calibration"] = np.broadcast_to(bias, form.log_prior.shape)
    return {name: part.tolist() for name, part in parts.items()}


def text_plan(settings: TextSettings) -> Plain:
    r"""How texts are cut, in words that need no tokeniser of ours to be understood.

    >>> plan = text_plan(TextSettings(unit=r"\b[a-c]{3,}\b"))
    >>> plan["unit"], plan["set"], plan["least"], plan["whole"]
    ('runs', 'abc', 3, True)
    """
    plan: Plain = {
        "unit": settings.unit,
        "ngrams": list(settings.ngrams),
        "characters": None if settings.characters is None else list(settings.characters),
        "lower": settings.lower,
        "form": settings.normal_form,
        "accents": settings.accents,
        "stop_words": list(settings.stop_words),
    }
    found = _RUN.match(_NAMED.get(settings.unit, settings.unit))
    if found is None:
        return plan
    kind = {r"\w": "word", r"\S": "visible"}.get(found["set"]) or _ascii(found["set"])
    return plan | {"unit": "runs", "set": kind, "least": int(found["least"]), "whole": bool(found["whole"])}


def _ascii(brackets: str) -> str:
    """The characters of a set such as ``[a-z_]``."""
    pattern = re.compile(brackets)
    return "".join(chr(code) for code in range(128) if pattern.fullmatch(chr(code)))


def packed(values: Floats, kind: str = "<f8") -> str:
    """Numbers as base64 of their bytes, the lowest first: doubles, or with ``<u4`` whole numbers."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")


def as_plain(plain: PlainModel, pack: Callable[..., object] = packed) -> Plain:
    """The model as objects, lists, strings and numbers."""
    weights = plain.weights
    kept: Plain
    if weights.dense is not None:
        kept = {"dense": pack(weights.dense.reshape(-1))}
    else:
        kept = {
            "default": weights.default.tolist(),
            "slope": weights.slope.tolist(),
            "base": pack(weights.base),
            "starts": pack(weights.starts, "<u4"),
            "class_of": pack(weights.class_of, "<u4"),
            "cells": pack(weights.cells),
        }
    return {
        "textodds": textodds.__version__,
        "format": FORMAT,
        "name": plain.name,
        "classes": list(plain.classes),
        "text": text_plan(plain.settings),
        "frequency": plain.frequency,
        "norm": plain.norm,
        "blocks": plain.blocks,
        "presence": plain.presence,
        "unknown": plain.unknown,
        "is_posterior": plain.is_posterior,
        "prior": plain.prior,
        "thresholds": plain.thresholds,
        "bias": plain.bias.tolist(),
        "start": plain.start,
        "scale": None if plain.scale is None else pack(plain.scale),
        "weights": kept,
        "terms": plain.terms,
        "characters": plain.characters.plain(),
        "rules": word_rules(),
    }


def as_json(plain: PlainModel) -> str:
    """The model as JSON of ASCII characters, without ``<``: it can stand in any page or program."""
    written = json.dumps(as_plain(plain), separators=(",", ":"), allow_nan=False)
    return written.replace("<", "\\u003c")
