"""Pictures of Gaussian classifiers, for a page or a slide; drawn with matplotlib, which is imported late."""

from textodds.study.report.boundary_picture import boundaries
from textodds.study.report.density_picture import densities
from textodds.study.report.picture import Picture

__all__ = ["Picture", "boundaries", "densities"]
