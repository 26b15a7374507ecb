import errno
from pathlib import Path
from textwrap import dedent

import pytest

from pairs import together
from textodds.cli import evaluate, main
from textodds.cli.commands import COMMANDS
from textodds.errors import TextoddsWarning

from .transcripts import MAIL


def test_evaluate_reports_a_missing_model(capsys):
    assert main(["evaluate", "missing.textodds", "test.csv"]) == 2
    assert capsys.readouterr() == (
        "",
        dedent("""\
            error: no model file at `missing.textodds`

            hint: make one: textodds train DATA -o missing.textodds
        """),
    )


@together
@pytest.mark.parametrize(
    ("args", "err"),
    [
        (
            ["trian", "mail.csv"],
            "error: there is no command `trian`; did you mean `train`?\n\n"
            f"hint: the commands are {', '.join(COMMANDS)}\n",
        ),
        (
            ["train", "--lable", "x"],
            "error: there is no option `--lable`; did you mean `--label`?\n\n"
            "hint: see `textodds train --help`\n",
        ),
        (["train", "-x"], "error: there is no option `-x`\n\nhint: see `textodds train --help`\n"),
        (["--jsno"], "error: there is no option `--jsno`\n\nhint: see `textodds --help`\n"),
        (
            ["export", "m", "--page", "x.html"],
            "error: there is no option `--page`\n\n"
            "hint: the ending of the file sets the format: `-o FILE.html`\n",
        ),
        (
            ["export", "m", "--postgresql"],
            "error: there is no option `--postgresql`\n\n"
            "hint: the ending of the file sets the format: `--sql postgres -o FILE.sql`\n",
        ),
        (["predict"], "error: MODEL is missing\n\nhint: see `textodds predict --help`\n"),
        (
            ["inspect", "a", "b"],
            "error: got unexpected extra argument (b)\n\nhint: see `textodds inspect --help`\n",
        ),
        (
            ["train", "--learner", "multinomal", "x"],
            "error: unknown learner `multinomal`; did you mean `multinomial`?\n\n"
            "hint: one of multinomial, bernoulli, complement, semisupervised, softmax, nb-softmax, mixed, "
            "gaussian, categorical, table, lda, qda\n",
        ),
        (
            ["train", "--format", "exel", "x"],
            "error: `--format` cannot be `exel`; did you mean `excel`?\n\n"
            "hint: write one of csv, tsv, jsonl, parquet, fasttext, lines, folder, database, mail, excel\n",
        ),
        (["train"], "error: there is no data\n\nhint: name a file, a pattern, a folder, or `-` for stdin\n"),
        (
            ["train", ""],
            "error: a file name is empty\n\nhint: check that the shell variable in the command is set\n",
        ),
    ],
)
def test_misuse_is_said_in_the_same_shape_and_exits_2(capsys, args, err):
    assert main(args) == 2
    assert capsys.readouterr() == ("", err)


def test_an_option_without_its_value_is_said(capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "-o"]) == 2
    assert "'-o' requires an argument" in capsys.readouterr().err


def test_the_thread_variable_is_honoured_and_checked(mail, capsys, monkeypatch):
    monkeypatch.setenv("TEXTODDS_THREADS", "many")
    assert main(["train", "mail.csv", "--learner", "multinomial"]) == 2
    assert "error: TEXTODDS_THREADS must be a whole number from 1 to 1,024" in capsys.readouterr().err
    assert main(["train", "mail.csv", "--learner", "multinomial", "--threads", "1", "--quiet"]) == 0


def raising(error):
    def load(*args, **kwargs):
        raise error

    return load


@pytest.mark.parametrize(
    ("error", "problem", "hint"),
    [
        (MemoryError(), "there is not enough memory", "--memory 500MB"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left on device", "free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "`x`: permission denied", "ls -l"),
        (OSError("odd"), "odd", None),
    ],
)
def test_trouble_with_the_machine_exits_2_with_clear_words(capsys, monkeypatch, error, problem, hint):
    monkeypatch.setattr(evaluate, "load", raising(error))
    assert main(["evaluate", "m", "d"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {problem}\n")
    assert (hint is None and "hint" not in err) or hint in err


def test_a_fault_of_ours_shows_its_traceback_and_exits_3(capsys, monkeypatch):
    monkeypatch.setattr(evaluate, "load", raising(ZeroDivisionError("oops")))
    assert main(["evaluate", "m", "d"]) == 3
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert "ZeroDivisionError: oops" in err
    assert err.endswith("hint: please report it, with the command and the traceback above\n")


def test_stopping_exits_130(capsys, monkeypatch):
    monkeypatch.setattr(evaluate, "load", raising(KeyboardInterrupt()))
    assert main(["evaluate", "m", "d"]) == 130
    assert capsys.readouterr() == ("", "stopped\n")


def test_warnings_of_ours_are_talk_and_those_of_others_stay_as_they_are(mail, capsys, monkeypatch):
    import warnings

    def warning(*args, **kwargs):
        warnings.warn("doubtful", TextoddsWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(evaluate, "load", warning)
    assert main(["evaluate", "m", "d"]) == 3  # the filter of the tests makes an error of the second
    err = capsys.readouterr().err
    assert err.startswith("warning: doubtful\n")
    assert "DeprecationWarning: old" in err


def test_a_model_is_checked_before_data_is_read(capsys):
    Path("mail.csv").write_text(MAIL)
    Path("bad.textodds").write_bytes(b"nonsense")
    for command in ("predict", "evaluate", "learn", "forget"):
        assert main([command, "bad.textodds", "mail.csv"]) == 2
        assert "`bad.textodds` is not a valid textodds model file" in capsys.readouterr().err
    assert main(["inspect", "bad.textodds"]) == 2


def test_a_value_that_an_error_quotes_cannot_command_the_terminal(capsys):
    assert main(["train", "\x1bc.csv"]) == 2
    assert capsys.readouterr().err.startswith("error: no file at `\\x1bc.csv`\n\nhint: ")
