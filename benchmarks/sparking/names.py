"""The names of those who are compared on Spark."""

EMPTY = "an empty pass"
OURS = "textodds"
NOT_CALIBRATED = "textodds, not calibrated"
MLLIB = "MLlib"

BAYES = "multinomial:alpha=1"  # the smoothing of MLlib; one that was chosen on copies of texts means nothing
SOFTMAX = "textodds, to a gap of 1e-2"
EXACT = "textodds, to a gap of 1e-4"
NOT_SCALED = "MLlib, features not scaled"
TOLERANCES = {SOFTMAX: 1e-2, EXACT: 1e-4}

BEST = "the best penalty of each"
