"""Pages and pictures: how good a model is, models side by side, and Gaussian classifiers drawn.

Three things are made here. The page of an evaluation: `evaluation_page` puts together `evaluation_data` (one
pass over the data, with `ranking_curves`), `evaluation_scores`, `evaluation_classes`, `evaluation_mistakes`
and `card`, with pictures of `figures`. The page of a comparison: `comparison_page`, `comparison_pictures`.
Pictures by themselves: `boundary_picture` and `density_picture`, of `classifiers` of `points`, with a
`legend`. Pages are `html`, into which `inline` puts figures; `highlight` marks words; `palette` and `picture`
are how all of it looks. Matplotlib is imported late.

From outside: the names below, `evaluation_page`, `comparison_page`, `evaluation_data` and `card`.
"""

from textodds.study.report.boundary_picture import boundaries
from textodds.study.report.density_picture import densities
from textodds.study.report.picture import Picture

__all__ = ["Picture", "boundaries", "densities"]
