"""Answers that change nothing: what the model says, why, and what it is. Every function takes one model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import UNSET, UnsetType, structs
from numpy.typing import NDArray

from textodds.errors import Unsupported
from textodds.judge.decisions import Losses, Rule
from textodds.judge.evaluation import Reliability, calibration_error, reliability, wilson
from textodds.learn.forms.linear import log_prior, log_softmax
from textodds.model.text_model import TextModel
from textodds.serve import messages
from textodds.serve.live_model import ServedModel
from textodds.study.report import card

Floats = NDArray[np.float64]
_FOLDERS = re.compile(r"[^\s,]*[/\\]")  # where files were in training is nobody's business here


def classify(serving: ServedModel, asked: messages.ClassifyRequest) -> messages.ClassifyAnswer:
    """The answer to one text."""
    if not asked.costs and asked.prior is None and asked.abstain is None and asked.top is None:
        said = serving.model(asked.text)  # the usual case, without a detour
        return messages.ClassifyAnswer(
            label=said.label,
            probability=said.probability,
            evidence=said.evidence,
            probabilities=said.probabilities,
            version=serving.version,
        )
    (answer,), rule = _answers(serving.model, [asked.text], asked, asked.top or len(serving.model.classes_))
    return messages.ClassifyAnswer(**structs.asdict(answer), rule=rule, version=serving.version)


def classify_batch(serving: ServedModel, asked: messages.BatchRequest) -> messages.BatchAnswer:
    """The answers to several texts, in order."""
    answers, rule = _answers(serving.model, asked.texts, asked, asked.top)
    return messages.BatchAnswer(answers=answers, rule=rule, version=serving.version)


def _answers(
    model: TextModel, texts: list[str], asked: messages.Deciding, top: int | None
) -> tuple[list[messages.Answer], str | UnsetType]:
    classes = model.classes_
    scores, evidence = model.score(texts)
    log_posterior = log_softmax(model.calibrated(scores) + _shift(model, asked.prior))
    best, known = log_posterior.argmax(axis=1), evidence[:, 0].tolist()
    shares = np.exp(log_posterior[np.arange(len(best)), best]).tolist()
    answers = [
        messages.Answer(label=classes[k], probability=share, evidence=n)
        for k, share, n in zip(best.tolist(), shares, known, strict=True)
    ]
    if top is not None:
        for answer, named in zip(answers, _named(classes, np.exp(log_posterior), top), strict=True):
            answer.probabilities = named
    rule = _rule(model, asked)
    if rule is None:
        return answers, UNSET
    decisions = rule.decide(log_posterior)
    decided = zip(answers, decisions.action.tolist(), decisions.expected_loss.tolist(), strict=True)
    for answer, k, loss in decided:
        answer.action, answer.expected_loss = classes[k] if k >= 0 else None, loss
    return answers, rule.told() if len(classes) == 2 else UNSET


def _named(classes: Sequence[str], shares: Floats, top: int) -> Iterator[dict[str, float]]:
    """Probabilities of the ``top`` most probable classes, the most probable first."""
    order = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    for row, chosen in zip(shares, order.tolist(), strict=True):
        yield {classes[k]: float(row[k]) for k in chosen}


def _shift(model: TextModel, prior: dict[str, float] | None) -> Floats | float:
    """What another prior adds to the scores, (K,): by Bayes' rule its logarithm for that of the old one."""
    if prior is None:
        return 0.0
    _must_have_probabilities(model)
    whole = math.fsum(prior.values())  # it comes in any unit
    shares = {label: share / whole for label, share in prior.items()}
    return log_prior(shares, model.classes_, np.ones(len(model.classes_))) - model.form.log_prior


def _rule(model: TextModel, asked: messages.Deciding) -> Rule | None:
    if not asked.costs and asked.abstain is None:
        return None
    _must_have_probabilities(model)
    costs = {(cost.truth, cost.answer): cost.cost for cost in asked.costs}
    return Rule(Losses.of(costs, model.classes_), asked.abstain)


def _must_have_probabilities(model: TextModel) -> None:
    if not model.form.is_posterior:
        raise Unsupported(
            "a complement model has scores, not probabilities that a prior or costs could be applied to",
            hint="serve a model of another learner, such as multinomial",
        )


def explain(serving: ServedModel, asked: messages.ExplainRequest) -> messages.ExplainAnswer:
    """What each word adds to the log-odds, and which words to take away for another answer."""
    why = serving.model.explain(asked.text, asked.label, asked.rival)
    flip = why.flip()
    return messages.ExplainAnswer(
        label=why.label,
        rival=why.rival,
        probability=why.probability,
        log_odds=why.log_odds,
        start=why.start,
        prior=why.prior,
        absent=why.absent,
        remainder=why.remainder,
        words=[messages.WordOdds(word.word, float(word.count), word.log_odds) for word in why.words],
        unknown=why.unknown,
        unknown_words=list(why.unknown_words),
        places=[messages.Place(*place) for place in why.stretches],
        flip=None
        if flip is None
        else messages.Flip(list(flip.words), flip.label_after, flip.probability_after, flip.exact),
        version=serving.version,
    )


def suggest(serving: ServedModel, asked: messages.SuggestRequest) -> messages.SuggestAnswer:
    """The texts whose labels the model would learn most from."""
    from textodds.study.active import most_useful

    useful = most_useful(serving.model, asked.texts, asked.limit)
    return messages.SuggestAnswer([messages.Suggestion(*found) for found in useful], serving.version)


def words(serving: ServedModel, label: str, rival: str | None, limit: int) -> messages.WordsAnswer:
    """The words that speak most for a class; against a rival, those that decide between the two.

    Of a model of counts those come with intervals, and the surest first.
    """
    model = serving.model
    if rival is None:
        found = [messages.TellingWord(*pair) for pair in model.top_words(label, limit)]
    elif _is_counted(model):
        apart = model.separating_words(label, rival, limit)
        found = [messages.TellingWord(word.word, word.log_odds, word.low, word.high) for word in apart]
    else:
        found = [messages.TellingWord(*pair) for pair in model.hyperplane(label, rival, limit).words]
    return messages.WordsAnswer(label, rival, found, serving.version)


def _is_counted(model: TextModel) -> bool:
    try:
        model.must_be_counts()
        return len(model.tally.classes) > 0
    except Unsupported:
        return False


def model_card(
    serving: ServedModel,
    name: str,
    *,
    cannot_learn: str | None,
    corrections: int,
    limits: messages.Limits,
) -> messages.Card:
    """What the model is, what it was made of, and how good it is known to be."""
    model = serving.model
    documents = _documents(model)
    prior = np.exp(log_softmax(model.form.log_prior[None, :]))[0].tolist()
    classes = [
        messages.ClassSize(label, documents.get(label), share)
        for label, share in zip(model.classes_, prior, strict=True)
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


def _documents(model: TextModel) -> dict[str, float]:
    """Documents of each class; none if the model does not say."""
    try:
        return model.class_documents
    except Unsupported:
        return {}


def _quality(model: TextModel) -> messages.Quality | None:
    """How the model did on documents that it had not learned; None if that is not known."""
    held_out = model.held_out
    if held_out is None or not len(held_out):
        return None
    right, n = int(held_out.right.sum()), len(held_out)
    found = reliability(held_out.p_answer, held_out.right)
    return messages.Quality(n, right / n, wilson(right, n), calibration_error(found), bins_of(found))


def bins_of(found: Reliability) -> list[messages.Bin]:
    """Answers of about one probability each."""
    return [messages.Bin(*row) for row in found]


def number(value: float) -> float | None:
    """A number that JSON has, or none."""
    return value if math.isfinite(value) else None
