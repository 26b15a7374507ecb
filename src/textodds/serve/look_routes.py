"""What the page asks beside the model: texts to try, and how many would change its mind."""

from __future__ import annotations

from textodds.serve import answers
from textodds.serve.endpoint import Call
from textodds.serve.endpoints import endpoint
from textodds.serve.protocol.compare_messages import CompareAnswer, OtherAnswers
from textodds.serve.protocol.look_messages import (
    CopiesAnswer,
    CopiesRequest,
    CopiesRowRequest,
    ExamplesAnswer,
)
from textodds.serve.protocol.messages import BatchRequest
from textodds.serve.protocol.row_messages import ClassifyRowsRequest
from textodds.serve.protocol.shapes import SPAM, TWO
from textodds.serve.service import Service
from textodds.serve.updates.persuasion import copies_needed


@endpoint("GET", "/v1/examples")
async def examples(service: Service, call: Call) -> ExamplesAnswer:
    """Texts or rows to try the model on."""
    found = await service.at_length(service.examples.of, service.live.base)
    return ExamplesAnswer(examples=found, version=service.live.serving.version)


@endpoint(
    "POST", "/v1/learn/copies", takes=CopiesRequest, example={"text": SPAM, "label": "ham"}, needs="read"
)
async def copies(service: Service, call: Call) -> CopiesAnswer:
    """How many copies of a text the model would have to learn to give it a label; nothing is learned."""
    request: CopiesRequest | CopiesRowRequest = call.body
    service.metrics.texts += 1
    if isinstance(request, CopiesRowRequest):
        service.must_be_short_rows((request.row,))
    else:
        service.must_be_short((request.text,), service.settings.explained)
    return await service.at_length(copies_needed, await service.serving(), request)


@endpoint("GET", "/v1/compare", may_be_unsupported=True)
async def compare(service: Service, call: Call) -> CompareAnswer:
    """How the served model differs from that of `--compare`."""
    return await service.at_length(service.comparison.difference, await service.serving())


@endpoint("POST", "/v1/compare/batch", takes=BatchRequest, example={"texts": TWO})
async def compare_batch(service: Service, call: Call) -> OtherAnswers:
    """Classify several texts or rows by the model of `--compare`."""
    request: BatchRequest | ClassifyRowsRequest = call.body
    if isinstance(request, BatchRequest):
        service.must_be_few(len(request.texts))
        service.must_be_short(request.texts)
    else:
        service.must_be_few(len(request.rows))
        service.must_be_short_rows(request.rows)
    other = service.comparison.serving
    found = await service.at_length(answers.classify_batch, other, request)
    return OtherAnswers(answers=found.answers, other=other.version, version=service.live.serving.version)
