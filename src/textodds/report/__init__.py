"""Pictures of Gaussian classifiers, for a page or a slide; drawn with matplotlib, which is imported late."""

from textodds.report.boundary_picture import boundaries
from textodds.report.density_picture import densities
from textodds.report.picture import Picture

__all__ = ["Picture", "boundaries", "densities"]
