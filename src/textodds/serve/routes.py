"""What can be asked: every endpoint, with its types, who may ask it, and an example.

An endpoint is a function: its docstring is the summary, and the type that it returns is the answer's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from http import HTTPStatus
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.serve import answers, label_answers, look_routes, metrics, tensors
from textodds.serve.endpoint import Body, Call
from textodds.serve.endpoints import ENDPOINTS, endpoint
from textodds.serve.labelling import routes as labelling_routes
from textodds.serve.protocol import label_messages, messages, row_messages, tensor_messages
from textodds.serve.protocol.openapi import description
from textodds.serve.protocol.problems import Problem, unavailable
from textodds.serve.protocol.shapes import SPAM, TWO
from textodds.serve.rows import reads_rows
from textodds.serve.service import BRIEF, Service
from textodds.serve.updates.corrections import OfRows
from textodds.serve.updates.fold import ServedModel

__all__ = ["ENDPOINTS", "labelling_routes", "look_routes"]  # which have endpoints of their own

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

    label: Annotated[str, Meta(description="The class that the words are evidence for.", examples=["spam"])]
    rival: Annotated[str | None, Meta(description="Against this class; else against all others.")] = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="Most words to return.")] = 20


class CorrectionsQuery(msgspec.Struct, forbid_unknown_fields=True):
    """How many."""

    limit: Annotated[int, Meta(ge=1, le=500, description="So many at most.")] = 50


class EvaluateQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Columns of the file, where their names do not tell."""

    text: Annotated[str | None, Meta(description="The column of texts.")] = None
    label: Annotated[str | None, Meta(description="The column of labels.")] = None
    label_separator: Annotated[
        str | None,
        Meta(description="What stands between labels, of a model of several; by default as in training."),
    ] = None


FILE = "label,text\nspam,win a free phone now\nham,see you at noon\n"

A = TypeVar("A")
R = TypeVar("R")


@endpoint("POST", "/v1/classify", takes=messages.ClassifyRequest, example={"text": SPAM})
async def classify(service: Service, call: Call) -> messages.ClassifyAnswer:
    """Classify one text or row."""
    request = call.body
    answer: Callable[..., Any] = answers.classify
    if isinstance(request, label_messages.LabelsOptions):
        answer = label_answers.classify
    if isinstance(request, row_messages.ClassifyRowRequest | label_messages.ClassifyRowLabelsRequest):
        return await _classified_rows(service, answer, request, (request.row,))
    return await _classified(service, answer, request, (request.text,))


@endpoint("POST", "/v1/classify/batch", takes=messages.BatchRequest, example={"texts": TWO})
async def classify_batch(service: Service, call: Call) -> messages.BatchAnswer:
    """Classify several texts or rows."""
    request = call.body
    answer: Callable[..., Any] = answers.classify_batch
    if isinstance(request, label_messages.LabelsOptions):
        answer = label_answers.classify_batch
    if isinstance(request, row_messages.ClassifyRowsRequest | label_messages.ClassifyRowsLabelsRequest):
        service.must_be_few(len(request.rows))
        return await _classified_rows(service, answer, request, request.rows)
    service.must_be_few(len(request.texts))
    return await _classified(service, answer, request, request.texts)


async def _classified_rows(
    service: Service, classify: Callable[[ServedModel, R], A], request: R, rows: Sequence[row_messages.Row]
) -> A:
    service.must_be_short_rows(rows)
    service.metrics.texts += len(rows)
    work = service.aside if len(rows) == 1 else service.at_length  # reading one takes a millisecond
    return await work(classify, await service.serving(), request)


async def _classified(
    service: Service, classify: Callable[[ServedModel, R], A], request: R, texts: Sequence[str]
) -> A:
    length = service.must_be_short(texts)
    service.metrics.texts += len(texts)
    serving = await service.serving()
    if length > BRIEF:
        return await service.at_length(classify, serving, request)
    return classify(serving, request)


QUICK = 5_000  # characters of a text that is explained in some milliseconds


@endpoint("POST", "/v1/explain", takes=messages.ExplainRequest, example={"text": SPAM})
async def explain(service: Service, call: Call) -> messages.ExplainAnswer:
    """Explain what each word or column adds to the odds."""
    request = call.body
    most = min(service.settings.explained, service.settings.text)
    service.metrics.texts += 1
    work = EXPLAINED[type(request)]
    if hasattr(request, "row"):
        service.must_be_short_rows((request.row,), most)
        of_row: messages.ExplainAnswer = await service.at_length(work, await service.serving(), request)
        return of_row
    length = service.must_be_short((request.text,), most)
    serving = await service.serving()
    # A short text does not wait behind those who look for a flip.
    answer: messages.ExplainAnswer = await (service.aside if length <= QUICK else service.at_length)(
        work, serving, request
    )
    return answer


EXPLAINED: dict[type, Callable[..., Any]] = {
    messages.ExplainRequest: answers.explain,
    row_messages.ExplainRowRequest: answers.explain_row,
    label_messages.ExplainLabelRequest: label_answers.explain,
    label_messages.ExplainRowLabelRequest: label_answers.explain_row,
}


@endpoint("POST", "/v1/explain/flip", takes=messages.FlipRequest, example={"text": SPAM})
async def explain_flip(service: Service, call: Call) -> messages.FlipAnswer:
    """Find the fewest words without which the answer would be another, which may take a second."""
    service.metrics.texts += 1
    service.must_be_short((call.body.text,), min(service.settings.explained, service.settings.text))
    several = isinstance(call.body, label_messages.FlipLabelRequest)
    work = label_answers.flip if several else answers.flip
    answer: messages.FlipAnswer = await service.at_length(work, await service.serving(), call.body)
    return answer


LEARN = {"documents": [{"id": "mail-4711", "text": SPAM, "label": "spam"}]}
FORGET = {"documents": [{"id": "mail-4711"}]}


@endpoint("POST", "/v1/learn", takes=messages.LearnRequest, needs="write", example=LEARN)
async def learn(service: Service, call: Call) -> messages.ChangeAnswer:
    """Learn documents; acknowledged once they are on disk."""
    return await _change(service, call)


@endpoint("POST", "/v1/forget", takes=messages.ForgetRequest, needs="write", example=FORGET)
async def forget(service: Service, call: Call) -> messages.ChangeAnswer:
    """Forget documents; acknowledged once that is on disk."""
    return await _change(service, call)


async def _change(service: Service, call: Call) -> messages.ChangeAnswer:
    documents = call.body.documents
    service.must_be_few(len(documents))
    if isinstance(call.body, OfRows):
        service.must_be_short_rows([document.row or {} for document in documents])
    else:
        service.must_be_short(document.text or "" for document in documents)
    answer: messages.ChangeAnswer = await service.writer.submit(call.body, call.by)
    return answer


@endpoint("GET", "/v1/corrections", query=CorrectionsQuery)
async def corrections(service: Service, call: Call) -> messages.CorrectionsAnswer:
    """What was learned and forgotten here, the latest first."""
    entries = await service.aside(service.journal.recent, call.query.limit)
    count: dict[str, Any] = {"total": service.journal.last, "version": (await service.standing()).version}
    rows, sets = service.journal.kind
    if sets:
        of_sets = [answers.labels_correction(entry, stands=stands, of_rows=rows) for entry, stands in entries]
        return label_messages.LabelsCorrectionsAnswer(corrections=of_sets, **count)  # type: ignore[return-value]
    if rows:
        of_rows = [answers.row_correction(entry, stands=stands) for entry, stands in entries]
        return row_messages.RowCorrectionsAnswer(corrections=of_rows, **count)  # type: ignore[return-value]
    of_texts = [answers.text_correction(entry, stands=stands) for entry, stands in entries]
    return messages.CorrectionsAnswer(corrections=of_texts, **count)


@endpoint("GET", "/v1/model")
async def model(service: Service, call: Call) -> messages.Card:
    """The model's card."""
    standing, serving = await service.aside(service.journal.standing), await service.standing()
    card = await service.aside(
        answers.model_card,
        serving,
        service.settings.model.name,
        cannot_learn=service.live.base.cannot_learn,
        corrections=standing,
        limits=msgspec.convert(service.settings, messages.Limits, from_attributes=True),
    )
    card.title, card.data_link = service.settings.title, service.settings.data_link
    card.compare = service.comparison.name
    return await service.aside(label_answers.labels_card, card, serving) if card.several_labels else card


@endpoint("GET", "/v1/words", query=WordsQuery)
async def words(service: Service, call: Call) -> messages.WordsAnswer:
    """The words that speak most for a class."""
    query, serving = call.query, await service.serving()
    words = label_answers.words if isinstance(serving.model, MultiLabelModel) else answers.words
    return await service.aside(words, serving, query.label, query.rival, query.limit)


SUGGEST = {"texts": TWO, "limit": 1}


@endpoint("POST", "/v1/suggest", takes=messages.SuggestRequest, example=SUGGEST)
async def suggest(service: Service, call: Call) -> messages.SuggestAnswer:
    """Which texts to label next."""
    if isinstance(call.body, row_messages.SuggestRowsRequest):
        service.must_be_few(len(call.body.rows))
        service.must_be_short_rows(call.body.rows)
    else:
        service.must_be_few(len(call.body.texts))
        service.must_be_short(call.body.texts)
    return await service.at_length(answers.suggest, await service.serving(), call.body)


@endpoint("POST", "/v1/evaluate", takes="file", query=EvaluateQuery, example=FILE)
async def evaluate(service: Service, call: Call) -> messages.EvaluateAnswer:
    """Measure the model on a labelled file."""
    serving = await service.serving()
    query: EvaluateQuery = call.query
    columns = msgspec.structs.asdict(query)
    measures = await service.uploads.evaluate(serving, call.body, call.media, columns)
    if isinstance(serving.model, MultiLabelModel):
        measures |= {"version": serving.version}
        return msgspec.convert(measures, label_messages.EvaluateLabelsAnswer)  # type: ignore[return-value]
    if measures["report"] is not None:
        measures["report"] = f"/v1/reports/{measures['report']}"
    return msgspec.convert(measures | {"version": serving.version}, messages.EvaluateAnswer)


@endpoint("GET", "/v1/reports/{key}", gives="text/html", needs="nothing")
async def report(service: Service, call: Call) -> Body:
    """The report of an evaluation."""
    page = service.uploads.report(call.path["key"])
    return Body(page, MEDIA["html"], ((b"content-security-policy", REPORT_POLICY), *ALONE))


@endpoint("POST", "/v1/snapshot", needs="admin")
async def snapshot(service: Service, call: Call) -> messages.SnapshotAnswer:
    """Save the model with all corrections."""
    return messages.SnapshotAnswer(await service.writer.submit(service.writer.save))


@endpoint("GET", "/v1/backup", gives="application/vnd.sqlite3", needs="admin")
async def backup(service: Service, call: Call) -> Body:
    """The journal with every correction acknowledged so far, as one file."""
    return Body(await service.at_length(service.journal.copy), b"application/vnd.sqlite3")


@endpoint("POST", "/v1/reload", needs="admin")
async def reload(service: Service, call: Call) -> messages.ReloadAnswer:
    """Take the model file as it is now, corrections included."""
    changed = await service.writer.submit(service.live.reload)
    return messages.ReloadAnswer((await service.standing()).version, changed)


@endpoint("GET", "/healthz", needs="nothing")
async def health(service: Service, call: Call) -> messages.StateAnswer:
    """Whether it runs."""
    return messages.StateAnswer("ok", service.live.serving.version)


@endpoint("GET", "/readyz", needs="nothing")
async def ready(service: Service, call: Call) -> messages.StateAnswer:
    """Whether it can answer and learn."""
    _must_be_ready(service)
    return messages.StateAnswer("ready", service.live.serving.version)


def _must_be_ready(service: Service) -> None:
    if service.is_stopping:
        raise unavailable("stopping", "the service is being stopped")
    if service.writer.broken is not None:
        raise unavailable("journal", service.writer.broken, "restart the service")
    service.must_have_room()


@endpoint("GET", "/v2")
async def server_metadata(service: Service, call: Call) -> tensor_messages.ServerMetadata:
    """Open Inference Protocol: the service."""
    return tensor_messages.ServerMetadata(version=version("textodds"), extensions=[])


@endpoint("GET", "/v2/health/live", needs="nothing")
async def server_live(service: Service, call: Call) -> tensor_messages.ServerLive:
    """Open Inference Protocol: whether the service runs."""
    return tensor_messages.ServerLive()


@endpoint("GET", "/v2/health/ready", needs="nothing")
async def server_ready(service: Service, call: Call) -> tensor_messages.ServerReady:
    """Open Inference Protocol: whether the service can answer and learn."""
    _must_be_ready(service)
    return tensor_messages.ServerReady()


MODEL, VERSION = "/v2/models/{name}", "/v2/models/{name}/versions/{version}"


@endpoint("GET", f"{VERSION}/ready", needs="nothing")
@endpoint("GET", f"{MODEL}/ready", needs="nothing")
async def model_ready(service: Service, call: Call) -> tensor_messages.ModelReady:
    """Open Inference Protocol: whether the model answers."""
    name = service.settings.model.stem
    tensors.must_be_named(service.live.serving, name, call.path)
    _must_be_ready(service)
    return tensor_messages.ModelReady(name)


@endpoint("GET", VERSION)
@endpoint("GET", MODEL)
async def model_metadata(service: Service, call: Call) -> tensor_messages.ModelMetadata:
    """Open Inference Protocol: the tensors that the model takes and gives."""
    name, serving = service.settings.model.stem, await service.serving()
    tensors.must_be_named(serving, name, call.path)
    return tensors.metadata(serving, name)


INFER: dict[str, Any] = {
    "takes": tensor_messages.InferRequest,
    "example": tensors.example({tensors.TEXT: SPAM}),
}


@endpoint("POST", f"{VERSION}/infer", **INFER)
@endpoint("POST", f"{MODEL}/infer", **INFER)
async def infer(service: Service, call: Call) -> tensor_messages.InferAnswer:
    """Open Inference Protocol: classify texts or rows."""
    request: tensor_messages.InferRequest = call.body
    name, serving = service.settings.model.stem, await service.serving()
    tensors.must_be_named(serving, name, call.path)
    service.must_be_few(number := tensors.number_of(request))
    given: Sequence[Any]
    if is_long := reads_rows(serving.model):
        given = await service.at_length(tensors.rows_of, serving.model, request)
        service.must_be_short_rows(given)
    else:
        given = tensors.texts_of(request)
        is_long = service.must_be_short(given) > BRIEF
    service.metrics.texts += number
    if is_long:
        return await service.at_length(tensors.infer, serving, name, request, given)
    return tensors.infer(serving, name, request, given)


@endpoint("GET", "/metrics", gives="text/plain")
async def show_metrics(service: Service, call: Call) -> Body:
    """Counters for Prometheus."""
    return Body(service.metrics.text(), metrics.MEDIA)


@endpoint("GET", "/openapi.json", gives="application/json", needs="nothing")
async def openapi(service: Service, call: Call) -> Body:
    """The description of all endpoints."""
    return Body(
        json.dumps(description(ENDPOINTS, service.settings, service.live.serving.model)).encode(),
        b"application/json",
    )


@endpoint("GET", "/", gives="text/html", needs="nothing")
async def page(service: Service, call: Call) -> Body:
    """The page."""
    body = _page_file("index.html")
    if (title := service.settings.title) is None:
        return body
    # Before any answer of the service: on a slow network that may take a while.
    named = body.content.replace(b'<h1 id="name">textodds<', f'<h1 id="name">{escape(title)}<'.encode())
    return body._replace(content=named)


@endpoint("GET", "/docs", gives="text/html", needs="nothing")
async def docs(service: Service, call: Call) -> Body:
    """The page of the API: every endpoint, and a form that asks it."""
    return _page_file("docs.html")


@endpoint("GET", "/page/{name}", gives="*/*", needs="nothing")
async def page_part(service: Service, call: Call) -> Body:
    """A part of the page."""
    return _page_file(call.path["name"])


PAGE_FILES = {
    part.name: part.read_bytes()
    for part in (files("textodds.serve") / "page").iterdir()
    if part.name.rpartition(".")[2] in MEDIA
}
"""The parts of the page by name: what is not among them cannot be asked for."""


def _page_file(name: str) -> Body:
    content = PAGE_FILES.get(name)
    if content is None:
        raise Problem(HTTPStatus.NOT_FOUND, "not-found", "the page has no such file")
    return Body(content, MEDIA[name.rpartition(".")[2]], ((b"content-security-policy", PAGE_POLICY), *ALONE))
