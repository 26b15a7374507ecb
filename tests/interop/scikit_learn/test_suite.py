"""scikit-learn's own tests with our classes in the place of theirs: what fails is listed, and why."""

import functools
import os

import pytest
import sklearn
import suite

KNOWN = suite.KnownFailures.read()

# Of naive Bayes, three tests in ninety demand what ours does otherwise: see `known_failures.toml`.
LEAST = {"naive_bayes": 0.95, "text": 1.0}

SLOW = {"logistic"}  # half a minute to a minute, most of it theirs (`LogisticRegressionCV`)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not KNOWN.is_for_this_version,
        reason=f"the list of failures is for scikit-learn {KNOWN.version}, this is {sklearn.__version__}",
    ),
]


run = functools.cache(suite.run)


def report_of(name):
    if name in SLOW and not os.environ.get("TEXTODDS_SLOW"):
        pytest.skip(f"the suite {name} takes long: TEXTODDS_SLOW=1 runs it")
    report = run(name)
    if not report.ours:
        pytest.skip(f"there is no class of ours that the suite {name} tests")
    return report


@pytest.mark.parametrize("name", suite.FILES)
def test_what_fails_is_what_is_listed(name):
    report = report_of(name)
    assert KNOWN.unlisted(report) == []
    assert KNOWN.needless(report) == []


@pytest.mark.parametrize("name", suite.FILES)
def test_it_is_ours_that_is_tested(name):
    report = report_of(name)
    for place, meant in report.held.items():
        assert meant.startswith(("textodds.", "logistic.")), f"{place} is {meant}"
    in_tests = {place.rsplit(".", 1)[1] for place in report.held if ".tests." in place}
    in_theirs = {place.rsplit(".", 1)[1] for place in report.held if ".tests." not in place}
    assert in_tests == in_theirs == set(report.ours)
    assert {kind for test in report.of("passed") for kind in test.ours} == set(report.ours)


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_most_of_it_passes(name, least):
    assert report_of(name).share_passed >= least
