"""Curves of a lecture drawn: the logistic curve with its log-odds, likelihoods, and losses of a descent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from textodds.errors import InputError, NoData, suggestion
from textodds.learn.arrays import Floats, Matrix
from textodds.learn.softmax.regression import SoftmaxFit, SoftmaxLearner
from textodds.learn.solvers.descent import Descent
from textodds.study.report.gaussian_fits import LabelledPoints
from textodds.study.report.gaussian_pictures import name_axis, sheet
from textodds.study.report.logistic_fit import LogisticFit
from textodds.study.report.picture import DASHES, FAINT, INK, MOST, STYLES, Picture, drawing, head, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMOOTH = 400  # points of a curve
BINS = 12  # groups of rows whose shares are drawn beside the logistic curve
LEAST = math.exp(-8.0)  # a likelihood below this share of its maximum is not drawn
ENDS = 1e-9  # room between a share and 0 or 1, where its log-likelihood may be minus infinity

LOGISTIC_KEY = "curve and line: the fitted model; dots: shares of the class among rows of similar numbers"
MAXIMUM_KEY = "likelihoods are divided by their maximum; vertical line: where it is"
SHARE_KEY = f"{MAXIMUM_KEY}; dotted: the estimate with one pseudo-count for each outcome (α = 1)"


def logistic(rows: ArrayLike, labels: Sequence[object], name: str, label: str | None = None) -> Picture:
    r"""A picture of logistic regression of one column: its probability, a curve, over its log-odds, a line.

    .. math::
        \log\frac{p(y \mid x)}{1 - p(y \mid x)} = b + w x, \qquad
        p(y \mid x) = \frac{1}{1 + e^{-(b + w x)}}                                   \tag{1}

    Parameters
    ----------
    rows : array (N,)
        A missing number (NaN) leaves out its row, and the picture says so.
    labels : sequence of N
        Two classes, or more where ``label`` is one of them and the others are taken together.
    name : str
        What the column is called.
    label : str, optional
        The class whose probability is drawn; otherwise the second by name.

    Examples
    --------
    >>> picture = logistic([1.0, 2, 3, 4, 5, 6], list("aababb"), "size")
    >>> about = picture.about
    >>> about["class"], round(about["weight"], 3), round(about["decides_at"], 3)
    ('b', 1.214, 3.5)
    """
    told = [str(each) for each in labels]
    names = sorted(set(told))
    if label is None and len(names) > 2:
        raise InputError(
            f"there are {len(names):,} classes, and a logistic curve is of one against the others",
            hint=f"name the one: `--class {names[0]}` (label={names[0]!r})",
        )
    if label is not None and label not in names:
        raise InputError(
            f"there is no class `{label}`{suggestion(label, names)}",
            hint=f"the classes are {', '.join(names[:20])}",
        )
    label = label or names[-1]
    rest = next((each for each in names if each != label), "") if len(names) == 2 else f"not {label}"
    data = LabelledPoints.of(rows, [each if each == label else rest for each in told], [name])
    fitted = LogisticFit.of(data)
    k = data.classes.index(label)
    weight, bias = float(2 * fitted.weights[0, k]), float(2 * fitted.bias[k])  # two that sum to zero
    about: dict[str, Any] = {"column": name, "class": label, "against": rest, "rows": len(data.rows)}
    about |= {"classes": list(data.classes), "bias": bias, "weight": weight, "odds_ratio": math.exp(weight)}
    about |= {"decides_at": -bias / weight if weight else None, "accuracy": fitted.accuracy(data)}
    notes = (*data.notes, *fitted.notes)
    with drawing():
        figure, panels = sheet(6.5, 2.9, (2, 1), [LOGISTIC_KEY, *notes], sharex=True)
        _draw_logistic(panels, data, about, STYLES[1 - k], STYLES[k])
        sentence = (
            f"b {bias:+.4g}, w {weight:+.4g}: one more of it multiplies the odds by {math.exp(weight):.4g}"
        )
        head(
            panels[0],
            "probability",
            f"of {short_name(label)}",
            f"{about['accuracy']:.1%} accuracy on these rows",
        )
        head(panels[1], "log-odds", f"{short_name(label)} : {short_name(rest)}", sentence)
        name_axis(panels[1].xaxis, name)
    return Picture(figure, f"Logistic regression of {label} on {name}", notes, about)


def _draw_logistic(
    panels: Sequence[Axes], data: LabelledPoints, about: Mapping[str, Any], other: Any, own: Any
) -> None:
    x = data.rows[:, 0]
    low, high = np.percentile(x, [0.5, 99.5])
    room = 0.06 * (high - low)
    line = np.linspace(low - room, high + room, SMOOTH)
    odds = about["bias"] + about["weight"] * line
    is_own = data.codes == data.classes.index(about["class"])
    upper, lower = panels
    for look, rows, at in ((own, x[is_own], 1.04), (other, x[~is_own], -0.04)):
        upper.plot(
            rows, np.full(len(rows), at), "|", color=look.colour, alpha=0.5, markersize=7, clip_on=True
        )
    places, shares = _shares(x, is_own)
    upper.plot(places, shares, "o", color=FAINT, markersize=4.5)
    upper.plot(line, 1 / (1 + np.exp(-odds)), color=own.line, linewidth=2)
    inside = (shares > 0) & (shares < 1)
    lower.plot(
        places[inside], np.log(shares[inside] / (1 - shares[inside])), "o", color=FAINT, markersize=4.5
    )
    lower.plot(line, odds, color=own.line, linewidth=2)
    lower.axhline(0.0, color=FAINT, linewidth=0.8)
    upper.axhline(0.5, color=FAINT, linewidth=0.8)
    at = about["decides_at"]
    if at is not None and line[0] < at < line[-1]:
        for axes in panels:
            axes.axvline(at, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        lower.annotate(f" {at:.4g}", (at, lower.get_ylim()[0]), fontsize=9, color=INK, va="bottom")
    upper.set(xlim=(line[0], line[-1]), ylim=(-0.09, 1.09), yticks=[0, 0.5, 1])


def _shares(x: Floats, is_own: Any) -> tuple[Floats, Floats]:
    """The mean of rows of similar numbers, group by group, and the share of the class among them."""
    parts = np.array_split(np.argsort(x, kind="stable"), min(BINS, max(1, len(x) // 5)))
    return np.array([x[part].mean() for part in parts]), np.array([is_own[part].mean() for part in parts])


@dataclass(frozen=True)
class BinomialTrials:
    r"""A number of successes in a number of trials, and the likelihood of their share.

    .. math::
        L(\theta) = \theta^x (1 - \theta)^{n - x}, \qquad \hat\theta = \frac{x}{n}        \tag{2}

    This is the likelihood of a Bernoulli distribution, and that of one word of a multinomial, but for factors
    without θ.

    >>> BinomialTrials(3.0, 4.0).maximum, BinomialTrials(3.0, 4.0).log_likelihood(np.array([0.5])).round(4)
    (0.75, array([-2.7726]))
    """

    successes: float
    trials: float

    @property
    def maximum(self) -> float:
        """The share of largest likelihood."""
        return self.successes / self.trials

    def smoothed(self, of: float) -> float:
        """The estimate with one pseudo-count for each of the outcomes, of which there are ``of``."""
        return (self.successes + 1.0) / (self.trials + of)

    def log_likelihood(self, share: Floats) -> Floats:
        """``log L``; zero times log zero is zero."""
        with np.errstate(divide="ignore"):
            won = self.successes * np.log(share) if self.successes else 0.0
            lost = (self.trials - self.successes) * np.log1p(-share) if self.trials > self.successes else 0.0
        return np.asarray(won + lost) + np.zeros(np.shape(share))

    def interval(self) -> tuple[float, float]:
        """The shares between which the likelihood is more than `LEAST` of its maximum."""
        spread = math.sqrt(max(self.maximum * (1 - self.maximum), 1 / self.trials) / self.trials)
        low, high = max(0.0, self.maximum - 6 * spread), min(1.0, self.maximum + 6 * spread)
        return low, high


def likelihoods(
    by_class: Mapping[str, Mapping[str, BinomialTrials]], name: str, outcomes: Mapping[str, float]
) -> Picture:
    r"""A picture of likelihoods of shares over the share, one panel for each model, one curve for each class.

    Parameters
    ----------
    by_class : dict of dicts
        `BinomialTrials` by model and class: ``{"Bernoulli": {"spam": BinomialTrials(30, 100), …}, …}``.
    name : str
        What the share is of, such as a word.
    outcomes : dict
        How many outcomes there are in each model, for the estimate with pseudo-counts.
    """
    if not by_class or not any(by_class.values()):
        raise NoData("there is no class whose likelihood could be drawn")
    about: dict[str, Any] = {"of": name, "models": {}}
    notes: list[str] = []
    with drawing():
        figure, panels = sheet(9.0, 3.4, (1, len(by_class)), [SHARE_KEY])
        for axes, (model, classes) in zip(panels, by_class.items(), strict=True):
            drawn = dict(list(classes.items())[:MOST])
            if len(drawn) < len(classes) and not notes:
                notes.append(f"the first {MOST} of {len(classes):,} classes")
            about["models"][model] = {
                label: {
                    "successes": each.successes,
                    "trials": each.trials,
                    "maximum": each.maximum,
                    "log_likelihood": float(each.log_likelihood(np.array(each.maximum))),
                    "smoothed": each.smoothed(outcomes[model]),
                }
                for label, each in drawn.items()
            }
            _draw_shares(axes, drawn, outcomes[model])
            found = ", ".join(
                f"{short_name(k, 12)} {each.maximum:.3g}" for k, each in list(drawn.items())[:3]
            )
            head(axes, model, "", f"θ̂: {found}" + (", …" if len(drawn) > 3 else ""))
            name_axis(axes.xaxis, f"θ of {name}")
        panels[0].set_ylabel("likelihood / its maximum")
        _legend(figure, list(next(iter(by_class.values())))[:MOST])
    return Picture(figure, f"Likelihoods of {name}", tuple(notes), about)


def _draw_shares(axes: Axes, classes: Mapping[str, BinomialTrials], outcomes: float) -> None:
    ends = np.array([each.interval() for each in classes.values()])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    share = np.union1d(
        np.linspace(max(low, ENDS), min(high, 1 - ENDS), SMOOTH), [e.maximum for e in classes.values()]
    )
    for look, each in zip(STYLES, classes.values(), strict=False):
        best = float(each.log_likelihood(np.array(each.maximum)))
        height = np.exp(each.log_likelihood(share) - best)
        axes.plot(share, np.where(height < LEAST, np.nan, height), color=look.line, linewidth=2)
        axes.vlines(each.maximum, 0, 1, color=look.line, linewidth=1)
        axes.vlines(each.smoothed(outcomes), 0, 1, color=look.line, linewidth=1.2, linestyle=(0, (1.5, 2)))
    axes.set(xlim=(low, high), ylim=(0, 1.06))


def gaussian_likelihood(rows: ArrayLike, labels: Sequence[object], name: str) -> Picture:
    r"""A picture of the likelihood of the numbers of a column, over the mean and over the deviation.

    .. math::
        \log L(\mu, \sigma) = -\frac{n}{2}\left(\log 2\pi\sigma^2
            + \frac{s^2 + (\bar x - \mu)^2}{\sigma^2}\right),
        \qquad \hat\mu = \bar x, \quad \hat\sigma = s                                 \tag{3}

    where s² is the mean squared distance from the mean. Each panel holds the other parameter at its maximum.

    Examples
    --------
    >>> picture = gaussian_likelihood([1.0, 3.0, 4.0, 8.0], list("aabb"), "size")
    >>> picture.about["classes"]["b"]
    {'rows': 2, 'mean': 6.0, 'deviation': 2.0, 'log_likelihood': -4.224171427529236}
    """
    data = LabelledPoints.of(rows, labels, [name])
    fits = {}
    for k, label in enumerate(data.classes):
        own = data.of_class(k)[:, 0]
        mean, deviation = float(own.mean()), float(own.std())
        best = -0.5 * len(own) * (math.log(2 * math.pi * deviation**2) + 1.0)
        fits[label] = {"rows": len(own), "mean": mean, "deviation": deviation, "log_likelihood": best}
    with drawing():
        figure, panels = sheet(9.0, 3.4, (1, 2), [MAXIMUM_KEY, *data.notes])
        for axes, parameter, symbol in zip(panels, ("mean", "deviation"), "μσ", strict=True):
            _draw_gaussian(axes, fits, parameter)
            found = ", ".join(
                f"{short_name(k, 12)} {each[parameter]:.4g}" for k, each in list(fits.items())[:3]
            )
            head(axes, f"{parameter} {symbol}", "", f"{symbol}̂: {found}")
            name_axis(axes.xaxis, f"{symbol} of {name}")
        panels[0].set_ylabel("likelihood / its maximum")
        _legend(figure, list(data.classes))
    about = {"of": name, "rows": len(data.rows), "classes": fits}
    return Picture(figure, f"Likelihoods of the mean and the deviation of {name}", data.notes, about)


def _draw_gaussian(axes: Axes, fits: Mapping[str, Mapping[str, float]], parameter: str) -> None:
    ends = []
    for each in fits.values():
        width = 5 * each["deviation"] / math.sqrt(each["rows"])
        low = each[parameter] - width
        ends.append(
            (low if parameter == "mean" else max(low, 0.2 * each["deviation"]), each[parameter] + width)
        )
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    at = np.union1d(np.linspace(low, high, SMOOTH), [each[parameter] for each in fits.values()])
    for look, each in zip(STYLES, fits.values(), strict=False):
        n, mean, s = each["rows"], each["mean"], each["deviation"]
        sigma = at if parameter == "deviation" else np.full(len(at), s)
        mu = at if parameter == "mean" else np.full(len(at), mean)
        log_l = -0.5 * n * (np.log(2 * math.pi * sigma**2) + (s**2 + (mean - mu) ** 2) / sigma**2)  # (3)
        height = np.exp(log_l - each["log_likelihood"])
        axes.plot(at, np.where(height < LEAST, np.nan, height), color=look.line, linewidth=2)
        axes.vlines(each[parameter], 0, 1, color=look.line, linewidth=1)
    axes.set(xlim=(low, high), ylim=(0, 1.06))


def _legend(figure: Any, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    keys = [Line2D([], [], color=look.line, linewidth=2) for look in STYLES[: len(names)]]
    figure.legend(keys, [short_name(each) for each in names], loc="outside upper left", ncols=4, fontsize=10)


def descents(
    rows: Matrix | ArrayLike, labels: Sequence[object], methods: Sequence[Descent], C: float = 1.0
) -> Picture:
    """A picture of the loss of softmax regression after every epoch of gradient descents, to the optimum.

    The loss is F / n: the mean negative log-likelihood with its share of the penalty; see `Descent`. On the
    right is how far above the optimum it still is, on a logarithmic axis; the optimum is that of the solver,
    whose gap is proven.

    Parameters
    ----------
    rows : array or SciPy sparse (N, V)
    labels : sequence of N
    methods : sequence of Descent
    C : float, default 1.0
        Of the penalty; see `SoftmaxLearner`.
    """
    if not methods:
        raise InputError("no descent is named", hint="give one or more, such as Descent(rate=1.0, epochs=50)")
    best = SoftmaxLearner(C=C, tolerance=1e-9, max_epochs=2000)
    optimum = _quietly(best, rows, labels)
    total = float(optimum.objective.sample_weights.sum())
    least = optimum.outcome.value / total
    curves: list[dict[str, Any]] = []
    for how in methods:
        outcome = _quietly(SoftmaxLearner(C=C, descent=how), rows, labels).outcome
        steps = [step for step, _ in outcome.curve]
        losses = [value / total for _, value in outcome.curve]
        setting = f"rate {how.rate:g}" + (f", batches of {how.batch}" if how.batch not in (None, 1) else "")
        setting += f", momentum {how.momentum:g}" if how.momentum else ""
        diverged = len(losses) <= how.epochs
        curves.append(
            {"name": how.name, "setting": setting, "steps": steps, "losses": losses, "diverged": diverged}
        )
    notes = tuple(f"{each['name']} overflowed: its rate is too large" for each in curves if each["diverged"])
    with drawing():
        key = f"one epoch sees every row once; dashed: the optimum, {least:.4g}, found by the solver"
        figure, panels = sheet(10.0, 3.7, (1, 2), [key, *notes])
        _draw_descents(panels, curves, least)
    about = {"rows": len(labels), "classes": sorted({str(each) for each in labels}), "C": C}
    return Picture(
        figure, "Losses of gradient descents", notes, {**about, "optimum": least, "curves": curves}
    )


def _draw_descents(panels: Sequence[Axes], curves: Sequence[Mapping[str, Any]], least: float) -> None:
    left, right = panels
    for look, dash, each in zip(STYLES, DASHES, curves, strict=False):
        losses = np.array(each["losses"])
        epochs = np.arange(len(losses))
        label = f"{each['name']} ({each['setting']})"
        left.plot(epochs, losses, color=look.line, linestyle=dash, linewidth=1.8, label=label)
        above = np.maximum(losses - least, 1e-16)
        right.plot(epochs, above, color=look.line, linestyle=dash, linewidth=1.8)
    left.axhline(least, color=INK, linewidth=1, linestyle=(0, (3, 2)))
    first = max(each["losses"][0] for each in curves)
    left.set_ylim(least - 0.06 * (first - least), first + 0.25 * (first - least))
    right.set_yscale("log")
    right.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    head(left, "loss", "F / n", "after every epoch")
    head(right, "above the optimum", "F / n − F* / n", "a straight line is a constant factor an epoch")
    for axes in panels:
        axes.set_xlabel("epochs")
        axes.set_xlim(0, max(1, *(len(each["losses"]) - 1 for each in curves)))
    left.figure.legend(loc="outside upper left", ncols=2, fontsize=9)


def _quietly(learner: SoftmaxLearner, rows: Matrix | ArrayLike, labels: Sequence[object]) -> SoftmaxFit:
    """A fit whose curve is the point: that it ends before the optimum is what it shows."""
    import warnings

    from textodds.errors import NotConverged

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return learner.fit(rows, labels)
