"""One state of a model at a time: writers come one by one, and whoever reads sees one model whole.

The attributes of a model are its state. A change is made to a copy, which then takes the place of the state
in a single assignment. A reader takes the state once (`OneState.now`) and keeps it, whatever is learned
meanwhile.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class WriterLock:
    """A lock that one thread may take several times; one that is copied or pickled is a new one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[WriterLock], tuple[()]]:
        return WriterLock, ()


class OneState:
    """What threads may share: its state is replaced as a whole, never changed piece by piece."""

    _writing: WriterLock

    def __new__(cls, *_: object, **__: object) -> Self:  # noqa: D102
        self = super().__new__(cls)
        self._writing = WriterLock()
        return self

    def __copy__(self) -> Self:
        """A model of its own that shares what neither changes."""
        model = object.__new__(type(self))
        model.__dict__ = dict(self.__dict__)
        return model

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """As `__copy__`: arrays are replaced, never changed; what can be changed is copied."""
        model = copy.copy(self)
        model._writing = WriterLock()
        if "info" in model.__dict__:
            model.__dict__["info"] = copy.deepcopy(model.__dict__["info"], memo)
        return model

    def now(self) -> Self:
        """The model as it is now: it stays so while this one learns.

        It shares the state, so that what is found of it on the way (counts that are read, parts that follow
        from documents, scorers) is found once.
        """
        model = object.__new__(type(self))
        model.__dict__ = self.__dict__
        return model

    @contextmanager
    def replaced(self) -> Iterator[Self]:
        """A copy to be changed, which this becomes at the end; on an error nothing is changed."""
        with self._writing:
            model = copy.copy(self)
            yield model
            self.__dict__ = model.__dict__


def of_one_state(method: F) -> F:
    """A method that reads: all of it sees the model as it was when it was called."""

    @wraps(method)
    def reading(self: OneState, *args: object, **kwargs: object) -> object:
        return method(self.now(), *args, **kwargs)

    return cast("F", reading)
