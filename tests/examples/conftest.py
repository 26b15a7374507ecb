"""The scripts of reproductions look for the data sets as the tests do."""

import pytest


@pytest.fixture
def data_sets(data_folder, monkeypatch):
    """The real data sets, where the scripts look for them."""
    monkeypatch.setenv("TEXTODDS_DATA", str(data_folder))
    return data_folder
