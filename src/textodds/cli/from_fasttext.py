"""``from-fasttext``: make a model of a fastText classifier."""

from __future__ import annotations

from pathlib import Path

from textodds.cli import model_files, summaries
from textodds.cli.commands import argument, command, option
from textodds.cli.options import running_options
from textodds.cli.output import size, tell
from textodds.interop.from_fasttext import from_fasttext as converted

OUTPUT = "The model file to write."


@command("from-fasttext", examples=["textodds from-fasttext mail.bin -o mail.textodds"])
@argument("file", "A classifier that fastText saved: a .bin or .ftz file.", metavar="FILE")
@option("Output", "-o", "--output", required=True, metavar="MODEL", writes="model", help=OUTPUT)
@running_options(json="Print what was written as one JSON object.", threads=False)
def from_fasttext(file: str, output: str, as_json_: bool, quiet: bool) -> None:
    """Convert a fastText classifier into a model with the same predictions.

    Models of -loss softmax give one label a text, those of ova and ns several. -loss hs is not supported. The
    model can be explained, evaluated and served; having no documents, it cannot learn or forget.
    """
    path = Path(output)
    model_files.must_be_writable(path)
    model = converted(file)
    written = model_files.write(model, path)
    said = f"wrote {path}: {summaries.extent(model)}, {size(written)}"
    tell(model_files.plain(model, path, written), [said], json=as_json_, quiet=quiet)
