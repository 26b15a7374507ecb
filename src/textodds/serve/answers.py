"""Answers that change nothing: what the model says, why, and what it is. Every function takes one model."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, cast

import numpy as np
from msgspec import UNSET, UnsetType, convert, structs
from numpy.typing import NDArray

from textodds.data.label_sets import labels_in
from textodds.errors import InputError, Unsupported
from textodds.judge.baseline import Baseline
from textodds.judge.decisions import Losses, Rule, must_be_posterior
from textodds.judge.evaluation import calibration_error, reliability, wilson
from textodds.learn.forms.linear import log_prior, log_softmax
from textodds.learn.multilabel.odds import sigmoid
from textodds.model.explain import Explanation
from textodds.model.explain.flip import DecisiveWords
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.prediction import Prediction
from textodds.model.tables.table_model import TableExplanation, TableModel
from textodds.model.text_model import TextModel
from textodds.serve import rows
from textodds.serve.protocol import messages
from textodds.serve.protocol.label_messages import ExplainRowLabelRequest, LabelsCorrection
from textodds.serve.protocol.problems import shorten
from textodds.serve.protocol.row_messages import (
    ClassifyRowRequest,
    ClassifyRowsRequest,
    ColumnOdds,
    ExplainRowAnswer,
    ExplainRowRequest,
    RowCorrection,
    SuggestRowsRequest,
)
from textodds.serve.records.journal import JournalEntry
from textodds.serve.rows import OneLabelModel
from textodds.serve.updates.fold import ServedModel
from textodds.study.report import card

Floats = NDArray[np.float64]
_FOLDERS = re.compile(r"[^\s,]*[/\\]")  # where files were in training is nobody's business here


def classify(
    serving: ServedModel, request: messages.ClassifyRequest | ClassifyRowRequest
) -> messages.ClassifyAnswer:
    """The answer to one text or row."""
    model = one_label(serving)
    item = _item(model, request)
    if not request.costs and request.prior is None and request.abstain is None and request.top is None:
        said = _said(model, item)  # the usual case, without a detour
        return messages.ClassifyAnswer(
            label=said.label,
            probability=said.probability,
            evidence=said.evidence,
            probabilities=said.probabilities,
            version=serving.version,
        )
    top = request.top or len(model.classes_)
    (answer,), rule = _answers(model, [item], request, top)
    return messages.ClassifyAnswer(**structs.asdict(answer), rule=rule, version=serving.version)


def _said(model: OneLabelModel, item: Any) -> Prediction[str]:
    if isinstance(model, TextModel):
        return model.answer(item)
    with rows.reading(["row"]):
        return model.answer(item)


def classify_batch(
    serving: ServedModel, request: messages.BatchRequest | ClassifyRowsRequest
) -> messages.BatchAnswer:
    """The answers to several texts or rows, in order."""
    model = one_label(serving)
    if isinstance(request, messages.BatchRequest):
        items: list[Any] = request.texts
    else:
        items = _items(model, request.rows)
    answers, rule = _answers(model, items, request, request.top)
    return messages.BatchAnswer(answers=answers, rule=rule, version=serving.version)


def _item(model: OneLabelModel, request: messages.ClassifyRequest | ClassifyRowRequest) -> Any:
    if isinstance(request, messages.ClassifyRequest):
        return request.text
    return rows.item_of(model, request.row)


def _items(model: OneLabelModel, given: list[Any]) -> list[Any]:
    return [rows.item_of(model, row, f"rows[{at}]") for at, row in enumerate(given)]


def scored(model: OneLabelModel, items: list[Any], wheres: str) -> tuple[Floats, NDArray[np.uint32]]:
    """Scores (N, K) of the model's answers, and what they rest on (N, 2)."""
    if not isinstance(model, TableModel):
        return model.score(items, calibrate=True)
    if not items:
        return np.zeros((0, len(model.classes_))), np.zeros((0, 2), np.uint32)
    with rows.reading([wheres.format(at) for at in range(len(items))]):
        return model.score(items)


def _answers(
    model: OneLabelModel, items: list[Any], request: messages.DecisionOptions, top: int | None
) -> tuple[list[messages.Answer], str | UnsetType]:
    classes = model.class_names
    scores, evidence = scored(model, items, "row" if isinstance(request, ClassifyRowRequest) else "rows[{}]")
    log_posterior = log_softmax(scores + _shift(model, request.prior))
    best, known = log_posterior.argmax(axis=1), evidence[:, 0].tolist()
    shares = np.exp(log_posterior[np.arange(len(best)), best]).tolist()
    answers = [
        messages.Answer(label=classes[k], probability=share, evidence=n)
        for k, share, n in zip(best.tolist(), shares, known, strict=True)
    ]
    if top is not None:
        order = np.argsort(-np.exp(log_posterior), axis=1, kind="stable")[:, :top].tolist()
        for answer, row, ranked in zip(answers, np.exp(log_posterior), order, strict=True):
            answer.probabilities = {classes[k]: float(row[k]) for k in ranked}
    rule = _rule(model, request)
    if rule is None:
        return answers, UNSET
    decisions = rule.decide(log_posterior)
    actions, losses = decisions.action.tolist(), decisions.expected_loss.tolist()
    for answer, k, loss in zip(answers, actions, losses, strict=True):
        answer.action, answer.expected_loss = classes[k] if k >= 0 else None, loss
    return answers, rule.told() if len(classes) == 2 else UNSET


def _shift(model: OneLabelModel, prior: dict[str, float] | None) -> Floats | float:
    """What another prior adds to the scores, (K,): by Bayes' rule its logarithm for that of the old one."""
    if prior is None:
        return 0.0
    must_be_posterior(model, "a prior or costs could be applied to")
    own = _log_prior(model)
    whole = math.fsum(prior.values())
    rest = [k for k, label in enumerate(model.class_names) if label not in prior]
    shares = {label: share / whole for label, share in prior.items()}  # it comes in any unit
    if prior and rest and prior.keys() <= set(model.class_names):
        if whole >= 1:
            raise InputError(
                f"the prior names {len(prior)} of {len(model.classes_)} classes, and their shares come to "
                f"{whole:g}",
                hint="give shares below 1 together, or name every class; the rest goes to the other classes "
                "in their learned proportions",
            )
        left = np.exp(log_softmax(own[None, rest]))[0] * (1 - whole)
        shares = {**prior, **dict(zip([model.class_names[k] for k in rest], left.tolist(), strict=True))}
    return log_prior(shares, model.class_names, np.ones(len(model.classes_))) - own


def _log_prior(model: OneLabelModel) -> Floats:
    """The logarithm of the prior that is in the scores, (K,)."""
    return model.log_prior if isinstance(model, TableModel) else model.form.log_prior


def _rule(model: OneLabelModel, request: messages.DecisionOptions) -> Rule | None:
    if not request.costs and request.abstain is None:
        return None
    must_be_posterior(model, "a prior or costs could be applied to")
    costs: dict[tuple[str, str], float] = {}
    for cost in request.costs:
        pair = cost.truth, cost.answer
        if pair in costs:
            raise InputError(
                f"`costs` has two costs of answering `{cost.answer}` where `{cost.truth}` is the truth",
                hint="send one of them",
            )
        costs[pair] = cost.cost
    return Rule(Losses.of(costs, model.class_names), request.abstain)


def explain(serving: ServedModel, request: messages.ExplainRequest) -> messages.ExplainAnswer:
    """What each word adds to the log-odds."""
    model = _of_texts(serving, "the model reads rows", "send `row` in the place of `text`")
    why = model.explain(request.text, request.label, request.rival)
    return explained(why, serving.version, parts=request.parts)


def explained(why: Explanation, version: str, *, parts: bool) -> messages.ExplainAnswer:
    """An explanation of one text."""
    return messages.ExplainAnswer(
        **_sum(why),
        absent=why.absent,
        remainder=why.remainder,
        probability=why.probability,
        words=[messages.WordOdds(*word) for word in why.words],
        has_words=why.has_words,
        parts=[messages.WordOdds(*part) for part in why.parts] if parts else UNSET,
        unknown=why.unknown,
        unknown_words=list(why.unknown_words),
        places=[messages.Place(*place) for place in why.stretches],
        version=version,
    )


def _sum(why: Explanation | TableExplanation) -> dict[str, Any]:
    """Of which classes an explanation is, and what is believed before any word or column is read."""
    return {
        name: getattr(why, name)
        for name in ("label", "rival", "log_odds", "start", "prior", "intercept", "calibration")
    }


def flip(serving: ServedModel, request: messages.FlipRequest) -> messages.FlipAnswer:
    """The fewest words to take away for another answer."""
    model = _of_texts(serving, "the model reads rows, and words are taken out of a text", "explain the row")
    return flipped(model.explain(request.text, request.label, request.rival).flip(), serving.version)


def flipped(found: DecisiveWords | None, version: str) -> messages.FlipAnswer:
    """The words that were found, if there are any."""
    plain = None if found is None else convert(dataclasses.asdict(found), messages.Flip)
    return messages.FlipAnswer(plain, version)


def explain_row(serving: ServedModel, request: ExplainRowRequest) -> ExplainRowAnswer:
    """What each column adds to the log-odds; of columns of texts also each word."""
    model, given = one_label(serving), request.row
    item = rows.item_of(model, given)
    if not isinstance(model, TableModel):
        of_texts = model.explain(item, request.label, request.rival)
        return explained_texts(model, of_texts, request, serving.version)
    if request.parts:
        raise Unsupported("a model of a table has columns, and no other parts", hint="leave out `parts`")
    with rows.reading(["row"]):
        why = model.explain(item, request.label, request.rival)
        probability = model(item).probabilities[why.label]
    return ExplainRowAnswer(
        **_sum(why),
        probability=probability,
        absent=None,
        remainder=0.0,
        columns=[ColumnOdds(name, _told(value), x) for name, value, x in why.columns],
        words=[],
        has_words=True,
        version=serving.version,
    )


def explained_texts(
    model: TextModel | MultiLabelModel,
    why: Explanation,
    request: ExplainRowRequest | ExplainRowLabelRequest,
    version: str,
) -> ExplainRowAnswer:
    """What each column of texts adds to the log-odds, and each word."""
    sums = dict.fromkeys(rows.names_of(model), 0.0)
    for name, _, odds in why.words:
        own = [column for column in sums if name.removeprefix("~").startswith(f"{column}:")]
        columns = [max(own, key=len)] if own else list(sums)  # a hash bucket without a place is of all
        for column in columns:
            sums[column] += odds / len(columns)
    ranked = sorted(sums.items(), key=lambda each: -abs(each[1]))
    return ExplainRowAnswer(
        **_sum(why),
        absent=why.absent,
        remainder=why.remainder,
        probability=why.probability,
        columns=[ColumnOdds(name, _told(request.row.get(name)), x) for name, x in ranked],
        words=[messages.WordOdds(*word) for word in why.words],
        has_words=why.has_words,
        parts=[messages.WordOdds(*part) for part in why.parts] if request.parts else UNSET,
        version=version,
    )


def text_correction(entry: JournalEntry, *, stands: bool) -> messages.Correction:
    """An entry of the journal, with the beginning of its text."""
    return messages.Correction(label=entry.label, text=_text(entry), **_entry(entry, stands=stands))


def row_correction(entry: JournalEntry, *, stands: bool) -> RowCorrection:
    """An entry of the journal, whose texts are rows."""
    return RowCorrection(label=entry.label, row=_row(entry), **_entry(entry, stands=stands))


def labels_correction(entry: JournalEntry, *, stands: bool, of_rows: bool) -> LabelsCorrection:
    """An entry of the journal, whose documents have several labels."""
    content: Any = {"row": _row(entry)} if of_rows else {"text": _text(entry)}
    labels = list(labels_in(entry.label))
    return LabelsCorrection(labels=labels, **content, **_entry(entry, stands=stands))


def _entry(entry: JournalEntry, *, stands: bool) -> dict[str, Any]:
    change = "learned" if entry.sign > 0 else "forgotten"
    return {"id": entry.id, "change": change, "at": entry.at, "stands": stands}


def _text(entry: JournalEntry) -> str | None:
    return None if entry.text is None else shorten(entry.text)


def _row(entry: JournalEntry) -> dict[str, Any] | None:
    row = None if entry.text is None else rows.kept_row(entry.text)
    return None if row is None else {name: _told(value) for name, value in row.items()}


def _column(facts: rows.ColumnFacts) -> messages.ColumnCard:
    size = UNSET if facts.size is None else facts.size
    return messages.ColumnCard(facts.name, facts.kind, facts.categories, size)


def _told(value: object) -> Any:
    return shorten(value) if isinstance(value, str) else value


def suggest(
    serving: ServedModel, request: messages.SuggestRequest | SuggestRowsRequest
) -> messages.SuggestAnswer:
    """The texts whose labels the model would learn most from."""
    from textodds.study.active import most_useful

    model = _of_texts(
        serving,
        "suggestions of rows to label are not available for tables",
        "send rows to /v1/classify/batch",
    )
    if isinstance(request, messages.SuggestRequest):
        items: list[Any] = request.texts
    else:
        items = _items(model, request.rows)
    useful = most_useful(model, items, request.limit)
    return messages.SuggestAnswer([messages.Suggestion(*text) for text in useful], serving.version)


def words(serving: ServedModel, label: str, rival: str | None, limit: int) -> messages.WordsAnswer:
    """The words that speak most for a class; against a rival, those that decide between the two.

    Of a model of counts those are log-odds ratios of the counts with intervals, and the surest first.
    """
    model = _of_texts(
        serving, "a model of a table has no words of its classes", "explain a row: POST /v1/explain"
    )
    if rival is None:
        telling = [messages.TellingWord(*pair) for pair in model.top_words(label, limit)]
    elif model.has_counts:
        apart = model.separating_words(label, rival, limit)
        telling = [
            messages.TellingWord(word.word, word.log_odds_ratio, word.low, word.high) for word in apart
        ]
    else:
        telling = [messages.TellingWord(*pair) for pair in model.hyperplane(label, rival, limit).words]
    return messages.WordsAnswer(label, rival, telling, serving.version)


def one_label(serving: ServedModel) -> OneLabelModel:
    """The model, if it gives one label."""
    if isinstance(serving.model, MultiLabelModel):
        raise Unsupported(
            "the model gives several labels a text, and this is for models of one label",
            hint="POST /v1/classify has the probability and the threshold of each label",
        )
    return serving.model


def _of_texts(serving: ServedModel, problem: str, hint: str) -> TextModel:
    """The model, if it is one of texts with one label."""
    model = one_label(serving)
    if isinstance(model, TableModel):
        raise Unsupported(problem, hint=hint)
    return model


def model_card(
    serving: ServedModel, name: str, *, cannot_learn: str | None, corrections: int, limits: messages.Limits
) -> messages.Card:
    """What the model is, what it was made of, and how good it is known to be."""
    model = serving.model
    several = isinstance(model, MultiLabelModel)
    try:
        documents = model.class_documents
    except Unsupported:
        documents = {}  # the model does not say
    if isinstance(model, MultiLabelModel):
        prior, number = sigmoid(model.prior_logits).tolist(), model.n_texts or None
    else:
        known = _log_prior(model)  # (K,), of a new model (0,)
        prior = np.exp(log_softmax(known[None, :]))[0].tolist() if len(known) else []
        number = sum(documents.values()) if documents else None
    classes = [
        messages.ClassSize(label, documents.get(label), share)
        for label, share in zip(model.class_names, prior, strict=True)
    ]
    told_facts = card.facts(cast("Any", model))
    facts = [(fact, _FOLDERS.sub("", told) if fact == "data" else told) for fact, told in told_facts]
    return messages.Card(
        name=name,
        version=serving.version,
        learner=dict(facts).get("learner", ""),
        several_labels=several,
        classes=classes,
        documents=number,
        words=rows.words_of(model),
        has_words=isinstance(model, TableModel) or model.recipe.settings.has_words,
        columns=[_column(column) for column in rows.columns_of(model)] or UNSET,
        facts=facts,
        recipe=model.recipe.as_dict(),
        has_probabilities=not several and (isinstance(model, TableModel) or bool(model.form.is_posterior)),
        cannot_learn=cannot_learn,
        corrections=corrections,
        quality=None if isinstance(model, MultiLabelModel) else _quality(model),
        limits=limits,
    )


def _quality(model: OneLabelModel) -> messages.Quality | None:
    """How the model did on documents that it had not learned; None if that is not known."""
    held_out = model.held_out
    if held_out is None or not len(held_out):
        return None
    right, n = int(held_out.right.sum()), len(held_out)
    bins = reliability(held_out.p_answer, held_out.right)
    shown = [messages.Bin(*row) for row in bins]
    baseline = Baseline.of_held_out(held_out, model.class_names)
    largest = messages.LargestClass(baseline.label, baseline.accuracy)
    doubts = baseline.warnings(right / n)
    return messages.Quality(n, right / n, wilson(right, n), largest, doubts, calibration_error(bins), shown)
