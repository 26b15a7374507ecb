"""The calculation of what larger clusters would take, against sums done by hand."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "sparking" / "projection.py"


@pytest.fixture(scope="module")
def projection():
    spec = importlib.util.spec_from_file_location("spark_projection", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def measured(projection):
    """Two parts of tallies on one task and one on another, samples on a third."""
    return projection.Measured(
        count_byte=1e-8, count_task=0.5, reduce_tally_byte=2e-8, reduce_sample_byte=1e-8, driver=3.0,
        driver_byte=1e-9, sample_bytes=1e6, tally_bytes=4e6, text_bytes=100e6, exponent=0.5, compressed=0.5,
        spreads={200: ((2, 0), (1, 0), (0, 1)), 5000: ((1, 0), (1, 0), (1, 0), (1, 1))},
    )  # fmt: skip


def test_every_part_is_what_it_is_by_hand(projection, measured):
    # 1 TB in tasks of 400 MB: 2,500 tasks with tallies of 4 MB * sqrt(400 / 100) = 8 MB and samples of 1 MB.
    found = projection.projected(1e12, 100, measured, projection.Assumed(partition=400e6))
    assert found.tasks == 2500
    assert found.counting == pytest.approx(25 * (4 + 0.5))  # 25 waves
    assert found.shuffle_bytes == pytest.approx(0.5 * 2500 * 9e6)
    # Three tasks add up, on three of six machines: the first receives 2/3 of 20 GB, half of that compressed.
    assert found.shuffle == pytest.approx(0.5 * 20e9 * 2 / 3 / 1e9)
    assert found.reduce == pytest.approx(20e9 * 2 / 3 * 2e-8)
    assert found.driver == pytest.approx(3 + 400e6 * (1e-9 + 1e-9))  # 4 MB * sqrt(1 TB / 100 MB)
    assert found.total == pytest.approx(found.counting + found.shuffle + found.reduce + found.driver)
    assert found.storage == pytest.approx(1e12 / 112.5)


def test_more_cores_than_parts_do_not_help_adding_up(projection, measured):
    few, many = (projection.projected(1e12, cores, measured, projection.Assumed()) for cores in (100, 1000))
    assert many.reduce == few.reduce
    assert many.counting < few.counting / 5


def test_with_many_more_cores_there_are_more_parts(projection, measured):
    # Four tasks, each with a quarter of 20 GB of tallies, the last with 2.5 GB of samples too.
    found = projection.projected(1e12, 2500, measured, projection.Assumed(partition=400e6))
    assert found.reduce == pytest.approx(20e9 / 4 * 2e-8 + 2.5e9 * 1e-8)


def test_one_core_adds_up_everything(projection, measured):
    found = projection.projected(1e12, 1, measured, projection.Assumed(partition=400e6))
    assert found.reduce == pytest.approx(20e9 * 2e-8 + 2.5e9 * 1e-8)
    assert found.shuffle == pytest.approx(found.shuffle_bytes / 1e9)


def test_the_driver_starts_only_so_many_tasks_a_second(projection, measured):
    quick = replace(measured, count_byte=0.0, count_task=0.001)
    found = projection.projected(1e12, 10**6, quick, projection.Assumed(partition=1e6, launches=500))
    assert found.counting == pytest.approx(10**6 / 500)


def test_a_tally_stays_within_its_memory(projection, measured):
    found = projection.projected(1e18, 1000, measured, projection.Assumed(memory=1e9))
    assert found.driver == pytest.approx(3 + 1e9 * 2e-9)
