import pytest


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Rejected rows go to the current folder by default: here a different one for each test."""
    monkeypatch.chdir(tmp_path)
