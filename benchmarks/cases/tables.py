"""Mixed naive Bayes of a table: from a file to a model, and to probabilities of another file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
import textodds
from bench import SKLEARN, Bench
from cases.discriminant import calibration_error, log_loss
from corpora import Missing
from measure import InProcess, interleaved
from result import Bar, Result, Table, digits, times
from textodds.learn.forms.linear import log_softmax
from textodds.learn.tables import MixedLearner

OURS = "textodds, mixed"
SAME = "textodds, mixed, Gaussian numbers, not calibrated"
PEER = f"{SKLEARN}, GaussianNB and CategoricalNB"
UNSMOOTHED = f"{SKLEARN}, `var_smoothing=0`"

ADULT = "tab_adult"
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def tables(bench: Bench) -> Result:
    result = Result(
        "tables",
        "A table of numbers and categories",
        'Adult, from a CSV file to a model: `textodds.train(path, learner="mixed")` with its defaults '
        "against `pandas.read_csv`, and scikit-learn's `GaussianNB` of the numbers and `CategoricalNB` of "
        "the categories (`OrdinalEncoder`), whose joint log-likelihoods are added, with the prior once. "
        "And from the test file to probabilities.",
    )
    try:
        _adult(bench, result)
    except Missing as missing:
        result.skip(str(missing))
    return result


def _adult(bench: Bench, result: Result) -> None:
    corpus = bench.corpora[ADULT]
    train, test = corpus.train.path, corpus.test.path
    pandas = peers.module("pandas")
    peers.module("sklearn")
    same: dict[str, Any] = {
        "learner": MixedLearner(calibrate=False),
        "columns": dict.fromkeys(NUMBERS, "gaussian"),
    }
    fits = [
        InProcess(OURS, lambda _: textodds.train(train, learner="mixed"), times=3),
        InProcess(SAME, lambda _: textodds.train(train, **same), times=3),
        InProcess(PEER, lambda _: SklearnMixedNB.of(train)),
        InProcess(UNSMOOTHED, lambda _: SklearnMixedNB.of(train, var_smoothing=0.0)),
    ]
    for fit in fits:  # whatever is imported or made but once is not to be timed
        fit.time()
    fitting = interleaved(fits, bench.rounds)
    answers = [
        InProcess(
            fit.name,
            lambda _, model=fit.result: model.predict_log_proba(test),
            times=3 if fit.name in (OURS, SAME) else 1,
        )
        for fit in fits
    ]
    predicting = interleaved(answers, bench.rounds)
    labels = pandas.read_csv(test, usecols=["label"])["label"].to_numpy()
    codes = np.searchsorted(np.unique(labels), labels)
    found = {who.name: np.asarray(who.result) for who in answers}
    right = {who: float(np.mean(each.argmax(axis=1) == codes)) for who, each in found.items()}
    loss = {who: log_loss(each, codes) for who, each in found.items()}
    error = {who: calibration_error(each, codes) for who, each in found.items()}
    result.record("adult, fit", fitting, accuracy=right, log_loss=loss, calibration_error=error)
    result.record("adult, predict", predicting)
    columns = (
        "data", "who", "file to model CPU s", "best", "textodds is faster by",
        "test file to probabilities CPU s", "best", "textodds is faster by", "test accuracy",
        "test log-loss", "calibration error",
    )  # fmt: skip
    table = Table("", columns)
    result.tables.append(table)
    for who in fitting:
        fit = result.ratio("adult, fit", fitting[who], fitting[OURS])
        predict = result.ratio("adult, predict", predicting[who], predicting[OURS])
        ours = who in (OURS, SAME)
        table.rows.append(
            (
                corpus.title,
                who,
                digits(fitting[who].median()),
                digits(fitting[who].best()),
                "" if ours else times(fit.value),
                digits(predicting[who].median()),
                digits(predicting[who].best()),
                "" if ours else times(predict.value),
                f"{100 * right[who]:.2f} %",
                digits(loss[who]),
                digits(error[who]),
            )
        )
        if who == PEER:
            result.bars.append(Bar("mixed naive Bayes, Adult, file to model", SKLEARN, fit.value))
            result.bars.append(Bar("mixed naive Bayes, Adult, predict a file", SKLEARN, predict.value))
    alike = float(np.mean(found[SAME].argmax(axis=1) == found[UNSMOOTHED].argmax(axis=1)))
    result.raw.append({"data": "adult", "same_answer_without_smoothing": alike})
    result.notes += [
        f"“textodds is faster by” compares with `{OURS}`, which finds out what the columns are, cuts numbers "
        "into intervals where that suits them better than a Gaussian, and weighs numbers against categories "
        f"so that probabilities are right. `{SAME}` is the model that the others build by hand; its numbers "
        "are smoothed by a share of their own variance. scikit-learn adds a share (1e-9) of the largest "
        "variance of any column, which here is that of `fnlwgt` and more than the variance of "
        f"`education-num`; without any it gives the same answers as `{SAME}` for {100 * alike:.2f} % of the "
        "test rows.",
        "A missing category (`?`) is one of its own for all. Modules are imported beforehand. Which columns "
        "are numbers is written out by hand for scikit-learn; textodds finds out by itself. Calibration "
        "error: the expected one, in 15 intervals of equal width. No target was set here.",
    ]


@dataclass(frozen=True)
class SklearnMixedNB:
    """What users write by hand: two naive Bayes models that share their prior."""

    categories: list[str]
    encoder: Any
    gaussian: Any
    categorical: Any

    @classmethod
    def of(cls, path: Path, **options: Any) -> SklearnMixedNB:
        """From a file to a model."""
        import pandas
        from sklearn.naive_bayes import CategoricalNB, GaussianNB
        from sklearn.preprocessing import OrdinalEncoder

        frame = pandas.read_csv(path, keep_default_na=False)
        labels = frame.pop("label").to_numpy()
        categories = [name for name in frame.columns if name not in NUMBERS]
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        places = encoder.fit_transform(frame[categories]) + 1  # 0 is for those that were never seen
        gaussian = GaussianNB(**options).fit(frame[list(NUMBERS)].to_numpy(), labels)
        return cls(categories, encoder, gaussian, CategoricalNB().fit(places, labels))

    def predict_log_proba(self, path: Path) -> NDArray[np.float64]:
        """From a file to logarithms of probabilities, (N, K)."""
        import pandas

        frame = pandas.read_csv(path, keep_default_na=False)
        numbers = self.gaussian.predict_joint_log_proba(frame[list(NUMBERS)].to_numpy())
        places = self.encoder.transform(frame[self.categories]) + 1
        joint = numbers + self.categorical.predict_joint_log_proba(places)
        return log_softmax(joint - self.categorical.class_log_prior_)
