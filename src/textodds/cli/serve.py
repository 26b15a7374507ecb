"""``serve``: answer and learn over HTTP."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from textodds.cli.commands import command, option
from textodds.cli.options import COUNT, model_argument, number, running_options
from textodds.cli.output import as_json, counted, echo, faint, say, strong
from textodds.cli.overwrite import themselves
from textodds.errors import InputError, require

if TYPE_CHECKING:
    from textodds.serve.service import Service
    from textodds.serve.settings import Settings


PORT = number(int, "a number from 0 to 65535; 0 for any that is free", lambda n: 0 <= n < 65_536)
SECONDS = number(float, "a number of seconds above 0", lambda x: 0 < x < 1e6)
PACKAGES = ("httptools", "msgspec", "prometheus_client", "starlette", "uvicorn")
ORIGIN = "Public address behind a proxy, such as https://mail.example; may be repeated; needs tokens."
JOURNAL = "File of corrections.  [default: MODEL.journal]"
SNAPSHOT = "Save the model after N corrections, and at exit."
READ_ONLY = "Do not learn: no journal, no file is written."
LOSS = "Start even if corrections of the snapshot are missing from the journal."
TOKENS = "File of lines NAME SCOPE TOKEN [LAST DAY]; reloaded when it changes."
AUDIT = "Append a JSON line for each correction (time, token, content); reopened on SIGHUP."
NEW = "Start a model that has learned nothing, to label texts on the page; it is saved as MODEL."
CLASSES = "Classes of a new model, such as spam,ham; more can be added on the page."
TITLE = "Title of the page.  [default: name of the model file]"
EXAMPLES = "File of texts or rows to try on the page; the first five are shown."
TIMEOUT = "Time limit of a request; an evaluation of a file may take twelve times as long."


class Serving(TypedDict):
    """How to serve: where, for whom, and within which limits."""

    host: str
    port: int
    origins: tuple[str, ...]
    tokens: str | None
    journal: str | None
    audit: str | None
    snapshot_every: int
    read_only: bool
    new: bool
    classes: str | None
    accept_loss: bool
    page_title: str | None
    data_link: str | None
    examples: str | None
    compare: str | None
    max_text: int
    max_batch: int
    max_body: int
    max_upload: int
    max_requests: int
    timeout: float


@command(
    "serve",
    examples=[
        "textodds serve mail.textodds",
        "textodds serve mail.textodds --new --classes spam,ham",
        "textodds serve mail.textodds --port 9000 --journal /var/lib/mail.journal",
        "curl 127.0.0.1:8790/v1/model",
    ],
)
@model_argument()
@option(
    "Where",
    "--host",
    default="127.0.0.1",
    metavar="HOST",
    help="Address to listen on; other than this machine needs tokens.",
)
@option("Where", "--port", type=PORT, default=8790, metavar="PORT", help="Port to listen on.")
@option("Where", "--origin", "origins", multiple=True, metavar="URL", help=ORIGIN)
@option("Where", "--tokens", metavar="FILE", reads=themselves, help=TOKENS)
@option("Learning", "--new", is_flag=True, help=NEW)
@option("Learning", "--classes", metavar="NAMES", help=CLASSES)
@option("Learning", "--journal", metavar="FILE", writes="journal", help=JOURNAL)
@option("Learning", "--snapshot-every", type=COUNT, default=10_000, metavar="N", help=SNAPSHOT)
@option("Learning", "--audit", metavar="FILE", writes="audit log", help=AUDIT)
@option("Learning", "--read-only", is_flag=True, help=READ_ONLY)
@option("Learning", "--accept-loss", is_flag=True, help=LOSS)
@option("Page", "--page-title", metavar="TEXT", help=TITLE)
@option("Page", "--data-link", metavar="URL", help="Link to the data, shown on the page.")
@option("Page", "--examples", metavar="FILE", reads=themselves, help=EXAMPLES)
@option("Page", "--compare", metavar="FILE", reads=themselves, help="Another model to compare with.")
@option("Limits", "--max-text", type=COUNT, default=100_000, metavar="N", help="Longest text, in characters.")
@option("Limits", "--max-batch", type=COUNT, default=1000, metavar="N", help="Most texts in a request.")
@option(
    "Limits", "--max-body", type=COUNT, default=4 << 20, metavar="BYTES", help="Largest request, in bytes."
)
@option("Limits", "--max-upload", type=COUNT, default=64 << 20, metavar="BYTES", help="Bytes of a file.")
@option("Limits", "--max-requests", type=COUNT, default=128, metavar="N", help="Most concurrent requests.")
@option("Limits", "--timeout", type=SECONDS, default=10.0, metavar="SECONDS", help=TIMEOUT)
@running_options(json="Print the address as JSON, once it listens.", threads=False)
def serve(model: str, as_json_: bool, quiet: bool, **options: Unpack[Serving]) -> None:
    """Serve a model over HTTP, with a web page.

    The page is at /, the API description at /openapi.json. A correction is acknowledged once it is on
    disk, in the journal, and counts in the next answer. SIGHUP loads a new model file; SIGTERM or Ctrl-C
    stops the service.

    With `--new` there need be no model yet: label texts on the page, and the model is made of the labels.
    It is saved as MODEL at exit, and `textodds serve MODEL --new` goes on with it.

    On an address that other machines can reach, also behind a proxy, set TEXTODDS_READ_TOKEN and
    TEXTODDS_WRITE_TOKEN, or give `--tokens`; requests must then carry a token. The scopes
    of a token are `read`, `write` (also learn and forget) and `admin` (also snapshot, backup and reload).
    Needs `pip install 'textodds[serve]'`.
    """
    require(*PACKAGES, why="the service")
    from textodds.serve.server import run
    from textodds.serve.visible import VisibleFormatter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler])
    settings = _settings(model, options)

    def ready(service: Service, address: str) -> None:
        version = service.live.serving.version
        if as_json_:
            echo(as_json({"address": address, "version": version, "pid": os.getpid()}))
            sys.stdout.flush()
            return
        entries = service.journal.last
        more = f" and {counted(entries, 'correction')} of {settings.journal.name}" if entries else ""
        what = f"{model}, which is new," if settings.new and not entries else model
        say(f"serving {what}{more} at {strong(address)}", quiet=quiet)
        if settings.read_only and settings.journal.exists():
            say(f"the corrections in {settings.journal.name} are not applied", quiet=quiet)
        if (why := service.live.base.cannot_learn) is not None:
            say(faint(f"read-only: {why}"), quiet=quiet)

    run(settings, ready)
    say("stopped", quiet=quiet or as_json_)


def _settings(model: str, options: Serving) -> Settings:
    """The options and the tokens of the environment, as the service takes them."""
    from textodds.serve.origins import PublicOrigin
    from textodds.serve.settings import Settings

    journal, tokens, audit = options["journal"], options["tokens"], options["audit"]
    names = options["classes"]
    if names is not None and not options["new"]:
        raise InputError("`--classes` are those of a new model", hint="give `--new` too, or leave them out")
    classes = tuple(dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip()))
    for name, given in (("journal", journal), ("audit", audit), ("new", options["new"] or None)):
        if options["read_only"] and given is not None:
            raise InputError(f"`--read-only` cannot be combined with `--{name}`", hint="give one of them")
    return Settings(
        Path(model),
        Path(f"{model}.journal" if journal is None else journal),
        options["host"],
        options["port"],
        read_token=os.environ.get("TEXTODDS_READ_TOKEN") or None,
        write_token=os.environ.get("TEXTODDS_WRITE_TOKEN") or None,
        origins=tuple(PublicOrigin.of(address) for address in options["origins"]),
        tokens=None if tokens is None else Path(tokens),
        audit=None if audit is None else Path(audit),
        snapshot_every=options["snapshot_every"],
        read_only=options["read_only"],
        new=options["new"],
        classes=classes,
        accept_loss=options["accept_loss"],
        title=options["page_title"],
        data_link=options["data_link"],
        examples=None if options["examples"] is None else Path(options["examples"]),
        compare=None if options["compare"] is None else Path(options["compare"]),
        text=options["max_text"],
        batch=options["max_batch"],
        body=options["max_body"],
        upload=options["max_upload"],
        requests=options["max_requests"],
        seconds=options["timeout"],
        upload_seconds=12 * options["timeout"],
    )
