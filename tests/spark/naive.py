"""Naive Bayes of single words, on one machine and on Spark, which keeps no documents."""

import textodds
from textodds import spark as on_spark


def trained_here(*rows, **options):
    """A model of one machine; naive Bayes without documents, unless something else is said."""
    return textodds.train(*rows, **{"learner": "multinomial", "documents": False, **options})


def trained_there(*rows, **options):
    """A model of Spark; naive Bayes, unless another learner is named."""
    return on_spark.train(*rows, **{"learner": "multinomial", **options})
