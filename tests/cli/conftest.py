import pytest

from textodds.cli import main

from .transcripts import MAIL


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Models go to the current folder by default: here a different one for each test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTODDS_THREADS", raising=False)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # or an answer would come without a flush, too
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def mail(tmp_path):
    """Six labelled messages in `mail.csv`."""
    (tmp_path / "mail.csv").write_text(MAIL)


@pytest.fixture
def model(mail, capsys):
    """The model of `mail.csv` in `mail.textodds`."""
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
