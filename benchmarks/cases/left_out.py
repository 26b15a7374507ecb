"""Exact leave-one-out: what it costs, the wrong labels it finds, and the probabilities it makes right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
import textodds
from bench import SKLEARN, Bench
from cases.discriminant import BINS, calibration_error, log_loss
from corpora import TITLES, Corpus, Missing
from measure import InProcess, interleaved
from result import Bar, Result, Table, Target, digits, times
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.study.audit import audit

LEAVING, SCORING = "`model.leave_one_out`", "`model.score`"
MOST = 3.0  # times the cost of one prediction pass

OURS = "textodds, `audit`, smoothing chosen"
PLAIN = f"{SKLEARN}, 5 folds, `alpha=1`"
TUNED = f"{SKLEARN}, 5 folds, `alpha=0.01`"
TOLD = f"{SKLEARN}, 5 folds, told the smoothing that textodds chose"
WRONG = 0.05  # share of labels that are made wrong

LOSSES = {"20newsgroups": 1.23, "imdb": 0.46, "ag_news_subset": 0.32}  # test log-loss, at most
WAYS: dict[str, dict[str, Any]] = {
    "α = 1, as it is": {"calibrate": False},
    "α = 1, calibrated": {},
    "α chosen, calibrated": {"learner": MultinomialLearner(alpha=None)},
}

Floats = NDArray[np.float64]


def left_out(bench: Bench) -> Result:
    result = Result(
        "left-out",
        "Leaving out one text at a time",
        "Every text under the model of all others, exactly and in one pass: `model.leave_one_out(texts, "
        "labels)` against one prediction pass, `model.score(texts)`, over the same texts. Labels made wrong "
        f"on purpose ({100 * WRONG:g} %, at random, seeded), found again by `textodds audit` and by "
        "`cross_val_predict` (5 folds) of `CountVectorizer` and `MultinomialNB`, both ranking texts by the "
        "probability of their own label. Test log-loss before and after a calibration by texts left out.",
    )
    for measured in (_cost, _audits, _calibrations):
        measured(bench, result)
    return result


def _cost(bench: Bench, result: Result) -> None:
    claim = f"leave-one-out, {TITLES['imdb']}, CPU against one prediction pass"
    try:
        corpus = bench.corpora.head("imdb", 3000) if bench.quick else bench.corpora["imdb"]
    except Missing as missing:
        result.skip(str(missing))
        result.targets.append(Target(claim, False, MOST, None, "times"))
        return
    print(f"  {corpus.title}, cost", flush=True)
    part = corpus.train
    model: Any = textodds.train(*part.rows, learner="multinomial:alpha=1", threads=1)
    contenders = [
        InProcess(LEAVING, lambda texts: model.leave_one_out(texts, part.labels), prepare=part.fresh),
        InProcess(SCORING, model.score, prepare=part.fresh),
    ]
    for contender in contenders:  # whatever is imported or made but once is not to be timed
        contender.time()
    series = interleaved(contenders, bench.rounds)
    result.record(f"{corpus.name}, cost", series)
    ratio = result.ratio(f"{corpus.name}, cost", series[LEAVING], series[SCORING])
    result.targets.append(Target(claim, False, MOST, ratio.value, "times", ratio.low, ratio.high))
    table = Table("", ("data", "what", "CPU s", "best CPU s", "texts per CPU s"))
    result.tables.append(table)
    for who, seconds in series.items():
        rate = len(part.texts) / seconds.median()
        table.rows.append(
            (corpus.title, who, digits(seconds.median()), digits(seconds.best()), f"{rate:,.0f}")
        )
    result.notes.append(
        f"Both passes read {len(part.texts):,} texts of {part.size / 1e6:.1f} MB on one thread. The pass "
        f"that leaves out takes {ratio.value:.2f} times the other, and gives what {len(part.texts):,} "
        "trainings would give."
    )


def _audits(bench: Bench, result: Result) -> None:
    columns = (
        "data", "who", "average precision", "of the first as many, truly wrong", "CPU s", "best",
        "textodds is faster by",
    )  # fmt: skip
    table = Table("", columns)
    result.tables.append(table)
    for name in ("20newsgroups", "ag_news_subset"):
        try:
            corpus = bench.corpora.head(name, 3000) if bench.quick else bench.corpora[name]
            peers.module("sklearn")
            _audit(bench, corpus, result, table)
        except Missing as missing:
            result.skip(str(missing))
    result.notes.append(
        "Average precision: `average_precision_score` of the labels made wrong; 1 if they all come first, "
        f"and {WRONG:g} by chance. Second column: the share of labels made wrong among as many texts as "
        "there are such labels, the least believed first. scikit-learn's texts are ranked by the logarithm "
        "of the probability, which tells apart those that are 0 to the last bit; ranked by the probability "
        "itself, the average precision is that in brackets. `alpha=0.01` stands for a usual search, whose "
        "cost is not counted; textodds chooses its smoothing within the time shown, and “told” has its "
        "choice for nothing. Labels that are wrong in the data as they come are counted as right, for all. "
        "scikit-learn is run once."
    )


def _audit(bench: Bench, corpus: Corpus, result: Result, table: Table) -> None:
    from sklearn.metrics import average_precision_score

    print(f"  {corpus.title}, audit", flush=True)
    labels, wrong = planted(corpus.train.labels)
    n = int(wrong.sum())

    def ours(texts: list[str]) -> Any:
        return audit(texts, labels, most=100, threads=1)

    contenders = [InProcess(OURS, ours, prepare=corpus.train.fresh)]
    contenders[0].time()
    alphas = {PLAIN: 1.0, TOLD: float(contenders[0].result.model.recipe.learner.alpha)}
    if corpus.name.startswith("20newsgroups"):
        alphas[TUNED] = 0.01
    for name, alpha in alphas.items():
        contenders.append(
            InProcess(
                name,
                lambda texts, alpha=alpha: own_by_folds(texts, labels, alpha),
                prepare=corpus.train.fresh,
                rounds=1,
            )
        )
    series = interleaved(contenders, bench.rounds)
    own = {who.name: who.result for who in contenders[1:]}
    answers = contenders[0].result.left_out
    own[OURS] = answers.log_p_truth[np.argsort(answers.rows)]
    precision = {who: float(average_precision_score(wrong, -each)) for who, each in own.items()}
    rounded = {who: float(average_precision_score(wrong, -np.exp(each))) for who, each in own.items()}
    first = {who: float(wrong[np.argsort(each, kind="stable")[:n]].mean()) for who, each in own.items()}
    result.record(
        f"{corpus.name}, audit",
        series,
        average_precision=precision,
        average_precision_of_probabilities=rounded,
        precision_at_n=first,
        probabilities_of_zero={who: int((np.exp(each) == 0).sum()) for who, each in own.items()},
    )
    result.raw.append(
        {
            "data": f"{corpus.name}, audit",
            "made_wrong": n,
            "alpha": contenders[0].result.model.recipe.learner.alpha,
        }
    )
    for who, seconds in series.items():
        ratio = result.ratio(f"{corpus.name}, audit", seconds, series[OURS])
        shown = f"{precision[who]:.3f}" + ("" if who == OURS else f" ({rounded[who]:.3f})")
        table.rows.append(
            (
                corpus.title,
                who,
                shown,
                f"{100 * first[who]:.1f} %",
                digits(seconds.median()),
                digits(seconds.best()),
                "" if who == OURS else times(ratio.value),
            )
        )
        if who == PLAIN:
            result.bars.append(Bar(f"audit labels, {corpus.title}", SKLEARN, ratio.value))


def planted(labels: list[str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Labels of which a share is another one, drawn at random, and which they are."""
    random = np.random.default_rng(0)
    classes = sorted(set(labels))
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[random.choice(len(labels), round(WRONG * len(labels)), replace=False)] = True
    made = list(labels)
    for i in np.flatnonzero(wrong):
        made[i] = str(random.choice([name for name in classes if name != labels[i]]))
    return made, wrong


def own_by_folds(texts: list[str], labels: list[str], alpha: float) -> Floats:
    """``log p(own label | text)``, (N,), each text held out once in five folds, by scikit-learn."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import MultinomialNB as Reference
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(), Reference(alpha=alpha))
    found = cross_val_predict(pipeline, texts, labels, cv=5, method="predict_log_proba")
    return np.asarray(found[np.arange(len(labels)), np.searchsorted(sorted(set(labels)), labels)])


def _calibrations(bench: Bench, result: Result) -> None:
    columns = ("data", "naive Bayes", "α", "test log-loss", "calibration error", "test accuracy")
    table = Table("", columns)
    result.tables.append(table)
    for name in ("20newsgroups", "imdb", "ag_news_subset", "mr"):
        losses: dict[str, float] = {}
        try:
            corpus = bench.corpora[name]
            print(f"  {corpus.title}, calibration", flush=True)
            losses = _calibration(corpus, result, table)
        except Missing as missing:
            result.skip(str(missing))
        if name in LOSSES:
            claim = f"test log-loss, {TITLES[name]}, naive Bayes, smoothing chosen and calibrated"
            reached = losses.get("α chosen, calibrated")
            result.targets.append(Target(claim, False, LOSSES[name], reached, "nats"))
    result.notes.append(
        f"Calibration error: the expected one of the predicted label, in {BINS} intervals of equal width. "
        "Nothing is held out: smoothing, temperature and bias are chosen on up to 5,000 training texts, each "
        "left out in turn."
    )


def _calibration(corpus: Corpus, result: Result, table: Table) -> dict[str, float]:
    losses = {}
    for way, options in WAYS.items():
        model: Any = textodds.train(
            *corpus.train.rows, threads=1, **{"learner": "multinomial:alpha=1", **options}
        )
        log_proba = model.predict_log_proba(corpus.test.texts)
        codes = np.searchsorted(np.array(model.classes_), corpus.test.labels)
        right = float(np.mean(log_proba.argmax(axis=1) == codes))
        loss, error = log_loss(log_proba, codes), calibration_error(log_proba, codes)
        alpha = float(model.recipe.learner.alpha)
        row = (corpus.title, way, digits(alpha), digits(loss), f"{error:.4f}", f"{100 * right:.2f} %")
        table.rows.append(row)
        result.raw.append(
            {
                "data": f"{corpus.name}, calibration",
                "way": way,
                "alpha": alpha,
                "log_loss": loss,
                "calibration_error": error,
                "accuracy": right,
                "left_out": model.info.get("left_out"),
            }
        )
        losses[way] = loss
    return losses
