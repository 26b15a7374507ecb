"""Training from a file on disk, reading included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peers
import textodds
from bench import ONE, SAME, SKLEARN, Bench, accuracy
from corpora import TITLES, Corpus, Missing
from measure import InProcess, Series, interleaved
from result import Bar, Result, Table, Target, digits, times
from textodds import TextSettings

DEFAULT = "textodds, threads by default"
STREAMED = "scikit-learn, hashed, streamed"
OWN = "textodds, 1 thread, fastText's file"
FASTTEXT = "fastText, bigrams, its own file"
VW = "Vowpal Wabbit, bigrams, its own file"
COUNTED: dict[str, Any] = {"learner": "multinomial:alpha=1", "calibrate": False, "threads": 1}
COLUMNS = ("data", "who", "CPU s", "best CPU s", "wall s", "textodds is faster by", "test accuracy")


def train_csv(bench: Bench) -> Result:
    result = Result(
        "train-csv",
        "Training from a file",
        "From a plain CSV file in the page cache to a model: "
        '`textodds.train(path, learner="multinomial:alpha=1", calibrate=False, threads=1)` against the '
        "faster of `csv.DictReader` and `pandas.read_csv`, then `CountVectorizer()` and `MultinomialNB()`.",
    )
    for name, others in (("imdb", True), ("20newsgroups", False)):
        try:
            corpus = bench.corpora[name]
            _from_csv(bench, corpus, result, others=others)
        except Missing as missing:
            result.skip(str(missing))
            result.targets.append(
                Target.times(f"train from CSV, {TITLES[name]}, CPU, against scikit-learn", 50, None)
            )
    settings = ", ".join(f"{name} {value}" for name, value in peers.FASTTEXT.items())
    result.notes.append(
        "fastText and Vowpal Wabbit learn other models (embeddings; logistic regression), on bigrams, and "
        "are more accurate on IMDB than naive Bayes on words. Their files hold words that were lower-cased "
        "and set apart beforehand, which is not timed, to their advantage; textodds reads the same file in "
        f"the row “{OWN}”, with which fastText is compared. fastText: {settings}. Vowpal Wabbit: "
        f"`{peers.VW}`, one pass."
    )
    return result


def _from_csv(bench: Bench, corpus: Corpus, result: Result, *, others: bool) -> None:
    print(f"  {corpus.title}", flush=True)
    path, classes = corpus.train.path, sorted(set(corpus.train.labels))
    reader, read = _faster_reader(bench, corpus, result)
    sklearn = f"{SKLEARN}, read by {reader}"
    same = TextSettings.sklearn()
    contenders = [
        InProcess(ONE, lambda _: textodds.train(path, **COUNTED), times=3),
        InProcess(SAME, lambda _: textodds.train(path, **COUNTED, settings=same), times=2),
        InProcess(DEFAULT, lambda _: textodds.train(path, learner="multinomial:alpha=1"), times=3),
        InProcess(sklearn, lambda _: peers.sklearn_fit(read(path))),
    ]
    answers: dict[str, Any] = {who.name: lambda model: model.predict(corpus.test.texts) for who in contenders}
    if others:
        for make in (_streamed, _fasttext, _vw):
            try:
                for contender, answer in make(bench, corpus, classes):
                    contenders.append(contender)
                    answers[contender.name] = answer
            except Missing as missing:
                result.skip(str(missing))
    warm = bench.workspace / "warm.csv"
    warm.write_bytes(b"label,text\na,one\nb,two\n")
    textodds.train(warm, learner="multinomial:alpha=1")
    series = interleaved(contenders, bench.rounds)
    right = {who.name: accuracy(answers[who.name](who.result), corpus.test.labels) for who in contenders}
    result.record(corpus.name, series, accuracy=right)
    _tell(result, corpus, series, right, sklearn)


def _tell(
    result: Result, corpus: Corpus, series: dict[str, Series], right: dict[str, float], sklearn: str
) -> None:
    table = Table("", COLUMNS)
    one = series[ONE]
    for who, seconds in series.items():
        # fastText is compared on its own file
        faster = series[OWN] if who == FASTTEXT and OWN in series else one
        ratio = result.ratio(corpus.name, seconds, faster)
        mine = who.startswith("textodds")
        table.rows.append(
            (
                corpus.title,
                who,
                digits(seconds.median()),
                digits(seconds.best()),
                digits(seconds.median("wall")),
                "" if mine else times(ratio.value),
                f"{100 * right[who]:.2f} %",
            )
        )
        if not mine and who != sklearn:
            label = f"train from {'CSV, hashed' if who == STREAMED else 'its own file'}, {corpus.title}"
            result.bars.append(Bar(label, who.partition(",")[0], ratio.value))
    result.tables.append(table)
    ratio = result.ratio(corpus.name, series[sklearn], one)
    result.targets.append(
        Target.times(f"train from CSV, {corpus.title}, CPU, against scikit-learn", 50, ratio)
    )
    result.bars.append(Bar(f"train from CSV, {corpus.title}", SKLEARN, ratio.value, 50))


def _faster_reader(bench: Bench, corpus: Corpus, result: Result) -> tuple[str, Any]:
    readers = peers.readers()
    for read in readers.values():  # imports are not to be timed
        read(corpus.test.path)
    series = interleaved(
        [
            InProcess(f"reading by {name}", read, prepare=lambda: corpus.train.path)
            for name, read in readers.items()
        ],
        max(3, bench.rounds),
    )
    result.record(corpus.name, series)
    fastest = min(readers, key=lambda name: series[f"reading by {name}"].median())
    said = ", ".join(f"{name} {digits(series[f'reading by {name}'].median())} s" for name in readers)
    result.notes.append(f"Reading the rows of {corpus.title} for scikit-learn: {said} of CPU.")
    return fastest, readers[fastest]


def _streamed(bench: Bench, corpus: Corpus, classes: list[str]) -> list[tuple[InProcess, Any]]:
    peers.module("sklearn")
    path = corpus.train.path
    contender = InProcess(STREAMED, lambda _: peers.sklearn_streamed(path, classes), rounds=3)
    return [(contender, lambda model: model.predict(corpus.test.texts))]


def _fasttext(bench: Bench, corpus: Corpus, classes: list[str]) -> list[tuple[InProcess, Any]]:
    peers.module("fasttext")
    path = peers.write_fasttext(corpus.train, bench.workspace / f"{corpus.name}.fasttext")
    prepared = [peers.words(text) for text in corpus.test.texts]
    own = InProcess(
        OWN,
        lambda _: textodds.train(path, **COUNTED, format="fasttext"),
        times=2,
    )
    theirs = InProcess(FASTTEXT, lambda _: peers.fasttext_train(path), rounds=3)

    def answer(model: Any) -> list[str]:
        bench.keep(corpus, "fastText", model)
        return peers.fasttext_labels(model, prepared)

    return [(own, lambda model: model.predict(prepared)), (theirs, answer)]


def _vw(bench: Bench, corpus: Corpus, classes: list[str]) -> list[tuple[InProcess, Any]]:
    peers.module("vowpalwabbit")
    train = peers.write_vw(corpus.train, bench.workspace / f"{corpus.name}-train.vw", classes)
    test = peers.write_vw(corpus.test, bench.workspace / f"{corpus.name}-test.vw", classes)
    model: Path = bench.workspace / f"{corpus.name}.vw.model"
    contender = InProcess(VW, lambda _: peers.vw_train(train, model, len(classes)))
    return [(contender, lambda made: peers.vw_labels(made, test, classes))]
