"""What travels between tasks and the driver, without Spark."""

import gc

import pytest

from textodds.errors import BadRow
from textodds.spark.wire import freeze_once, raised, telling


def failing(batches):
    """A task with a bad row."""
    raise BadRow("mail.csv", 3, "text is null")
    yield


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Traceback (most recent call last):\n{}\n",
        "{}\n\nJVM stacktrace:\n\tat org.apache.spark.api.python",
    ],
    ids=["alone", "below a traceback", "above a traceback of the JVM"],
)
def test_an_error_of_ours_is_known_whatever_stands_around_it(around):
    expected = BadRow("mail.csv", 3, "text is null")
    with pytest.raises(RuntimeError) as caught:
        list(telling(failing)(iter([])))
    found = raised(RuntimeError(around.format(caught.value)))
    assert type(found) is BadRow
    assert (str(found), vars(found)) == (str(expected), vars(expected))


def test_an_error_of_others_is_none_of_ours():
    assert raised(RuntimeError("an executor was lost")) is None
    assert raised(RuntimeError("textodds-error:{cut off")) is None


def test_what_a_worker_has_imported_is_left_out_of_later_collections_once_for_each_kind_of_task():
    def double(numbers):
        for number in numbers:
            yield 2 * number

    freeze_once.cache_clear()
    gc.unfreeze()
    try:
        assert list(telling(double)(iter([1, 2]))) == [2, 4]
        frozen = gc.get_freeze_count()
        assert frozen > 1000
        kept = [[] for _ in range(100)]
        assert list(telling(double)(iter([3]))) == [6]
        assert gc.get_freeze_count() <= frozen
        del kept
    finally:
        gc.unfreeze()
        freeze_once.cache_clear()
