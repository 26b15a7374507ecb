"""Training from texts in memory."""

from __future__ import annotations

import os
from pathlib import Path

import peers
from bench import CALIBRATED, ONE, SAME, SKLEARN, TWO, Bench, accuracy, trained
from corpora import TITLES, Corpus, Missing
from measure import Child, Contender, InProcess, Series, interleaved
from result import Bar, Result, Table, Target, digits, times

PROMISED = ("imdb", "20newsgroups")  # the corpora the targets are stated for

WC_C = "wc -w, LC_ALL=C"
WC_UTF8 = "wc -w, LC_ALL=C.UTF-8"
WC_DEFAULT = "wc -w, locale of this machine"


def train_memory(bench: Bench) -> Result:
    result = Result(
        "train-memory",
        "Training from texts in memory",
        "Naive Bayes on single words: "
        '`textodds.train(texts, labels, learner="multinomial:alpha=1", calibrate=False, threads=1)` against '
        "`CountVectorizer()` and `MultinomialNB()` fitted to the same lists, which calibrate nothing either; "
        f"`{CALIBRATED}` is what is trained where nothing is said. `wc -w` counts the words of the same "
        "texts in one file.",
    )
    table = Table(
        "",
        (
            "data",
            "who",
            "CPU s",
            "best CPU s",
            "wall s",
            "MB per CPU s",
            "textodds is faster by",
            "test accuracy",
        ),
    )
    result.tables.append(table)
    agreement: dict[str, float] = {}
    for name in bench.corpora_for_all():
        try:
            corpus = bench.corpora[name]
            agreement[corpus.title] = _one_corpus(bench, corpus, result, table)
        except Missing as missing:
            result.skip(str(missing))
            if name in PROMISED:
                _targets(result, name, {})
    result.notes.append(
        "“textodds is faster by” compares CPU seconds with those of `textodds, 1 thread`, whose words follow "
        "Unicode and may have one letter. With scikit-learn's words (`TextSettings.sklearn()`) the answers "
        "are the same as scikit-learn's for "
        f"{', '.join(f'{100 * share:.5g} % ({title})' for title, share in agreement.items())} of the test "
        "documents."
    )
    result.notes.append(
        "Of the two locales the target names, the faster counts; `LC_ALL=C` is there for comparison. `wc` "
        "reads a file from the page cache, textodds reads Python strings."
    )
    return result


def _one_corpus(bench: Bench, corpus: Corpus, result: Result, table: Table) -> float:
    """Measure one corpus; return the share of test documents that get scikit-learn's answer."""
    print(f"  {corpus.title}", flush=True)
    small = corpus.train.size < 2_000_000
    labels = corpus.train.labels

    def contender(kind: str, runs: int) -> InProcess:
        return InProcess(
            kind,
            lambda texts: trained(kind, (texts, labels)),
            prepare=corpus.train.fresh,
            times=runs * (3 if small else 1),
            rounds=1 if bench.quick and kind == SKLEARN else None,
        )

    runs = {ONE: 3, TWO: 3, SAME: 2, CALIBRATED: 2, SKLEARN: 1}
    learners = [contender(kind, n) for kind, n in runs.items()]
    for learner in learners:  # whatever is imported or made but once is not to be timed
        trained(learner.name, (corpus.train.texts[:100], labels[:100]))
    everyone: list[Contender] = [*learners, *_word_counts(bench, corpus, result)]
    series = interleaved(everyone, bench.rounds)

    for learner in learners:
        bench.keep(corpus, learner.name, learner.result)
    answers = {learner.name: learner.result.predict(corpus.test.texts) for learner in learners}
    right = {who: accuracy(answer, corpus.test.labels) for who, answer in answers.items()}
    result.record(corpus.name, series, accuracy=right)
    alike = accuracy(answers[SAME], list(answers[SKLEARN]))
    result.raw.append({"data": corpus.name, "same_answer_as_scikit_learn": alike})

    one = series[ONE]
    for who, times_of in series.items():
        ratio = result.ratio(corpus.name, times_of, one)
        table.rows.append(
            (
                corpus.title,
                who,
                digits(times_of.median()),
                digits(times_of.best()),
                digits(times_of.median("wall")),
                digits(corpus.train.size / 1e6 / times_of.median()),
                "" if who.startswith("textodds") else times(ratio.value),
                f"{100 * right[who]:.2f} %" if who in right else "",
            )
        )
    versus = result.ratio(corpus.name, series[SKLEARN], one)
    result.bars.append(
        Bar(
            f"train in memory, {corpus.title}", SKLEARN, versus.value, 80 if corpus.name in PROMISED else None
        )
    )
    if corpus.name in PROMISED:
        _targets(result, corpus.name, series)
    return alike


def _word_counts(bench: Bench, corpus: Corpus, result: Result) -> list[Child]:
    if corpus.name not in PROMISED:
        return []
    try:
        wc = peers.wc()
    except Missing as missing:
        result.skip(str(missing))
        return []
    path: Path = peers.write_lines(corpus.train, bench.workspace / f"{corpus.name}.txt")
    locales: dict[str, dict[str, str]] = {
        WC_UTF8: {"LC_ALL": "C.UTF-8"},
        WC_DEFAULT: {},
        WC_C: {"LC_ALL": "C"},
    }
    return [Child(who, [wc, "-w", str(path)], env=env, times=2) for who, env in locales.items()]


def _targets(result: Result, name: str, series: dict[str, Series]) -> None:
    title = TITLES[name]
    one = series.get(ONE)
    ratio = result.ratio(name, series[SKLEARN], one) if one else None
    result.targets.append(Target.times(f"train from memory, {title}, CPU, against scikit-learn", 80, ratio))

    two = series.get(TWO) if len(os.sched_getaffinity(0)) > 1 else None
    ratio = result.ratio(name, one, two, "wall") if one and two else None
    result.targets.append(Target.times(f"train from memory, {title}, wall, 2 threads against 1", 1.6, ratio))

    counts = [series[who] for who in (WC_UTF8, WC_DEFAULT) if who in series]
    ratio = result.ratio(name, min(counts, key=Series.median), one) if one and counts else None
    result.targets.append(Target.times(f"train from memory, {title}, CPU, against `wc -w`", 1, ratio))
    if ratio:
        result.bars.append(Bar(f"train in memory, {title}", "wc -w", ratio.value, 1))
