"""What travels between tasks and the driver, without Spark."""

import pytest

from textodds.errors import BadRow
from textodds.spark.wire import raised, telling


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
