"""The assertions of `same` say what differs."""

import pytest

pytest.register_assert_rewrite("same")
