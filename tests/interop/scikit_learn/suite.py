"""scikit-learn's own tests, run against our classes: ``python tests/interop/scikit_learn/suite.py``.

Each file of tests that ships with scikit-learn runs in a fresh process, in which our classes stand in the
place of theirs (`substitution`). ``--json FILE`` writes down what became of every test.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import sklearn

HERE = Path(__file__).resolve().parent

FILES = {
    "naive_bayes": "tests/test_naive_bayes.py",
    "discriminant": "tests/test_discriminant_analysis.py",
    "text": "feature_extraction/tests/test_text.py",
    "logistic": "linear_model/tests/test_logistic.py",
}
"""Where the tests of each suite are in scikit-learn's package."""


@dataclass(frozen=True)
class Test:
    """What became of a test."""

    name: str
    outcome: str  # passed, failed, skipped
    seconds: float
    ours: tuple[str, ...] = ()  # the classes of ours it made an instance of
    message: str = ""


@dataclass(frozen=True)
class Report:
    """What became of a suite."""

    suite: str
    seconds: float
    ours: tuple[str, ...]  # the classes of ours that stand in the place of theirs
    held: dict[str, str]  # what the names of theirs mean, in their modules and in those of the tests
    tests: tuple[Test, ...]

    def of(self, outcome: str) -> list[Test]:
        """The tests that ended so."""
        return [test for test in self.tests if test.outcome == outcome]

    @property
    def share_passed(self) -> float:
        """Of the tests that ran and used a class of ours, or failed, how many passed."""
        passed = sum(bool(test.ours) for test in self.of("passed"))
        return passed / max(passed + len(self.of("failed")), 1)


@dataclass(frozen=True)
class Known:
    """Failures that are listed with their reason."""

    reason: str
    tests: tuple[str, ...]  # names, in which * stands for anything

    def covers(self, name: str) -> bool:
        """Whether the test is one of these."""
        return any(matches(pattern, name) for pattern in self.tests)


@dataclass(frozen=True)
class KnownFailures:
    """What `known_failures.toml` says."""

    version: str  # of scikit-learn, major.minor
    by_suite: dict[str, list[Known]]

    @classmethod
    def read(cls, path: Path = HERE / "known_failures.toml") -> KnownFailures:
        """The list of a file."""
        with path.open("rb") as file:
            content = tomllib.load(file)
        suites = {
            suite: [Known(entry["reason"], tuple(entry["tests"])) for entry in content.get(suite, [])]
            for suite in FILES
        }
        return cls(content["scikit_learn"], suites)

    @cached_property
    def is_for_this_version(self) -> bool:
        """Whether the list is of the tests of the scikit-learn that is installed."""
        return sklearn.__version__.split(".")[:2] == self.version.split(".")

    def reason(self, suite: str, name: str) -> str | None:
        """Why a test fails, if that is known."""
        return next((known.reason for known in self.by_suite[suite] if known.covers(name)), None)

    def unlisted(self, report: Report) -> list[str]:
        """Tests that failed and are not listed."""
        return [test.name for test in report.of("failed") if self.reason(report.suite, test.name) is None]

    def needless(self, report: Report) -> list[str]:
        """What is listed and did not fail, or names no test at all."""
        found = []
        for known in self.by_suite[report.suite]:
            for pattern in known.tests:
                meant = [test for test in report.tests if matches(pattern, test.name)]
                found += [test.name for test in meant if test.outcome == "passed"]
                if not meant:
                    found.append(pattern)
        return found


def matches(pattern: str, name: str) -> bool:
    """Whether a test is meant by a name in which * stands for anything.

    Examples
    --------
    >>> matches("test_qda", "test_qda[svd]"), matches("test_q*[svd]", "test_qda[svd]")
    (False, True)
    """
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None


def run(suite: str) -> Report:
    """Run a suite in a process of its own."""
    # Found and not imported: the process must be the first to import it.
    package = importlib.util.find_spec("sklearn")
    assert package is not None
    assert package.submodule_search_locations is not None
    path = Path(package.submodule_search_locations[0]) / FILES[suite]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
        "SKLEARN_SKIP_NETWORK_TESTS": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "SCIPY_ARRAY_API": "1",  # or the tests of other arrays are skipped, NumPy's among them
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Whoever runs this may have set these to other things for their own tests.
    for name in ("PYTEST_ADDOPTS", "SKLEARN_TESTS_GLOBAL_RANDOM_SEED", "SKLEARN_WARNINGS_AS_ERRORS"):
        environment.pop(name, None)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")  # so that our own settings do not count
        command = [sys.executable, "-m", "pytest", "-q", "-p", "substitution", "-p", "no:cacheprovider"]
        command += ["-c", str(Path(folder) / "pytest.ini"), "--rootdir", folder]
        command += ["--of-suite", suite, "--record", str(record), str(path)]
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1) or not record.exists():
            raise RuntimeError(f"the suite {suite} did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        content = json.loads(record.read_text(encoding="utf-8"))
    tests = tuple(
        Test(name, **{**test, "ours": tuple(test.get("ours", ()))}) for name, test in content["tests"].items()
    )
    return Report(suite, time.perf_counter() - start, tuple(content["ours"]), content["held"], tests)


def as_table(reports: list[Report], known: KnownFailures) -> str:
    """The failures with their reasons, then what became of each suite."""
    lines = []
    for report in reports:
        for test in report.of("failed"):
            reason = known.reason(report.suite, test.name)
            lines += [f"{report.suite}  {test.name}", f"    {test.message}"]
            lines.append(f"    known: {reason}" if reason else "    NOT LISTED")
        lines += [f"{report.suite}  {name}\n    LISTED, BUT PASSES" for name in known.needless(report)]
    lines.append("")
    heads = ("passed", "of ours", "failed", "listed", "skipped", "share", "seconds")
    lines.append("suite         " + "".join(f"{head:>9}" for head in heads))
    for report in reports:
        passed, failed = report.of("passed"), report.of("failed")
        listed = len(failed) - len(known.unlisted(report))
        lines.append(
            f"{report.suite:14}{len(passed):9}{sum(bool(test.ours) for test in passed):9}{len(failed):9}"
            f"{listed:9}{len(report.of('skipped')):9}{report.share_passed:9.1%}{report.seconds:9.1f}"
        )
    lines.append(
        "\n`of ours`: passed, and made an instance of a class of ours. `share`: of those and the failed."
    )
    return "\n".join(lines)


def main() -> int:
    """Return 0 if what fails is what is listed."""
    parser = argparse.ArgumentParser(
        description="Run scikit-learn's own tests against the classes of textodds."
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(FILES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write down what became of every test")
    given = parser.parse_args()
    for name in given.suites:
        if name not in FILES:
            parser.error(f"unknown suite `{name}`; they are {', '.join(FILES)}")
    known = KnownFailures.read()
    reports = [run(name) for name in given.suites or FILES]
    print(as_table(reports, known))
    if given.json:
        content = {"scikit_learn": sklearn.__version__, "suites": [asdict(report) for report in reports]}
        given.json.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return int(any(known.unlisted(report) or known.needless(report) for report in reports))


if __name__ == "__main__":
    sys.exit(main())
