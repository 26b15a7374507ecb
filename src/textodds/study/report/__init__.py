"""Pages and pictures: how good a model is, models side by side, and Gaussian classifiers drawn.

Three things are made here. The page of an evaluation: `evaluation_page` puts together `evaluation_data` (one
pass over the data, with `ranking_curves`), `evaluation_classes`, `evaluation_mistakes` and `card`, with
pictures of `figures`; of several labels a text, `label_page` puts together `label_data` and the same parts.
The page of a comparison: `comparison_page`, `comparison_pictures`. Pictures by themselves:
`gaussian_pictures` of `gaussian_fits`, `curve_pictures` of `logistic_fit`.

A `page` is a template of `templates/` filled with data,
into which `inline` puts figures; `picture` is how all of it looks. Matplotlib and Jinja are imported late.

From outside: the names below, `evaluation_page`, `label_page`, `comparison_page`, `evaluation_data`,
`label_data` and `card`.
"""

from textodds.study.report.curve_pictures import (
    BinomialTrials,
    descents,
    gaussian_likelihood,
    likelihoods,
    logistic,
)
from textodds.study.report.gaussian_pictures import boundaries, densities
from textodds.study.report.picture import Picture

__all__ = [
    "BinomialTrials",
    "Picture",
    "boundaries",
    "densities",
    "descents",
    "gaussian_likelihood",
    "likelihoods",
    "logistic",
]
