"""Answers that change nothing: what the model says, why, and what it is. Every function takes one model."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
from msgspec import UNSET, UnsetType, convert, structs
from numpy.typing import NDArray

from textodds.errors import InputError, Unsupported
from textodds.judge.decisions import Losses, Rule, must_be_posterior
from textodds.judge.evaluation import calibration_error, reliability, wilson
from textodds.learn.forms.linear import log_prior, log_softmax
from textodds.model.text_model import TextModel
from textodds.serve import messages
from textodds.serve.fold import ServedModel
from textodds.study.report import card

Floats = NDArray[np.float64]
_FOLDERS = re.compile(r"[^\s,]*[/\\]")  # where files were in training is nobody's business here


def classify(serving: ServedModel, request: messages.ClassifyRequest) -> messages.ClassifyAnswer:
    """The answer to one text."""
    if not request.costs and request.prior is None and request.abstain is None and request.top is None:
        said = serving.model.answer(request.text)  # the usual case, without a detour
        return messages.ClassifyAnswer(
            label=said.label,
            probability=said.probability,
            evidence=said.evidence,
            probabilities=said.probabilities,
            version=serving.version,
        )
    top = request.top or len(serving.model.classes_)
    (answer,), rule = _answers(serving.model, [request.text], request, top)
    return messages.ClassifyAnswer(**structs.asdict(answer), rule=rule, version=serving.version)


def classify_batch(serving: ServedModel, request: messages.BatchRequest) -> messages.BatchAnswer:
    """The answers to several texts, in order."""
    answers, rule = _answers(serving.model, request.texts, request, request.top)
    return messages.BatchAnswer(answers=answers, rule=rule, version=serving.version)


def _answers(
    model: TextModel, texts: list[str], request: messages.DecisionOptions, top: int | None
) -> tuple[list[messages.Answer], str | UnsetType]:
    classes = model.class_names
    scores, evidence = model.score(texts, calibrate=True)
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


def _shift(model: TextModel, prior: dict[str, float] | None) -> Floats | float:
    """What another prior adds to the scores, (K,): by Bayes' rule its logarithm for that of the old one."""
    if prior is None:
        return 0.0
    must_be_posterior(model, "a prior or costs could be applied to")
    whole = math.fsum(prior.values())  # it comes in any unit
    shares = {label: share / whole for label, share in prior.items()}
    return log_prior(shares, model.class_names, np.ones(len(model.classes_))) - model.form.log_prior


def _rule(model: TextModel, request: messages.DecisionOptions) -> Rule | None:
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
    """What each word adds to the log-odds, and which words to take away for another answer."""
    why = serving.model.explain(request.text, request.label, request.rival)
    plain, flip = why.as_dict(), why.flip()
    plain |= {"places": plain["stretches"], "version": serving.version}
    plain["flip"] = None if flip is None else dataclasses.asdict(flip)
    return convert(plain, messages.ExplainAnswer)


def suggest(serving: ServedModel, request: messages.SuggestRequest) -> messages.SuggestAnswer:
    """The texts whose labels the model would learn most from."""
    from textodds.study.active import most_useful

    useful = most_useful(serving.model, request.texts, request.limit)
    return messages.SuggestAnswer([messages.Suggestion(*text) for text in useful], serving.version)


def words(serving: ServedModel, label: str, rival: str | None, limit: int) -> messages.WordsAnswer:
    """The words that speak most for a class; against a rival, those that decide between the two.

    Of a model of counts those come with intervals, and the surest first.
    """
    model = serving.model
    if rival is None:
        rows = [messages.TellingWord(*pair) for pair in model.top_words(label, limit)]
    elif model.has_counts:
        apart = model.separating_words(label, rival, limit)
        rows = [messages.TellingWord(word.word, word.log_odds, word.low, word.high) for word in apart]
    else:
        rows = [messages.TellingWord(*pair) for pair in model.hyperplane(label, rival, limit).words]
    return messages.WordsAnswer(label, rival, rows, serving.version)


def model_card(
    serving: ServedModel, name: str, *, cannot_learn: str | None, corrections: int, limits: messages.Limits
) -> messages.Card:
    """What the model is, what it was made of, and how good it is known to be."""
    model = serving.model
    try:
        documents = model.class_documents
    except Unsupported:
        documents = {}  # the model does not say
    prior = np.exp(log_softmax(model.form.log_prior[None, :]))[0].tolist()
    classes = [
        messages.ClassSize(label, documents.get(label), share)
        for label, share in zip(model.class_names, prior, strict=True)
    ]
    facts = [(fact, _FOLDERS.sub("", told) if fact == "data" else told) for fact, told in card.facts(model)]
    return messages.Card(
        name=name,
        version=serving.version,
        learner=dict(facts).get("learner", ""),
        classes=classes,
        documents=sum(documents.values()) if documents else None,
        words=len(model.vocabulary),
        facts=facts,
        recipe=model.recipe.as_dict(),
        has_probabilities=bool(model.form.is_posterior),
        cannot_learn=cannot_learn,
        corrections=corrections,
        quality=_quality(model),
        limits=limits,
    )


def _quality(model: TextModel) -> messages.Quality | None:
    """How the model did on documents that it had not learned; None if that is not known."""
    held_out = model.held_out
    if held_out is None or not len(held_out):
        return None
    right, n = int(held_out.right.sum()), len(held_out)
    bins = reliability(held_out.p_answer, held_out.right)
    rows = [messages.Bin(*row) for row in bins]
    return messages.Quality(n, right / n, wilson(right, n), calibration_error(bins), rows)
