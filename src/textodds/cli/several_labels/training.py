"""What ``train`` says of a model of several labels a text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli import model_files, summaries
from textodds.cli.output import counted, duration, faint, one_line, size, strong, table, tell, warning, weight
from textodds.cli.several_labels import measures

if TYPE_CHECKING:
    from textodds.cli.progress import Progress
    from textodds.judge.label_evaluation import LabelEvaluation
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

LARGEST = 10  # labels that the summary names


def tell_trained(
    model: MultiLabelModel,
    path: Path,
    written: int,
    evaluation: Any,
    observer: Progress,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned, from what, and where it is."""
    about: dict[str, Any] = {}
    if json:
        rejects, rows, n = observer.source.rejects, observer.rows_read, observer.bytes_read
        about = plain(model, path, written, evaluation) | {
            "rows": rows,
            "seconds": seconds,
            "rows_per_second": rows / seconds,
            "bytes_read": n,
            "megabytes_per_second": n / 1e6 / seconds,
            "rejected": rejects.count,
            "rejects": None if rejects.path is None else str(rejects.path),
        }
    tell(about, _all_lines(model, path, written, evaluation, observer, seconds), json=json, quiet=quiet)


def _all_lines(
    model: MultiLabelModel, path: Path, written: int, evaluation: Any, observer: Progress, seconds: float
) -> Iterator[str]:
    n = observer.rows_read
    speed = [f"{n / seconds:,.0f} rows/s"]
    if observer.bytes_read:
        speed.append(f"{observer.bytes_read / 1e6 / seconds:.3g} MB/s")
    learned = strong(f"{counted(n, 'row')} of {model.info['source']}")
    yield f"learned {learned} in {duration(seconds)} {faint('(' + ', '.join(speed) + ')')}"
    names = [column.name for column in model.schema.used]
    if names:
        label = f"; label: {one_line(model.schema.label)}" if model.schema.label else ""
        yield f"text: {', '.join(map(one_line, names))}{label}"
    yield from lines(model, path, written, evaluation)


def plain(
    model: MultiLabelModel, path: Path, written: int, evaluation: LabelEvaluation | None
) -> dict[str, Any]:
    """What was learned, as plain data."""
    info = model.info
    return {
        **model_files.plain(model, path, written),
        "labels_per_text": info.get("labels_per_text"),
        "goal": str(model.goal),
        **{name: info.get(name) for name in ("fit", "tried", "uncalibrated")},
        "left_out": measures.plain_held_out(model, measures.held_out(model)),
        "quality": None if evaluation is None else evaluation.as_dict(),
    }


def lines(
    model: MultiLabelModel, path: Path, written: int, evaluation: LabelEvaluation | None
) -> Iterator[str]:
    """The same in words, below the line that says what was read."""
    yield several_line(model.class_names, model.info.get("labels_per_text"))
    yield ""
    yield from label_table(model.class_documents, model.n_texts, LARGEST)
    yield ""
    tried = list(tried_lines(model.info.get("tried")))
    yield from [*tried, ""] if tried else [f"learner: {model.recipe.learner.entry.name}"]
    if (found := measures.plain_held_out(model, measures.held_out(model))) is not None:
        yield measures.held_out_line(found)
        yield threshold_line(model)
    yield from summaries.uncalibrated_lines(model.info.get("uncalibrated"))
    if model.info.get("textbook"):
        yield "textbook mode: nothing tuned, probabilities not calibrated"
    if evaluation is not None:
        yield from measures.headline(evaluation)
        where = model.info["quality"]["source"]
        yield faint(f"  on {counted(evaluation.n, 'row')} of {where}; ranges are 95 % intervals")
        yield ""
        yield from map(warning, evaluation.warnings())
    elif found is None:
        yield from summaries.unmeasured_lines(round(model.n_texts), model.noun)
    if rare := [label for label, n in model.class_documents.items() if n < 10]:
        named = ", ".join(map(one_line, rare[:5])) + (", …" if len(rare) > 5 else "")
        yield warning(f"{counted(len(rare), 'label')} with fewer than 10 texts to learn from: {named}")
    yield from _end(model, path, written, is_measured=evaluation is not None)


def _end(model: MultiLabelModel, path: Path, written: int, *, is_measured: bool) -> Iterator[str]:
    if why := model.info.get("not_kept"):
        yield f"  its {model.rests_on} are not kept: {why}; learning and forgetting will not recalibrate it"
        yield ""
    yield f"wrote {strong(str(path))}: {counted(*model.extent)}, {size(written)}"
    yield ""
    name = shlex.quote(str(path))
    new = "NEW_DATA" if model.recipe.settings.fields else '--say "a text of your own"'
    yield f"next:  textodds predict {name} {new}"
    yield f"       textodds {f'inspect {name}' if is_measured else f'evaluate {name} TEST_DATA'}"


def several_line(names: tuple[str, ...], per_text: object) -> str:
    """How many labels there are, and how many a text has."""
    mean = f", {per_text:.1f} a text" if isinstance(per_text, (int, float)) else ""
    return f"several labels: {len(names):,} different{mean}"


def threshold_line(model: MultiLabelModel) -> str:
    """From which probabilities on labels are given, and what for."""
    assert model.thresholds is not None
    low, high = float(model.thresholds.min()), min(float(model.thresholds.max()), 1.0)
    told = f"thresholds from {low:.2f} to {high:.2f}" if low < high else f"threshold {low:.2f}"
    never = [
        one_line(name) for name, t in zip(model.class_names, model.thresholds, strict=True) if float(t) > 1
    ]
    more = "" if not never else f"; never given: {', '.join(never[:5])}" + ", …" * (len(never) > 5)
    return f"goal {model.goal}: {told}{more}"


def label_table(documents: Mapping[str, float], n: float, most: int) -> Iterator[str]:
    """The most frequent labels with their texts."""
    rows = [
        [one_line(label), weight(documents[label]), f"{documents[label] / max(n, 1e-12):.1%}"]
        for label in summaries.largest(documents, most)
    ]
    yield from table(("label", "texts", "share"), rows)
    if len(documents) > most:
        yield faint(f"  and {counted(len(documents) - most, 'rarer label')}")


def _why_not(tried: Mapping[str, Any]) -> str:
    return faint(f"not tried: {one_line(tried['why'])}") if "why" in tried else ""


def tried_lines(tried: Any) -> Iterator[str]:
    """Which candidates were tried, and which was chosen."""
    try:
        rows = [
            [
                strong(one_line(each["name"])) if each.get("chosen") else one_line(each["name"]),
                "–" if each["log_loss"] is None else f"{each['log_loss']:.4f}",
                "chosen" if each.get("chosen") else _why_not(each),
            ]
            for each in tried
        ]
    except summaries.STRANGE:
        return
    yield from table(("tried", "log-loss a label", ""), rows, left=1)
