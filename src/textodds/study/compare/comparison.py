"""What came of a comparison: models side by side, who is better, and how fast they learn."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from textodds.judge.baseline import ALONE, Baseline
from textodds.judge.evaluation import Evaluation
from textodds.judge.notebook import frame_of, paragraph, section, table
from textodds.learn.registry import AUTO
from textodds.study.compare.curves import WHY, Crossover, LearningCurve
from textodds.study.compare.measurement import Duration
from textodds.study.compare.pairs import PairedTest

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Setting:
    """The data, and how it was split.

    ``shared`` are held-out rows that are also among those learned from, labels apart; ``unknown`` are
    held-out rows whose label is never shown. Learning curves are measured on ``curve_rows`` of those held
    out.
    """

    source: str
    noun: str  # what a row is called: "text" or "row"
    n_train: int
    n_test: int
    classes: dict[str, int]  # rows learned from, by class
    held_out: str  # how it came about
    seed: int
    shared: int = 0
    unknown: int = 0
    curve_rows: int = 0

    def sentence(self) -> str:
        """All of it in words."""
        told = (
            f"{self.n_train:,} {self.noun}s of {len(self.classes):,} classes to learn from, "
            f"{self.n_test:,} held out: {self.held_out}"
        )
        if self.shared:
            alike = "word for word" if self.noun == "text" else "value for value"
            told += f"; {self.shared:,} of them are among those learned from, {alike}"
        if self.unknown:
            told += f"; {self.unknown:,} have a label that is never shown, and are always wrong"
        return told


@dataclass(frozen=True)
class Row:
    """One model of all rows: how good it is, and what it took."""

    name: str
    learner: str
    family: str
    made: str
    evaluation: Evaluation
    training: Duration
    predicting: Duration  # of all held-out rows
    bytes: int
    notes: tuple[str, ...] = ()
    parameters: int = 0  # that are free; 0 where it was measured before they were counted

    @property
    def title(self) -> str:
        """Its name and, of what `train` chooses, what that is."""
        return f"{AUTO}: {self.made.partition('; ')[0]}" if self.name == AUTO else self.name

    @property
    def predicting_thousand(self) -> Duration:
        """What 1,000 rows take to predict."""
        n = self.evaluation.n
        return Duration(1000 * self.predicting.wall / n, 1000 * self.predicting.cpu / n)

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data."""
        return {
            "name": self.name,
            "learner": self.learner,
            "family": self.family,
            "made": self.made,
            **self.evaluation.as_dict(),
            "train_seconds": self.training.wall,
            "train_cpu_seconds": self.training.cpu,
            "predict_seconds_per_thousand": self.predicting_thousand.wall,
            "predict_cpu_seconds_per_thousand": self.predicting_thousand.cpu,
            "bytes": self.bytes,
            "parameters": self.parameters,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Comparison:
    """A comparison of models; made by `textodds.compare`.

    ``rows`` are the models, the most accurate first; the one called ``auto`` is what `train` chooses.
    ``refused`` are those that could not be made of this data, with the reason. ``tests`` are of the best
    model against each of the others, by accuracy and by log-loss; ``curves`` are error and log-loss over the
    number of rows learned from; ``overtakings`` are where a model that assumes less overtakes one that
    assumes more. ``missing`` says what was skipped because time ran out, or not done because the work was
    stopped (``is_stopped``); ``is_whole`` is whether all models were measured: what only curves lack does
    not count.
    """

    setting: Setting
    rows: tuple[Row, ...]
    refused: dict[str, str]
    tests: tuple[PairedTest, ...]
    curves: tuple[LearningCurve, ...]
    overtakings: tuple[Crossover, ...]
    missing: tuple[str, ...] = ()
    is_whole: bool = True
    is_stopped: bool = False

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    @property
    def baseline(self) -> Baseline | None:
        """What the largest class alone would get on the rows that models were measured on."""
        return self.rows[0].evaluation.baseline if self.rows else None

    def warnings(self) -> list[str]:
        """Why these accuracies deserve doubt, in sentences: by the most accurate model."""
        return self.rows[0].evaluation.warnings() if self.rows else []

    def __repr__(self) -> str:
        lines = [f"<Comparison: {self.setting.sentence()}>"]
        wide = max((len(row.title) for row in self.rows), default=0)
        wide = max(wide, len(ALONE)) if self.rows else wide
        for row in self.rows:
            low, high = row.evaluation.accuracy_interval
            lines.append(
                f"  {row.title:{wide}}  accuracy {row.evaluation.accuracy:.4f} ({low:.4f} to {high:.4f})  "
                f"log-loss {row.evaluation.log_loss:.4f}  trained in {row.training.wall:.2f} s"
            )
        if self.baseline is not None:
            lines.append(f"  {ALONE:{wide}}  accuracy {self.baseline.accuracy:.4f}")
        lines += [f"  {name:{wide}}  {reason}" for name, reason in self.refused.items()]
        lines += [f"  {each}" for each in self.missing]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [
                row.title,
                f"{row.evaluation.accuracy:.4f}",
                "{:.4f} to {:.4f}".format(*row.evaluation.accuracy_interval),
                f"{row.evaluation.macro_f1:.4f}",
                f"{row.evaluation.log_loss:.4f}",
                f"{row.training.wall:.2f} s",
                f"{row.bytes:,}",
            ]
            for row in self.rows
        ]
        if self.baseline is not None:
            rows.append([ALONE, f"{self.baseline.accuracy:.4f}", *[""] * 5])
        head = ("model", "accuracy", "95 % interval", "macro-F1", "log-loss", "trained in", "bytes")
        notes = [
            *(f"warning: {each}" for each in self.warnings()),
            *self.verdicts(),
            *(f"{name}: {reason}" for name, reason in self.refused.items()),
        ]
        about = [paragraph(self.setting.sentence()), table(head, rows, most=30)]
        return section("Comparison", *about, *map(paragraph, [*notes, *self.missing]))

    def to_frame(self) -> pandas.DataFrame:
        """A frame of pandas with a row for each model: measures, seconds and bytes."""
        rows = (
            {
                "model": row.name,
                "accuracy": row.evaluation.accuracy,
                "accuracy_low": row.evaluation.accuracy_interval[0],
                "accuracy_high": row.evaluation.accuracy_interval[1],
                "macro_f1": row.evaluation.macro_f1,
                "log_loss": row.evaluation.log_loss,
                "train_seconds": row.training.wall,
                "predict_seconds_per_thousand": row.predicting_thousand.wall,
                "bytes": row.bytes,
                "parameters": row.parameters,
            }
            for row in self.rows
        )
        return frame_of(rows, "model")

    def verdicts(self) -> list[str]:
        """Who is better than whom, in sentences."""
        return [each.sentence(self.setting.noun) for each in self.tests]

    def explanation(self) -> str:
        """Why learning curves may cross."""
        return WHY[self.setting.noun]

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page that is one file, with pictures and without script; also written to ``path``, if given.

        Needs `pip install 'textodds[plot]'`.
        """
        from textodds.study.report.comparison_page import comparison_page

        page = comparison_page(self)
        if path is not None:
            from textodds.data.written_file import replacing

            with replacing(path) as temporary:
                temporary.write_text(page, encoding="utf-8")
        return page

    def as_dict(self) -> dict[str, object]:
        """All of it as plain data, for JSON."""
        return {
            "setting": asdict(self.setting),
            "models": [row.as_dict() for row in self.rows],
            "largest_class": None if self.baseline is None else self.baseline.as_dict(),
            "warnings": self.warnings(),
            "refused": [{"name": name, "reason": reason} for name, reason in self.refused.items()],
            "tests": [{**each.as_dict(), "says": each.sentence(self.setting.noun)} for each in self.tests],
            "curves": [curve.as_dict() for curve in self.curves],
            "overtakings": [
                {**each.as_dict(), "says": each.sentence(self.setting.noun)} for each in self.overtakings
            ],
            "missing": list(self.missing),
            "is_whole": self.is_whole,
        }
