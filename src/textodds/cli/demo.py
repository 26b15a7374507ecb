"""``demo``: train, measure, explain and correct a spam filter on a few hundred messages."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from textodds.cli import model_files, summaries
from textodds.cli.commands import command, option
from textodds.cli.output import duration, echo, faint, strong, styled
from textodds.errors import BadFile, InputError
from textodds.model.explain import Explanation
from textodds.model.prediction import Prediction
from textodds.model.text_model import TextModel
from textodds.training.train import train

LEARNED, HELD_OUT, MODEL = "messages.csv", "new_messages.csv", "mail.textodds"

# Each with its true label. The last is spam in an innocent tone, which the model takes for ham.
MESSAGES = (
    ("ham", "Shall we meet at the station at six? I'll bring the tickets."),
    ("ham", "Thanks for dinner last night, the pie was perfect. Same time next month?"),
    ("spam", "Claim your refund today: enter your card details at tax-refund.example"),
    ("spam", "We were here with a parcel. Tell us when you are at home: parcel-desk.example/7"),
)
KEEP = "Write the messages and the model to this folder."
REASONS = 5  # words that the explanation of an answer names
PRECISION = 5e-4  # of a probability: what the solver leaves open is far smaller
COLOURS = {"ham": "green", "spam": "red"}


@command("demo", examples=["textodds demo", "textodds demo --keep tour"])
@option("Output", "--keep", metavar="FOLDER", help=KEEP)
def demo(keep: str | None) -> None:
    """Train, measure, explain and correct a spam filter.

    Trains on 420 messages as `train` does, measures the model on 80 others, explains four answers,
    and learns and forgets a message. Takes a few seconds, and writes only with `--keep`.
    """
    data = messages_folder()
    kept = None if keep is None else _folder(Path(keep))
    started = time.perf_counter()
    model = train(data / LEARNED)
    assert isinstance(model, TextModel)
    seconds = time.perf_counter() - started
    for lines in (_trained(model, seconds), _measured(model, data), _answered(model), _corrected(model)):
        for line in lines:
            echo(line)
        echo()
    if kept is not None:
        for name in (LEARNED, HELD_OUT):
            shutil.copyfile(data / name, kept / name)
        model_files.write(model, kept / MODEL)
    for line in _next(kept):
        echo(line)


def messages_folder() -> Path:
    """The folder of the example messages."""
    place = Path(__file__).resolve().parent / "demo_data"
    if (place / LEARNED).is_file() and (place / HELD_OUT).is_file():
        return place
    raise BadFile(
        "the example messages are not installed", hint="install textodds again, or run it from its repository"
    )


def _folder(path: Path) -> Path:
    """The folder, made if need be before training begins."""
    path.mkdir(parents=True, exist_ok=True)
    there = [name for name in (LEARNED, HELD_OUT, MODEL) if (path / name).exists()]
    data = messages_folder()
    is_ours = all((path / name).is_file() for name in (LEARNED, HELD_OUT)) and all(
        (path / name).read_bytes() == (data / name).read_bytes() for name in (LEARNED, HELD_OUT)
    )
    if there and not is_ours:
        raise InputError(
            f"`{path / there[0]}` exists and was not written by this command",
            hint="name an empty folder with `--keep`",
        )
    model_files.must_be_writable(path / MODEL)
    return path


def _heading(number: int, text: str) -> str:
    return strong(f"{number}  {text}")


def _trained(model: TextModel, seconds: float) -> Iterator[str]:
    documents = model.class_documents
    classes = " and ".join(f"{n:.0f} {_label(label)}" for label, n in documents.items())
    yield _heading(1, "Train on labelled messages")
    yield f"   {sum(documents.values()):.0f} messages, {classes}, in {duration(seconds)}"
    for line in summaries.selection_headline(model.info.get("chosen")):
        yield f"   {line}"


def _measured(model: TextModel, data: Path) -> Iterator[str]:
    evaluation = model.evaluate(data / HELD_OUT)
    yield _heading(2, f"Measure on {evaluation.n} held-out messages")
    for line in summaries.evaluation_headline(evaluation):
        yield f" {line}"
    yield faint(f"   ranges are 95 % intervals, wide because there are only {evaluation.n} messages")


def _answered(model: TextModel) -> Iterator[str]:
    yield _heading(3, "Predict and explain")
    for truth, text in MESSAGES:
        answer = model.answer(text)
        wrong = "" if answer.label == truth else f"   wrong: it is {_label(truth)}"
        yield f"   “{text}”"
        yield f"     {_answer(answer)}{wrong}"
        yield f"     {_reasons(model.explain(text))}"
    yield faint(
        "   log-odds of the strongest words; all words and the prior add up to the log-odds of the answer"
    )


def _corrected(model: TextModel) -> Iterator[str]:
    truth, text = MESSAGES[-1]
    before = model.answer(text)
    model.learn(text, truth)
    after = model.answer(text)
    model.forget(text, truth)
    again = model.answer(text)
    is_same = again.label == before.label and abs(again.probability - before.probability) < PRECISION
    verdict = "as before" if is_same else "not as before"
    yield _heading(4, "Correct an answer, and undo the correction")
    yield f"   the last message      {_answer(before)}"
    yield f"   learned as {_label(truth)}       {_answer(after)}"
    yield f"   and forgotten again   {_answer(again)}   {verdict}"


def _label(label: str) -> str:
    return styled(label, fg=COLOURS.get(label))


def _answer(answer: Prediction[str]) -> str:
    return f"{styled(f'{answer.label:<4}', fg=COLOURS.get(answer.label), bold=True)} {answer.probability:.4f}"


def _reasons(explanation: Explanation) -> str:
    """The strongest words, each in the colour of the class that it favours."""
    parts = []
    for part in explanation.words[:REASONS]:
        favoured = explanation.label if part.log_odds > 0 else explanation.rival
        parts.append(f"{part.word} {styled(f'{part.log_odds:+.2f}', fg=COLOURS.get(favoured))}")
    return faint("why  ") + "   ".join(parts)


def _next(kept: Path | None) -> Iterator[str]:
    yield _heading(5, "Your turn")
    if kept is None:
        yield "   textodds demo --keep tour          writes the messages and the model to the folder tour"
        yield "   textodds train YOUR.csv            trains on a file with columns text and label"
        yield "   textodds --help                    all commands"
        return
    model, held_out = shlex.quote(str(kept / MODEL)), shlex.quote(str(kept / HELD_OUT))
    yield f'   textodds predict {model} --say "a message of your own"'
    yield f"   textodds evaluate {model} {held_out}"
    yield f"   textodds inspect {model}"
