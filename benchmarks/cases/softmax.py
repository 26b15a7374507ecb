"""Softmax models from raw text: how long they take, and how good they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peers
import textodds
from bench import SKLEARN, Bench, accuracy
from corpora import TITLES, Corpus, Missing
from measure import InProcess, Series, interleaved
from result import Bar, Result, Table, Target, digits, times

GIVEN = "textodds, softmax, C = 1"
WORDS = "textodds, softmax, C = 1, single words"
CHOSEN = "textodds, softmax, C chosen"
NB = "textodds, nb-softmax, C chosen"
DEFAULTS = "textodds, nb-softmax, C and features chosen"
TFIDF = f"{SKLEARN}, tf-idf and LogisticRegression"
FASTTEXT = "fastText, words given"
LONGER = "fastText, words given, 25 epochs"
VW = "Vowpal Wabbit, words given"

LEARNERS: dict[str, Any] = {
    GIVEN: textodds.SoftmaxRegression(C=1.0),
    WORDS: textodds.SoftmaxRegression(C=1.0),
    CHOSEN: "softmax",
    NB: "nb-softmax",
    DEFAULTS: "nb-softmax",
}

SLOW = "20newsgroups"  # whose pairs of words take LogisticRegression many minutes


def softmax(bench: Bench) -> Result:
    result = Result(
        "softmax",
        "From raw text to a softmax model",
        "Texts in memory, words and pairs of words: `textodds.train(texts, labels, learner="
        "SoftmaxRegression(C=1.0), ngrams=(1, 2), threads=1)`, and with C chosen on held-out texts, against "
        "`TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)` and `LogisticRegression(C=1, "
        "max_iter=200)`, fastText and Vowpal Wabbit.",
    )
    columns = ("data", "who", "CPU s", "best CPU s", "textodds is faster by", "test accuracy")
    result.tables += [Table("", columns)]
    for name in ("imdb", "ag_news_subset", SLOW):
        try:
            corpus = bench.corpora.head(name, 2000) if bench.quick else bench.corpora[name]
            models = _one_corpus(bench, corpus, result, words=name == SLOW)
            if name == "imdb":
                _prediction(bench, corpus, models, result)
        except Missing as missing:
            result.skip(str(missing))
            _targets(result, name, TITLES[name], {}, {})
    fasttext = ", ".join(f"{name} {value}" for name, value in peers.FASTTEXT.items())
    result.notes += [
        f"“textodds is faster by” compares with `{GIVEN}`, on single words with `{WORDS}`. On 20 Newsgroups "
        "scikit-learn has single words, since pairs take it too long. textodds drops terms that occur in one "
        "text only (`min_df=2`), which scikit-learn keeps by default; it stops at a proven gap of 1e-4, "
        "scikit-learn at `tol=1e-4`.",
        f'`{DEFAULTS}` is `textodds.train(texts, labels, learner="nb-softmax", threads=1)`: it also tries '
        "words alone, three in a row, and letters within words.",
        "fastText and Vowpal Wabbit read files whose words were lower-cased and set apart beforehand, which "
        f"is not timed; textodds reads raw text. fastText: {fasttext}. Vowpal Wabbit: `{peers.VW}`, `--oaa`, "
        "one pass. On 20 Newsgroups, with few texts and many classes, five epochs and one pass are too few "
        "for them, and both get better with more; there the accuracy of fastText is that of 25 epochs.",
    ]
    return result


def _one_corpus(bench: Bench, corpus: Corpus, result: Result, *, words: bool) -> dict[str, Any]:
    """Measure one corpus; return the models."""
    print(f"  {corpus.title}", flush=True)
    ngrams = (1, 1) if words else (1, 2)
    contenders = [
        _ours(corpus, GIVEN, times=2, ngrams=(1, 2)),
        *([_ours(corpus, WORDS, times=2, ngrams=(1, 1))] if words else []),
        _ours(corpus, CHOSEN, rounds=3, ngrams=(1, 2)),
        _ours(corpus, NB, rounds=3, ngrams=(1, 2)),
        _ours(corpus, DEFAULTS, rounds=2),
    ]
    answers: dict[str, Any] = {who.name: lambda model: model.predict(corpus.test.texts) for who in contenders}
    classes = sorted(set(corpus.train.labels))
    for make in (_sklearn, _fasttext, _vw):
        try:
            for contender, answer in make(bench, corpus, classes, ngrams):
                contenders.append(contender)
                answers[contender.name] = answer
        except Missing as missing:
            result.skip(str(missing))
    textodds.train(corpus.train.texts[:100], corpus.train.labels[:100], learner="nb-softmax")
    series = interleaved(contenders, bench.rounds)
    right = {who.name: accuracy(answers[who.name](who.result), corpus.test.labels) for who in contenders}
    result.record(corpus.name, series, accuracy=right)
    for who, seconds in series.items():
        ratio = result.ratio(corpus.name, seconds, _rival(series, who))
        result.tables[0].rows.append(
            (
                corpus.title,
                who,
                digits(seconds.median()),
                digits(seconds.best()),
                "" if who.startswith("textodds") else times(ratio.value),
                f"{100 * right[who]:.2f} %",
            )
        )
    _targets(result, corpus.name.partition("-")[0], corpus.title, series, right)
    return {who.name: who.result for who in contenders}


def _rival(series: dict[str, Series], who: str) -> Series:
    """What a contender is compared with: it has the same terms."""
    return series[WORDS if who == TFIDF and WORDS in series else GIVEN]


def _ours(
    corpus: Corpus, kind: str, *, times: int = 1, rounds: int | None = None, **options: Any
) -> InProcess:
    def train(texts: list[str]) -> Any:
        return textodds.train(texts, corpus.train.labels, learner=LEARNERS[kind], threads=1, **options)

    return InProcess(kind, train, prepare=corpus.train.fresh, times=times, rounds=rounds)


Entrants = list[tuple[InProcess, Any]]


def _sklearn(bench: Bench, corpus: Corpus, classes: list[str], ngrams: tuple[int, int]) -> Entrants:
    peers.module("sklearn")
    contender = InProcess(
        TFIDF,
        lambda texts: peers.sklearn_softmax((texts, corpus.train.labels), ngrams),
        prepare=corpus.train.fresh,
        rounds=1 if bench.quick else 2,
    )
    return [(contender, lambda model: model.predict(corpus.test.texts))]


def _fasttext(bench: Bench, corpus: Corpus, classes: list[str], ngrams: tuple[int, int]) -> Entrants:
    peers.module("fasttext")
    path = peers.write_fasttext(corpus.train, bench.workspace / f"{corpus.name}.fasttext")
    prepared = [peers.words(text) for text in corpus.test.texts]
    contenders = [InProcess(FASTTEXT, lambda _: peers.fasttext_train(path), rounds=3)]
    if ngrams == (1, 1):  # few texts and many classes: five epochs are far too few
        contenders.append(InProcess(LONGER, lambda _: peers.fasttext_train(path, epoch=25), rounds=1))
    return [(who, lambda model: peers.fasttext_labels(model, prepared)) for who in contenders]


def _vw(bench: Bench, corpus: Corpus, classes: list[str], ngrams: tuple[int, int]) -> Entrants:
    peers.module("vowpalwabbit")
    train = peers.write_vw(corpus.train, bench.workspace / f"{corpus.name}-train.vw", classes)
    test = peers.write_vw(corpus.test, bench.workspace / f"{corpus.name}-test.vw", classes)
    model: Path = bench.workspace / f"{corpus.name}.vw.model"
    contender = InProcess(VW, lambda _: peers.vw_train(train, model, len(classes)))
    return [(contender, lambda made: peers.vw_labels(made, test, classes))]


def _targets(
    result: Result, name: str, title: str, series: dict[str, Series], right: dict[str, float]
) -> None:
    wanted = [(FASTTEXT, 1.0)]
    if name != SLOW:
        wanted.insert(0, (TFIDF, 30.0))
    if name == "imdb":
        wanted.append((VW, 0.8))
    for who, asked in wanted:
        ratio = result.ratio(name, series[who], _rival(series, who)) if who in series else None
        against = who.partition(",")[0]
        result.targets.append(
            Target.times(f"softmax of C = 1 from text, {title}, CPU, against {against}", asked, ratio)
        )
    asked_of = dict(wanted)
    for who in (TFIDF, FASTTEXT, VW):
        if who in series:
            ratio = result.ratio(name, series[who], _rival(series, who))
            label = f"softmax from text, {title}"
            result.bars.append(Bar(label, who.partition(",")[0], ratio.value, asked_of.get(who)))
    for against in ("fastText", "Vowpal Wabbit"):
        theirs = [share for who, share in right.items() if who.startswith(against)]
        claim = f"test accuracy, {title}, nb-softmax with C chosen, against {against}"
        reached = right[NB] if theirs else None
        result.targets.append(Target(claim, True, max(theirs, default=0.0), reached, "accuracy"))


def _prediction(bench: Bench, corpus: Corpus, models: dict[str, Any], result: Result) -> None:
    """From raw test texts to probabilities."""
    table = Table("", ("data", "who", "CPU s", "documents per CPU s", "textodds is faster by"))
    result.tables.append(table)
    contenders = []
    for kind in (GIVEN, NB, TFIDF):
        if kind in models:
            models[kind].predict_proba(corpus.test.texts[:100])
            contenders.append(
                InProcess(
                    kind,
                    models[kind].predict_proba,
                    prepare=corpus.test.fresh,
                    times=1 if kind == TFIDF else 2,
                    rounds=(1 if bench.quick else 2) if kind == TFIDF else None,
                )
            )
    series = interleaved(contenders, bench.rounds)
    result.record(f"prediction, {corpus.name}", series)
    for who, seconds in series.items():
        ratio = result.ratio(f"prediction, {corpus.name}", seconds, series[GIVEN])
        table.rows.append(
            (
                f"{corpus.title}, prediction",
                who,
                digits(seconds.median()),
                digits(len(corpus.test.labels) / seconds.median()),
                "" if who.startswith("textodds") else times(ratio.value),
            )
        )
        if who == TFIDF:
            result.bars.append(Bar(f"predict by softmax, {corpus.title}", SKLEARN, ratio.value))


PROMISED = {
    "imdb": 0.915,
    "20newsgroups": 0.86,
    "ag_news_subset": 0.918,
    "mr": 0.775,
    "reuters_r8": 0.97,
}


def accuracies(bench: Bench) -> Result:
    result = Result(
        "accuracy",
        "Accuracy of softmax with its defaults",
        '`textodds.train(texts, labels, learner="nb-softmax")` and `learner="softmax"` with nothing else '
        "said: C, and which words or letters to take, are chosen on texts held out of the training "
        "set. Measured on the test set; nothing here is timed.",
    )
    columns = ("data", "learner", "test accuracy", "95 % interval", "test log-loss", "C chosen", "terms")
    table = Table("", columns)
    result.tables.append(table)
    for name in ("mr", "reuters_r8") if bench.quick else PROMISED:
        claim = f"test accuracy, {TITLES[name]}, nb-softmax with its defaults"
        try:
            corpus = bench.corpora[name]
            print(f"  {corpus.title}", flush=True)
            for learner in ("nb-softmax", "softmax"):
                found = _quality(corpus, learner, result, table)
                if learner == "nb-softmax":
                    low, high = found.accuracy_interval
                    result.targets.append(
                        Target(claim, True, PROMISED[name], found.accuracy, "accuracy", low, high)
                    )
        except Missing as missing:
            result.skip(str(missing))
            result.targets.append(Target(claim, True, PROMISED[name], None, "accuracy"))
    return result


def _quality(corpus: Corpus, learner: str, result: Result, table: Table) -> Any:
    model = textodds.train(*corpus.train.rows, learner=learner)
    found = model.evaluate(*corpus.test.rows)
    low, high = found.accuracy_interval
    C, terms = float(model.info["fit"]["C"]), len(model.vocabulary)
    table.rows.append(
        (
            corpus.title,
            learner,
            f"{100 * found.accuracy:.2f} %",
            f"{100 * low:.2f} – {100 * high:.2f} %",
            digits(found.log_loss),
            digits(C),
            f"{terms:,}",
        )
    )
    result.raw.append(
        {
            "data": corpus.name,
            "learner": learner,
            "accuracy": found.accuracy,
            "log_loss": found.log_loss,
            "C": C,
            "terms": terms,
            "fit": model.info["fit"],
        }
    )
    return found
