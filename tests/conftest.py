"""What all tests share: the real data sets, and how hard hypothesis tries."""

import csv
import gzip
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("same")  # of tests/interop/vectorisers: its assertions say what differs

settings.register_profile(
    "textodds", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "deep", settings.get_profile("textodds"), max_examples=2000
)  # --hypothesis-profile=deep
settings.load_profile("textodds")

csv.field_size_limit(sys.maxsize)  # a newsgroup post may be longer than its default

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the real data sets. Where it is absent tests are skipped, but under CI=true they fail."""
    given = os.environ.get("TEXTODDS_DATA")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent(f"the data sets are not at {folder}; TEXTODDS_DATA says where they are")
    return folder


@pytest.fixture(scope="session")
def real_data(data_folder):
    """A function from the name of a data set to (texts, labels) of its train and its test part."""

    def part(name, which):
        with gzip.open(data_folder / name / f"{which}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [row["text"] for row in rows], [row["label"] for row in rows]

    return lambda name: (part(name, "train"), part(name, "test"))
