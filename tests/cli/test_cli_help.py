import subprocess
import sys

import click
import pytest

import textodds
from pairs import together
from textodds.cli import main
from textodds.cli.commands import COMMANDS, commands
from textodds.learn.recipe import OF_TEXTS
from textodds.learn.registry import LEARNERS, names_of, settings_of


def of_name(name):
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_every_option_and_argument_with_words(name, capsys):
    assert main([name, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    command = of_name(name)
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Argument):
            assert parameter.human_readable_name in out
            assert parameter.about
        else:
            assert parameter.help, parameter.name
            for spelling in parameter.opts:
                assert f" {spelling}" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_what_the_list_of_commands_says_and_shows_examples(name, capsys):
    assert main([name, "-h"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: textodds {name} ")
    assert f"\n\n  {COMMANDS[name]}\n\n" in out
    assert "\nExamples:\n" in out
    assert f"  textodds {name}" in out
    assert all(len(line) <= 80 for line in out.splitlines() if "textodds train t" not in line)


@together
@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_the_help_use_options_that_there_are(name):
    command = of_name(name)
    parameters = command.get_params(click.Context(command))
    known = {spelling for p in parameters for spelling in (*p.opts, *p.secondary_opts)}
    for example in command.examples:
        assert {word for word in example.split() if word.startswith("--")} <= known


def test_defaults_are_shown(capsys):
    assert main(["train", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for default in ("auto, or mixed for tables", "2GiB", "stop"):
        assert f"[default: {default}]" in out
    settings = ("multinomial naive Bayes: alpha=auto prior=data binary=no", "normal_form=NFC", "unit=words")
    for setting in (*settings, "unknown=ignore", "frequency=log", "max_df=1.0", "lower=yes", "ngrams=1-1"):
        assert setting in out


def test_the_help_of_train_names_every_learner_and_every_setting(capsys):
    assert main(["train", "--help"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) <= 100  # a screen and a half
    for name in names_of():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [name]]
        assert LEARNERS[name].title.split()[0] in line
        for setting in settings_of(LEARNERS[name].load()):
            assert f"{setting}=" in out or setting in ("descent", "calibrate")
    for setting in OF_TEXTS:
        assert f"{setting}=" in out


def test_the_group_lists_its_commands(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, about in COMMANDS.items():
        assert any(line.split(maxsplit=1) == [name, about] for line in out.splitlines() if line.strip())


def test_no_command_is_help_on_stderr_and_not_success(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: textodds ")


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr() == (f"textodds {textodds.__version__}\n", "")


def test_listing_commands_imports_none_of_them():
    code = "import sys; from textodds.cli import main; main(['--help']); print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'textodds.cli.commands'" in loaded
    assert "'textodds.cli.train'" not in loaded
    assert "'numpy'" not in loaded


def test_completion_knows_commands_and_options(monkeypatch, capsys):
    monkeypatch.setenv("_TEXTODDS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "textodds pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert main([]) == 0
    assert capsys.readouterr().out == "plain,predict\n"
