"""``from-fasttext``: make a model of a fastText classifier."""

from __future__ import annotations

from pathlib import Path

from textodds.cli import model_files
from textodds.cli.commands import argument, command, option
from textodds.cli.options import running_options
from textodds.cli.output import counted, size, tell
from textodds.cli.overwrite import themselves
from textodds.interop.from_fasttext import from_fasttext as converted

OUTPUT = "The model file to write."
CALIBRATE = "Calibrate by labelled texts that fastText was not trained on: a file, a pattern or a folder."
ONE_LABEL = "Of ova and ns: answer with the label of the highest score."


@command(
    "from-fasttext",
    examples=[
        "textodds from-fasttext mail.bin -o mail.textodds",
        "textodds from-fasttext mail.bin -o mail.textodds --calibrate valid.txt",
    ],
)
@argument("file", "A classifier that fastText saved: a .bin or .ftz file.", metavar="FILE")
@option("Output", "-o", "--output", required=True, metavar="MODEL", writes="model", help=OUTPUT)
@option("Labels", "--one-label", is_flag=True, help=ONE_LABEL)
@option("Calibration", "--calibrate", metavar="DATA", reads=themselves, help=CALIBRATE)
@running_options(json="Print what was written as one JSON object.", threads=False)
def from_fasttext(
    file: str, output: str, one_label: bool, calibrate: str | None, as_json_: bool, quiet: bool
) -> None:
    """Convert a fastText classifier to a model.

    The model has the same predictions. Models of -loss softmax and hs give one label a text, those of ova
    and ns several. The model can be explained, evaluated and served; having no documents, it cannot learn or
    forget. With `--calibrate` its probabilities are calibrated, and it can promise an error rate.
    """
    path = Path(output)
    model_files.must_be_writable(path)
    model = converted(file, one_label=one_label, calibrate=calibrate)
    written = model_files.write(model, path)
    extent = f"{counted(len(model.classes_), 'class')}, {counted(*model.extent)}"
    said = f"wrote {path}: {extent}, {size(written)}"
    tell(model_files.plain(model, path, written), [said], json=as_json_, quiet=quiet)
