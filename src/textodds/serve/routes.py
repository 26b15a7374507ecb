"""What can be asked: every endpoint, with its types, who may ask it, and an example."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from textodds.serve import answers, messages, metrics
from textodds.serve.endpoint import Asked, Body, Endpoint
from textodds.serve.openapi import description
from textodds.serve.problems import Problem, shortened, unavailable
from textodds.serve.service import BRIEF, Service

PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'none'; sandbox"
)
ALONE = ((b"referrer-policy", b"no-referrer"), (b"cross-origin-resource-policy", b"same-origin"))
MEDIA = {
    "html": b"text/html; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}


class WordsQuery(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Whose words."""

    label: Annotated[str, Meta(description="The class that the words speak for.", examples=["spam"])]
    rival: Annotated[str | None, Meta(description="Against this class; else against all others.")] = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="So many words at most.")] = 20


class CorrectionsQuery(msgspec.Struct, forbid_unknown_fields=True):
    """How many."""

    limit: Annotated[int, Meta(ge=1, le=500, description="So many at most.")] = 50


class EvaluateQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Columns of the file, where their names do not tell."""

    text: Annotated[str | None, Meta(description="The column of texts.")] = None
    label: Annotated[str | None, Meta(description="The column of labels.")] = None


async def classify(service: Service, asked: Asked) -> messages.ClassifyAnswer:
    """The label of one text."""
    request: messages.ClassifyRequest = asked.body
    length = service.must_be_short((request.text,))
    service.metrics.texts += 1
    serving = await service.serving()
    if length > BRIEF:
        return await service.at_length(answers.classify, serving, request)
    return answers.classify(serving, request)


async def classify_batch(service: Service, asked: Asked) -> messages.BatchAnswer:
    """The labels of several texts."""
    request: messages.BatchRequest = asked.body
    service.must_be_few(len(request.texts))
    length = service.must_be_short(request.texts)
    service.metrics.texts += len(request.texts)
    serving = await service.serving()
    if length > BRIEF:
        return await service.at_length(answers.classify_batch, serving, request)
    return answers.classify_batch(serving, request)


async def explain(service: Service, asked: Asked) -> messages.ExplainAnswer:
    """Why."""
    service.must_be_short((asked.body.text,), min(service.settings.explained, service.settings.text))
    service.metrics.texts += 1
    return await service.at_length(answers.explain, await service.serving(), asked.body)


async def suggest(service: Service, asked: Asked) -> messages.SuggestAnswer:
    """What to label next."""
    service.must_be_few(len(asked.body.texts))
    service.must_be_short(asked.body.texts)
    return await service.at_length(answers.suggest, await service.serving(), asked.body)


async def change(service: Service, asked: Asked) -> messages.ChangeAnswer:
    """Learn or forget."""
    documents: Sequence[messages.Document | messages.Forgotten] = asked.body.documents
    service.must_be_few(len(documents))
    service.must_be_short(document.text or "" for document in documents)
    answer: messages.ChangeAnswer = await service.writer.submit(asked.body)
    return answer


async def corrections(service: Service, asked: Asked) -> messages.CorrectionsAnswer:
    """What was learned and forgotten."""
    entries = await service.aside(service.journal.recent, asked.query.limit)
    found = [
        messages.Correction(
            entry.id,
            "learned" if entry.sign > 0 else "forgotten",
            entry.label,
            None if entry.text is None else shortened(entry.text),
            entry.at,
            stands,
        )
        for entry, stands in entries
    ]
    return messages.CorrectionsAnswer(found, service.journal.last, (await service.serving()).version)


async def model(service: Service, asked: Asked) -> messages.Card:
    """The card."""
    standing = await service.aside(service.journal.standing)
    return await service.aside(
        answers.model_card,
        await service.serving(),
        service.settings.model.name,
        cannot_learn=service.live.base.cannot_learn,
        corrections=standing,
        limits=service.limits(),
    )


async def words(service: Service, asked: Asked) -> messages.WordsAnswer:
    """The words of a class."""
    query: WordsQuery = asked.query
    return await service.aside(answers.words, await service.serving(), query.label, query.rival, query.limit)


async def evaluate(service: Service, asked: Asked) -> messages.EvaluateAnswer:
    """The quality on a file."""
    serving = await service.serving()
    query: EvaluateQuery = asked.query
    found = await service.uploads.evaluate(serving, asked.body, asked.media, query.text, query.label)
    if found["report"] is not None:
        found["report"] = f"/v1/reports/{found['report']}"
    return msgspec.convert(found | {"version": serving.version}, messages.EvaluateAnswer)


async def report(service: Service, asked: Asked) -> Body:
    """The page of an evaluation."""
    page = service.uploads.report(asked.path["key"])
    return Body(page, MEDIA["html"], ((b"content-security-policy", REPORT_POLICY), *ALONE))


async def snapshot(service: Service, asked: Asked) -> messages.SnapshotAnswer:
    """Save."""
    return messages.SnapshotAnswer(await service.writer.submit(service.writer.save))


async def reload(service: Service, asked: Asked) -> messages.ReloadAnswer:
    """Take the model file as it is now."""
    changed = await service.writer.submit(service.live.reload)
    return messages.ReloadAnswer((await service.serving()).version, changed)


async def health(service: Service, asked: Asked) -> messages.StateAnswer:
    """That the service runs."""
    return messages.StateAnswer("ok", service.live.serving.version)


async def ready(service: Service, asked: Asked) -> messages.StateAnswer:
    """That the service can do what it is for."""
    if service.is_stopping:
        raise unavailable("stopping", "the service is being stopped")
    if service.writer.broken is not None:
        raise unavailable("journal", service.writer.broken, "restart the service")
    return messages.StateAnswer("ready", service.live.serving.version)


async def show_metrics(service: Service, asked: Asked) -> Body:
    """Counters."""
    return Body(service.metrics.text(), metrics.MEDIA)


async def openapi(service: Service, asked: Asked) -> Body:
    """What can be asked, for machines."""
    return Body(json.dumps(description(ENDPOINTS, service.settings)).encode(), b"application/json")


async def page(service: Service, asked: Asked) -> Body:
    """The page."""
    return _page_file("index.html")


async def page_part(service: Service, asked: Asked) -> Body:
    """A part of the page."""
    return _page_file(asked.path["name"])


def _page_file(name: str) -> Body:
    content = PAGE_FILES.get(name)
    if content is None:
        raise Problem(HTTPStatus.NOT_FOUND, "not-found", "the page has no such part")
    return Body(content, MEDIA[name.rpartition(".")[2]], ((b"content-security-policy", PAGE_POLICY), *ALONE))


def _page_files() -> dict[str, bytes]:
    """The parts of the page by name: what is not among them cannot be asked for."""
    folder = files("textodds.serve") / "page"
    parts = (part for part in folder.iterdir() if part.name.rpartition(".")[2] in MEDIA)
    return {part.name: part.read_bytes() for part in parts}


PAGE_FILES = _page_files()

SPAM = "win a free phone now"
ONE: dict[str, Any] = {"documents": [{"id": "mail-4711", "text": SPAM, "label": "spam"}]}

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/classify",
        classify,
        "Classify one text",
        takes=messages.ClassifyRequest,
        gives=messages.ClassifyAnswer,
        example={"text": SPAM},
    ),
    Endpoint(
        "POST",
        "/v1/classify/batch",
        classify_batch,
        "Classify several texts",
        takes=messages.BatchRequest,
        gives=messages.BatchAnswer,
        example={"texts": [SPAM, "see you at noon"]},
    ),
    Endpoint(
        "POST",
        "/v1/explain",
        explain,
        "Explain what each word adds to the odds",
        takes=messages.ExplainRequest,
        gives=messages.ExplainAnswer,
        example={"text": SPAM},
    ),
    Endpoint(
        "POST",
        "/v1/learn",
        change,
        "Learn documents; acknowledged once they are on disk",
        takes=messages.LearnRequest,
        gives=messages.ChangeAnswer,
        needs="write",
        example=ONE,
    ),
    Endpoint(
        "POST",
        "/v1/forget",
        change,
        "Forget documents; acknowledged once that is on disk",
        takes=messages.ForgetRequest,
        gives=messages.ChangeAnswer,
        needs="write",
        example={"documents": [{"id": "mail-4711"}]},
    ),
    Endpoint(
        "GET",
        "/v1/corrections",
        corrections,
        "What was learned and forgotten here, the latest first",
        query=CorrectionsQuery,
        gives=messages.CorrectionsAnswer,
    ),
    Endpoint("GET", "/v1/model", model, "The model's card", gives=messages.Card),
    Endpoint(
        "GET",
        "/v1/words",
        words,
        "The words that speak most for a class",
        query=WordsQuery,
        gives=messages.WordsAnswer,
    ),
    Endpoint(
        "POST",
        "/v1/suggest",
        suggest,
        "Which texts to label next",
        takes=messages.SuggestRequest,
        gives=messages.SuggestAnswer,
        example={"texts": [SPAM, "see you at noon"], "limit": 1},
    ),
    Endpoint(
        "POST",
        "/v1/evaluate",
        evaluate,
        "Measure the model on a labelled file",
        takes="file",
        query=EvaluateQuery,
        gives=messages.EvaluateAnswer,
        example="label,text\nspam,win a free phone now\nham,see you at noon\n",
    ),
    Endpoint(
        "GET", "/v1/reports/{key}", report, "The report of an evaluation", gives="text/html", needs="nothing"
    ),
    Endpoint(
        "POST",
        "/v1/snapshot",
        snapshot,
        "Save the model with all corrections",
        gives=messages.SnapshotAnswer,
        needs="write",
    ),
    Endpoint(
        "POST",
        "/v1/reload",
        reload,
        "Take the model file as it is now, corrections included",
        gives=messages.ReloadAnswer,
        needs="write",
    ),
    Endpoint("GET", "/healthz", health, "Whether it runs", gives=messages.StateAnswer, needs="nothing"),
    Endpoint(
        "GET",
        "/readyz",
        ready,
        "Whether it can answer and learn",
        gives=messages.StateAnswer,
        needs="nothing",
    ),
    Endpoint("GET", "/metrics", show_metrics, "Counters for Prometheus", gives="text/plain"),
    Endpoint("GET", "/openapi.json", openapi, "This description", gives="application/json", needs="nothing"),
    Endpoint("GET", "/", page, "The page", gives="text/html", needs="nothing"),
    Endpoint("GET", "/page/{name}", page_part, "A part of the page", gives="*/*", needs="nothing"),
)
