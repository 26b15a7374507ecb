"""Two naive Bayes models of words over the size of the vocabulary: the multinomial and the Bernoulli.

    python examples/reproductions/event_models.py

McCallum and Nigam (1998), "A comparison of event models for naive Bayes text classification": words are
chosen by their mutual information with the class. Words here are runs of letters, as there, without the
headers of a post or a page; of newsgroups and news without stop words too. Words are counted once for each
part of the data: to leave a part out is to subtract its counts, and to choose words is to select among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_sets import Rows, rows_of
from results import Results, Share, Spread, Table
from script import main
from textodds import Tally, TextModel, TextSettings
from textodds.learn import naive_bayes
from textodds.learn.naive_bayes import BernoulliLearner, MultinomialLearner
from textodds.learn.recipe import recipe_of
from textodds.study.compare import mutual_information
from textodds.study.report.picture import INK, STYLES, Picture, drawing, head

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Words that are kept, of as many as there are; all of them come last."""

FOLDS = 5
"""Parts of which each is held out once, where the papers drew splits at random."""

LEARNERS = {"multinomial": MultinomialLearner(1.0), "Bernoulli": BernoulliLearner(1.0)}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """A data set, how its texts are cleaned, and what was found on it: the best of each model, in percent."""

    name: str
    source: str
    clean: Callable[[str], str]
    settings: TextSettings
    published: tuple[str, str]
    folds: bool = True  # else the split that the data set has


def after_headers(text: str) -> str:
    """A post or page from its first empty line on."""
    return re.split(r"\r?\n\r?\n", text, maxsplit=1)[-1]


def page(text: str) -> str:
    """The words that a reader of a page in HTML sees."""
    return re.sub(r"<[^>]*>", " ", after_headers(text))


LETTERS = TextSettings(unit="[a-z]+")
NO_STOP_WORDS = TextSettings(unit="[a-z]+", stop_words="english")
CORPORA = (
    Corpus("WebKB", "webkb_raw", page, LETTERS, ("about 86", "70 to 80")),
    Corpus("20 Newsgroups", "20newsgroups", after_headers, NO_STOP_WORDS, ("about 85", "about 74")),
    Corpus("Reuters R8", "reuters_r8", str, NO_STOP_WORDS, ("", ""), folds=False),
)


def model_of(tally: Tally, words: NDArray[np.intp], learner: Any, settings: TextSettings) -> TextModel:
    """The model of a learner that knows some of the words that were counted, by their numbers in order."""
    keep = np.zeros(len(tally.vocabulary), dtype=bool)
    keep[words] = True
    form = naive_bayes.fit(learner, tally.counts().select(keep))
    return TextModel(recipe_of(learner, settings=settings), tally.vocabulary.select(words), form, None, {})


def curve(tally: Tally, held_out: Rows, settings: TextSettings) -> dict[str, dict[int, float]]:
    """Accuracy on held-out texts by number of words, of each model; all words stand under 0."""
    order = np.argsort(-mutual_information(tally.counts()), kind="stable")
    found: dict[str, dict[int, float]] = {name: {} for name in LEARNERS}
    for size in (*(size for size in SIZES if size < len(order)), 0):
        words = np.sort(order[: size or None])
        for name, learner in LEARNERS.items():
            found[name][size] = model_of(tally, words, learner, settings).evaluate(*held_out).accuracy
    return found


@dataclass(frozen=True)
class Curves:
    """Accuracies on a corpus by model, (splits, sizes), and the numbers of words and of texts held out."""

    sizes: list[int]
    accuracy: dict[str, Floats]
    held_out: int

    def at(self, name: str, place: int) -> Share | Spread:
        """The accuracy of a model with the number of words at a place: of one split, or over several."""
        found = self.accuracy[name][:, place]
        return (
            Spread.of(found) if len(found) > 1 else Share.of(round(found[0] * self.held_out), self.held_out)
        )

    @property
    def fewer_errors(self) -> float:
        """By what share the multinomial model has fewer errors than the other, the mean over all sizes."""
        wrong = {name: 1 - found.mean(axis=0) for name, found in self.accuracy.items()}
        return float(np.mean(1 - wrong["multinomial"] / wrong["Bernoulli"]))


def curves(corpus: Corpus, quick: bool) -> Curves:
    """The accuracies on each part that is held out."""
    parts = []
    for which in ("train", "test"):
        texts, labels = rows_of(corpus.source, which, quick=quick)
        parts.append(([corpus.clean(text) for text in texts], labels))
    if corpus.folds:
        texts, labels = (parts[0][at] + parts[1][at] for at in (0, 1))
        order = np.random.default_rng(0).permutation(len(texts))
        folds = [order[start::FOLDS].tolist() for start in range(FOLDS)]
        parts = [([texts[i] for i in fold], [labels[i] for i in fold]) for fold in folds]
    tallies = [Tally.of(*part, settings=corpus.settings) for part in parts]
    everything = sum(tallies[1:], start=tallies[0])
    held_out = range(2 if quick else FOLDS) if corpus.folds else [1]
    found = [curve(everything - tallies[at], parts[at], corpus.settings) for at in held_out]
    sizes = [size for size in found[0]["multinomial"] if all(size in one["multinomial"] for one in found)]
    accuracy = {name: np.array([[one[name][size] for size in sizes] for one in found]) for name in LEARNERS}
    return Curves([size or len(everything.vocabulary) for size in sizes], accuracy, len(parts[-1][0]))


def run(quick: bool) -> Results:
    """A curve for each model and corpus, and the best of each."""
    rows, drawn = [], {}
    for corpus in CORPORA:
        drawn[corpus.name] = found = curves(corpus, quick)
        for name, published in zip(LEARNERS, corpus.published, strict=True):
            best = int(found.accuracy[name].mean(axis=0).argmax())
            fewer = 100 * found.fewer_errors if name == "multinomial" else None
            words = f"{found.sizes[best]:,}"
            rows.append(
                (f"{corpus.name}, {name}", published, found.at(name, best), words, found.at(name, -1), fewer)
            )
    columns = (
        "corpus and model",
        "published best %",
        "best %",
        "with words",
        "all words %",
        "fewer errors %",
    )
    table = Table(dict.fromkeys(columns, ".0f"), tuple(rows))
    return Results({"Multinomial and Bernoulli": table}, {"event-models.svg": picture(drawn)})


def picture(drawn: dict[str, Curves]) -> Picture:
    """Accuracy over the number of words, a panel for each corpus."""
    with drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 3.9))
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(drawn), squeeze=False, sharey=True)[0]
        figure.subplots_adjust(left=0.065, right=0.985, top=0.84, bottom=0.15, wspace=0.07)
        for panel, (name, found) in zip(panels, drawn.items(), strict=True):
            for k, (learner, values) in enumerate(found.accuracy.items()):
                look, mean = STYLES[k], 100 * values.mean(axis=0)
                panel.plot(
                    found.sizes, mean, color=look.line, marker=look.marker, markersize=5, label=learner
                )
                if len(values) > 1:
                    around = 100 * values.std(axis=0, ddof=1)
                    panel.fill_between(
                        found.sizes, mean - around, mean + around, color=look.colour, alpha=0.3, lw=0
                    )
            best = [
                f"{learner} {100 * values.mean(axis=0).max():.1f} %"
                for learner, values in found.accuracy.items()
            ]
            head(panel, name, "", f"{', '.join(best)} at best")
            panel.set_xscale("log")
            panel.xaxis.set_major_formatter("{x:,.0f}")
            panel.set_xlabel("words, by mutual information")
            panel.grid(axis="y", color="#e4e4e4", linewidth=0.8)
            panel.set_axisbelow(True)
        panels[0].set_ylabel("accuracy, %")
        panels[0].legend(loc="lower right", frameon=False, fontsize=9.5, labelcolor=INK)
    title = "Accuracy of multinomial and Bernoulli naive Bayes over the size of the vocabulary"
    return Picture(figure, title)


if __name__ == "__main__":
    raise SystemExit(main(run, __doc__))
