"""The endpoints of labelling."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textodds.errors import InputError
from textodds.judge.evaluation import wilson
from textodds.learn.forms.linear import log_softmax
from textodds.model.text_model import TextModel
from textodds.serve.endpoint import Body, Call
from textodds.serve.endpoints import endpoint
from textodds.serve.labelling import messages
from textodds.serve.labelling.acts import ActRequest
from textodds.serve.labelling.desk import ASK_EVERY, CHECKED, SAMPLE, Desk
from textodds.serve.labelling.ledger import Check
from textodds.serve.labelling.pool import MOST, PoolFile, PoolText
from textodds.serve.labelling.progress import Labelled, Measured, why_not
from textodds.serve.protocol.problems import shorten
from textodds.serve.records.journal import Journal
from textodds.serve.service import Service
from textodds.serve.updates.fold import ServedModel

FEW = 10  # answers below which a share has no interval
TEXTS_FILE = "text\nwin a free phone now\nsee you at noon\n"


def _by(call: Call, given: str) -> str:
    return given.strip() or (call.by if "." not in call.by and ":" not in call.by else "")


def _model(serving: ServedModel) -> TextModel:
    assert isinstance(serving.model, TextModel)  # or there would be no desk
    return serving.model


def _file(desk: Desk, file: PoolFile) -> messages.LabelledFile:
    texts = sum(each.file == file.digest for each in desk.pool.texts.values())
    columns = json.loads(file.columns)
    return messages.LabelledFile(
        file.digest, file.name, file.rows, texts, file.encoding, file.column, columns
    )


def _shown(desk: Desk, text: PoolText) -> messages.ShownText:
    standing = desk.labels.get(text.id)
    label, by = (None, "") if standing is None else (standing.label, standing.by)
    return messages.ShownText(id=text.id, text=text.text, row=text.row, label=label, by=by)


@endpoint("GET", "/v1/labelling", query=messages.LabellingQuery)
async def labelling(service: Service, call: Call) -> messages.LabellingState:
    """Where labelling stands: files, classes, people, and how many texts wait."""
    serving, cannot = await service.standing(), service.live.base.cannot_learn
    desk = await service.aside(service.desk)
    return await service.aside(_state, desk, call.query.by, serving, cannot, service.settings.new)


def _state(desk: Desk, by: str, serving: Any, cannot: str | None, new: bool) -> messages.LabellingState:
    counts, people = desk.counts, Counter(standing.by for standing in desk.labels.values())
    names = sorted({*desk.classes, *counts, *serving.model.class_names})
    last = desk.last_of(by)
    fair = [
        act
        for act in desk.acts
        if act.kind == "label" and act.chosen == "random" and act.guess and act.n not in desk.undone
    ]
    right = sum(act.guess == act.label for act in fair)
    interval = wilson(right, len(fair)) if len(fair) >= FEW else None
    return messages.LabellingState(
        files=[_file(desk, file) for file in desk.pool.files.values()],
        texts=len(desk.pool),
        labelled=len(desk.labels),
        remaining=desk.remaining(by),
        classes=[messages.ClassCount(name, counts[name]) for name in names],
        people=[messages.Person(name, n) for name, n in people.most_common()],
        contradictions=sum(1 for _ in desk.contradictions()),
        guesses=messages.Guesses(len(fair), right, interval),
        undo=None if last is None else last.kind,
        cannot_learn=cannot,
        new=new,
        version=serving.version,
    )


@endpoint(
    "POST", "/v1/labelling/files", takes="file", query=messages.FileQuery, needs="write", example=TEXTS_FILE
)
async def add_file(service: Service, call: Call) -> messages.FileAnswer:
    """Take the texts of a file, to be labelled; encoding, separator and column are found."""
    desk, query = await service.aside(service.desk), call.query
    options = {"column": query.text, "longest": service.settings.text, "most": MOST}
    found = await service.uploads.texts(call.body, query.name, options)
    digest = hashlib.sha256(call.body).hexdigest()[:16]
    return await service.at_length(_add, desk, query.name, digest, found)


def _add(desk: Desk, name: str, digest: str, found: dict[str, Any]) -> messages.FileAnswer:
    texts = [(text, first, row) for text, first, row in found["texts"]]
    columns = json.dumps(found["columns"], ensure_ascii=False)
    file = PoolFile(digest, shorten(name), found["encoding"], found["column"], columns, found["rows"])
    is_known = digest in desk.pool.files and desk.pool.files[digest].column == file.column
    new = 0 if is_known else desk.pool.add(file, texts)
    here = _file(desk, desk.pool.files[digest])
    labelled = sum(1 for each in desk.pool.texts.values() if each.file == digest and each.id in desk.labels)
    return messages.FileAnswer(here, new, labelled, found["distinct"] - len(texts))


@endpoint(
    "POST",
    "/v1/labelling/files/remove",
    takes=messages.RemoveRequest,
    needs="write",
    example={"file": "0123abcd"},
)
async def remove_file(service: Service, call: Call) -> messages.LabellingState:
    """Take the texts of a file away; labels stay."""
    desk = await service.aside(service.desk)
    await service.aside(desk.pool.remove, call.body.file)
    serving, cannot = await service.standing(), service.live.base.cannot_learn
    return await service.aside(_state, desk, call.body.by, serving, cannot, service.settings.new)


@endpoint(
    "POST", "/v1/labelling/next", takes=messages.NextRequest, needs="write", example={"order": "useful"}
)
async def next_text(service: Service, call: Call) -> messages.NextText:
    """The next text to label, and what the model says of it; nobody else is given it meanwhile."""
    desk, serving, request = await service.aside(service.desk), await service.standing(), call.body
    return await service.at_length(_next, desk, _model(serving), request, _by(call, request.by))


def _next(desk: Desk, model: TextModel, request: messages.NextRequest, by: str) -> messages.NextText:
    order = request.order
    if request.id is not None:
        name: str | None = request.id if request.id in desk.pool.texts else None
        order = request.order if request.order in ("second", "check") else "search"
    elif order == "check":
        name = desk.next_of_check(request.check or 0, by)
    elif order == "second":
        name = desk.second(by)
    else:
        name = desk.choose(by, order, lambda texts: _ranked(model, texts, order))
    remaining = desk.remaining(by)
    if name is None:
        return messages.NextText(text=None, order=order, remaining=remaining)
    here = desk.pool.texts[name]
    guess = _guess(model, here.text)
    desk.lease(name, by, order, None if guess is None else guess.label)
    like = [_shown(desk, each) for each in desk.pool.alike(name)]
    return messages.NextText(
        text=_shown(desk, here),
        guess=guess,
        alike=[each for each in like if each.label is None],
        like_labelled=[each for each in like if each.label is not None],
        order=order,
        remaining=remaining,
    )


def _guess(model: TextModel, text: str) -> messages.Guess | None:
    """What the model says of a text; nothing, while it knows one class."""
    if len(model.class_names) < 2:
        return None
    said = model.answer(text)
    return messages.Guess(said.label, said.probability, said.probabilities)


def _ranked(model: TextModel, texts: Sequence[str], order: str) -> list[int]:
    """The places of texts, those to label first coming first."""
    from textodds.study.active import doubt, most_typical, most_useful

    if len(model.class_names) < 2:
        return most_typical(texts, model.recipe.settings, 2 * ASK_EVERY)
    if order == "useful":
        return [each.index for each in most_useful(model, texts, 4 * ASK_EVERY)]
    scores, evidence = model.score(list(texts), calibrate=True)
    doubts = np.where(evidence[:, 0] > 0, doubt(np.exp(log_softmax(scores))), -1.0)
    found: list[int] = np.argsort(-doubts, kind="stable").tolist()
    return found


async def _acted(service: Service, call: Call, make: Callable[[Desk, str], ActRequest]) -> messages.ActAnswer:
    """Put an act on disk, and tell what it has changed."""
    desk, by = await service.aside(service.desk), _by(call, call.body.by)
    request = make(desk, by)
    answer = await service.writer.submit(request, call.by)
    await service.aside(desk.refresh)
    n = next((act.n for act in reversed(desk.acts) if act.by == by and act.kind == request.act.kind), 0)
    changed = [name for name, _, _ in request.act.changes]
    return messages.ActAnswer(
        act=n, kind=request.act.kind, text=request.act.text, changed=changed, version=answer.version
    )


@endpoint("POST", "/v1/labelling/label", takes=messages.LabelRequest, needs="write")
async def label(service: Service, call: Call) -> messages.ActAnswer:
    """Label a text, or give it another label, or take it away; acknowledged once it is on disk."""
    body: messages.LabelRequest = call.body
    if body.second:
        if body.label is None:
            raise InputError("a second opinion has a label", hint="skip the text instead")
        given = body.label
        return await _acted(service, call, lambda desk, by: desk.opinion(by, body.id, given))
    return await _acted(
        service, call, lambda desk, by: desk.labelling(by, body.id, body.label, alike=body.alike)
    )


@endpoint("POST", "/v1/labelling/skip", takes=messages.TextRequest, needs="write")
async def skip(service: Service, call: Call) -> messages.ActAnswer:
    """Pass a text over: you are not asked about it again."""
    return await _acted(service, call, lambda desk, by: desk.skipping(by, call.body.id))


@endpoint("POST", "/v1/labelling/undo", takes=messages.PersonRequest, needs="write")
async def undo(service: Service, call: Call) -> messages.ActAnswer:
    """Take back your last act, and nothing else."""
    return await _acted(service, call, lambda desk, by: desk.undoing(by))


@endpoint("POST", "/v1/labelling/back", takes=messages.BackRequest, needs="write")
async def back(service: Service, call: Call) -> messages.ActAnswer:
    """Put every label, and so the model, as it was after an act."""
    return await _acted(service, call, lambda desk, by: desk.going_back(by, call.body.act))


@endpoint(
    "POST", "/v1/labelling/classes", takes=messages.ClassRequest, needs="write", example={"label": "spam"}
)
async def add_class(service: Service, call: Call) -> messages.ActAnswer:
    """Add a class that no text has yet."""
    return await _acted(service, call, lambda desk, by: desk.naming(by, call.body.label))


@endpoint("POST", "/v1/labelling/check", takes=messages.ClassRequest, needs="write")
async def check(service: Service, call: Call) -> messages.ActAnswer:
    """Draw 20 of the texts without a label that the model gives a class to, to estimate its precision."""
    serving, label = await service.serving(), call.body.label
    if label not in serving.model.class_names:
        raise InputError(f"the model has no class `{label}`")
    desk, by = await service.aside(service.desk), _by(call, call.body.by)
    ids = await service.at_length(_predicted, desk, _model(serving), by, label)
    if not ids:
        raise InputError(
            f"the model gives no text without a label the class `{label}`", hint="label more first"
        )
    return await _acted(service, call, lambda desk, by: desk.checking(by, label, ids))


def _predicted(desk: Desk, model: TextModel, by: str, label: str) -> list[str]:
    """Texts without a label that the model gives a class to, drawn at random."""
    names, found = list(desk.waiting(by)), list[str]()
    place = model.class_names.index(label)
    for start in range(0, len(names), SAMPLE):
        part = names[start : start + SAMPLE]
        scores, _ = model.score([desk.pool.texts[name].text for name in part], calibrate=True)
        found += [name for name, k in zip(part, scores.argmax(axis=1).tolist(), strict=True) if k == place]
        if len(found) >= CHECKED:
            break
    return found[:CHECKED]


@endpoint("GET", "/v1/labelling/search", query=messages.SearchQuery)
async def search(service: Service, call: Call) -> messages.SearchAnswer:
    """Texts that have some words in them."""
    desk, query = await service.aside(service.desk), call.query
    found = await service.aside(desk.pool.search, query.q, query.limit + 1)
    shown = [_shown(desk, each) for each in found[: query.limit]]
    return messages.SearchAnswer(shown, len(found) > query.limit)


@endpoint("GET", "/v1/labelling/history", query=messages.HistoryQuery)
async def history(service: Service, call: Call) -> messages.HistoryAnswer:
    """What was done, the latest first."""
    desk = await service.aside(service.desk)
    acts: list[messages.HistoryAct] = []
    for act in reversed(desk.acts[-call.query.limit :]):
        text = desk.pool.texts.get(act.text)
        acts.append(
            messages.HistoryAct(
                n=act.n,
                at=act.at,
                by=act.by,
                kind=act.kind,
                id=act.text,
                text=None if text is None else shorten(text.text),
                label=act.label,
                now=desk.label(act.text),
                changed=0 if act.kind == "check" else len(act.changes),
                undone=act.n in desk.undone,
            )
        )
    return messages.HistoryAnswer(acts, len(desk.acts))


@endpoint("GET", "/v1/labelling/contradictions")
async def contradictions(service: Service, call: Call) -> messages.ContradictionsAnswer:
    """Texts that are the same or nearly under different labels, and opinions that differ."""
    desk = await service.aside(service.desk)
    groups = [
        [
            messages.ShownText(id=text.id, text=text.text, row=text.row, label=label, by=by)
            for text, label, by in group
        ]
        for group in desk.contradictions()
    ]
    return messages.ContradictionsAnswer(groups)


@endpoint("GET", "/v1/labelling/progress")
async def progress(service: Service, call: Call) -> messages.ProgressAnswer:
    """How good the model of the labels is, with intervals, and how that has grown."""
    desk, serving = await service.aside(service.desk), await service.standing()
    checks = [_checked(desk, each) for each in desk.checks.values()]
    if not service.settings.new:
        why = "the model has learned from other texts too: evaluate it on a labelled file"
        labels = len(desk.labels)
        return messages.ProgressAnswer(
            labels=labels, accuracy=None, too_few=why, checks=checks, version=serving.version
        )
    labelled = await service.aside(_labelled, service.journal, desk)
    points = await service.at_length(desk.curve.of, labelled, _model(serving).recipe)
    why_none = why_not([each for _, each in labelled])
    shown = [_point(each) for each in points]
    return messages.ProgressAnswer(
        labels=len(labelled),
        accuracy=shown[-1] if shown and why_none is None else None,
        too_few=why_none,
        curve=shown,
        checks=checks,
        version=serving.version,
    )


def _labelled(journal: Journal, desk: Desk) -> Labelled:
    """The documents of a new model in order, but of texts that are nearly the same only the first.

    One of them would be judged by a model that has learned the other.
    """
    found: dict[str, tuple[str, str]] = {}
    for entry in journal.standing_at(journal.last):
        if entry.sign > 0 and entry.text is not None:
            here = desk.pool.texts.get(entry.id)
            found.setdefault(entry.id if here is None else here.kin, (entry.text, entry.label))
    return list(found.values())


def _point(found: Measured) -> messages.CurvePoint:
    n = found.n
    return messages.CurvePoint(n, found.right / n, (found.low, found.high), found.largest / n)


def _checked(desk: Desk, check: Check) -> messages.CheckResult:
    """The precision of a class, as far as the texts of a sample have labels."""
    given = [desk.label(name) for name in check.ids]
    answered = sum(each is not None for each in given)
    right = sum(each == check.label for each in given)
    return messages.CheckResult(
        check=check.n,
        label=check.label,
        of=len(check.ids),
        answered=answered,
        right=right,
        interval=wilson(right, answered) if answered >= FEW or answered == len(check.ids) > 0 else None,
        at=check.at,
    )


@endpoint("GET", "/v1/labelling/labels.csv", needs="write", gives="text/csv")
async def export_csv(service: Service, call: Call) -> Body:
    """All labels as CSV: id, text, label, by whom and when."""
    desk = await service.aside(service.desk)
    return Body(await service.at_length(_as_csv, desk, service.journal), b"text/csv; charset=utf-8")


@endpoint("GET", "/v1/labelling/labels.jsonl", needs="write", gives="application/x-ndjson")
async def export_jsonl(service: Service, call: Call) -> Body:
    """All labels as JSON lines: id, text, label, by whom and when."""
    desk = await service.aside(service.desk)
    return Body(await service.at_length(_as_jsonl, desk, service.journal), b"application/x-ndjson")


FIELDS = ("id", "text", "label", "by", "at")


def _exported(desk: Desk, journal: Journal) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for entry in journal.standing_at(journal.last):
        standing = desk.labels.get(entry.id)
        if standing is not None and entry.text is not None:
            values = (entry.id, entry.text, standing.label, standing.by, standing.at)
            rows.append(dict(zip(FIELDS, values, strict=True)))
    return rows


def _as_jsonl(desk: Desk, journal: Journal) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _exported(desk, journal)).encode()


def _as_csv(desk: Desk, journal: Journal) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, FIELDS)
    writer.writeheader()
    writer.writerows(_exported(desk, journal))
    return out.getvalue().encode()
