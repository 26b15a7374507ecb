"""Nothing that is given to be read is written over, and nothing is replaced that is not a regular file."""

import os
import stat
import subprocess
from pathlib import Path

import click
import pytest

from textodds.cli import main
from textodds.cli.commands import Option, commands

from .transcripts import COMMAND, MAIL

READ = {
    "bad.csv": MAIL + "only one field\n",
    "u.csv": "text\nfree lunch\nsee you\n",
    "words.txt": "free\nprize\nsee\nyou\n",
    "like.csv": "size,colour,label\n1,red,a\n2,blue,b\n3,red,a\n4,blue,b\n",
}
SKIP = ["--bad-rows", "skip"]
WRITTEN_OVER = [
    ["predict", "mail.textodds", "bad.csv", *SKIP, "--rejects", "mail.textodds"],
    ["evaluate", "mail.textodds", "bad.csv", *SKIP, "--rejects", "mail.textodds"],
    ["mix", "mail.textodds", "bad.csv", *SKIP, "--rejects", "mail.textodds"],
    ["learn", "mail.textodds", "bad.csv", *SKIP, "--rejects", "mail.textodds"],
    ["learn", "mail.textodds", "bad.csv", *SKIP, "-o", "x.textodds", "--rejects", "x.textodds"],
    ["diff", "mail.textodds", "mail.textodds", "bad.csv", *SKIP, "--rejects", "mail.textodds"],
    ["explain", "mail.textodds", "--say", "free", "--html", "mail.textodds"],
    ["train", "mail.csv", "--unlabelled", "u.csv", "--learner", "multinomial", "-o", "u.csv"],
    ["train", "mail.csv", "--learner", "multinomial", "--test", "u.csv", "-o", "u.csv"],
    ["train", "mail.csv", "--learner", "multinomial:vocabulary=words.txt", "-o", "words.txt"],
    ["train", "mail.csv", "--learner", "multinomial:stop_words=words.txt", "-o", "words.txt"],
    ["train", "bad.csv", *SKIP, "--rejects", "u.csv", "--test", "u.csv"],
    ["train", "bad.csv", *SKIP, "--rejects", "bad.csv"],
    ["train", "like.csv", "--columns", "size=number", "--like", "mail.textodds", "-o", "mail.textodds"],
    ["train", "--query", "SELECT * FROM 'mail.csv'", "-o", "mail.csv"],
    ["train", "./*.csv", "-o", "u.csv"],
    ["audit", "bad.csv", "--learner", "multinomial:stop_words=words.txt", *SKIP, "--rejects", "words.txt"],
    ["compare", "mail.csv", "--html", "mail.csv"],
    ["compare", "mail.csv", "--keep", "mail.csv"],
    ["plot", "boundaries", "like.csv", "-o", "like.csv"],
    ["evaluate", "mail.textodds", "mail.csv", "--report", "mail.csv"],
    ["export", "mail.textodds", "-o", "mail.textodds"],
    ["serve", "mail.textodds", "--journal", "mail.textodds"],
    ["train", "classes", "-o", "classes/ham/1.txt"],
]


@pytest.fixture
def given(model):
    for name, text in READ.items():
        Path(name).write_text(text)
    for label in ("ham", "spam"):
        Path("classes", label).mkdir(parents=True)
        Path("classes", label, "1.txt").write_text("free" if label == "spam" else "see you")


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("args", WRITTEN_OVER, ids=" ".join)
def test_what_is_read_is_not_written_over(given, capsys, args):
    before = contents()
    assert main(args) == 2
    assert contents() == before
    told = capsys.readouterr().err
    assert "would replace `" in told
    assert "hint: name another file with `" in told


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_is_what_it_leads_to(given, capsys, link):
    link("u.csv", "other.csv")
    before = contents()
    args = ["train", "mail.csv", "--unlabelled", "u.csv", "--learner", "multinomial", "-o", "other.csv"]
    assert main(args) == 2
    assert contents() == before


def test_every_option_that_names_a_file_says_whether_it_reads_or_writes():
    """One that is added must say so, or the check would not know of it."""
    named = {"FILE", "MODEL", "OTHER", "OUT", "DATA", "FILE.html", "FILE.onnx", "SQL"}
    context = click.Context(commands)
    todo = [commands.get_command(context, name) for name in commands.list_commands(context)]
    while todo:
        command = todo.pop()
        if isinstance(command, click.Group):
            todo += [command.get_command(context, name) for name in command.list_commands(context)]
        for each in command.params:
            if isinstance(each, Option) and each.metavar in named:
                assert each.reads or each.writes, f"{command.name} {each.opts}"


def test_a_model_may_be_changed_in_place_or_merged_over_itself(given):
    assert main(["learn", "mail.textodds", "mail.csv", "-o", "mail.textodds", "--quiet"]) == 0
    assert main(["merge", "mail.textodds", "mail.textodds", "-o", "mail.textodds", "--quiet"]) == 0


def test_a_pipe_is_written_to_and_stays_a_pipe(given):
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert main(["learn", "mail.textodds", "mail.csv", "-o", "pipe", "--quiet"]) == 0
        written, _ = reader.communicate(timeout=300)
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert main(["learn", "mail.textodds", "mail.csv", "-o", "file.textodds", "--quiet"]) == 0
    assert written == Path("file.textodds").read_bytes()


def test_stdout_is_written_to_by_its_name(given):
    args = ["explain", "mail.textodds", "--say", "free", "--html", "/dev/stdout", "--json"]
    done = subprocess.run([*COMMAND, *args], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0
    assert "<html" in done.stdout
    assert Path("/dev/stdout").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could replace a device")
def test_a_device_stays_a_device(given, tmp_path):
    try:
        os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        Path("null").write_bytes(b"")
    except PermissionError:
        pytest.skip("devices cannot be made here")
    assert main(["train", "mail.csv", "--learner", "multinomial", "-o", "null", "--quiet"]) == 0
    assert main(["explain", "mail.textodds", "--say", "free", "--html", "null"]) == 0
    assert stat.S_ISCHR(Path("null").stat().st_mode)


def test_names_as_long_as_names_can_be(mail):
    long = "m" * (255 - len(".textodds")) + ".textodds"
    assert main(["train", "mail.csv", "--learner", "multinomial", "-o", long, "--quiet"]) == 0
    assert main(["learn", long, "mail.csv", "--quiet"]) == 0
    assert Path(long).stat().st_size
    data = "d" * 251 + ".csv"
    Path(data).write_text(MAIL + "only one field\n")
    rejects = "r" * 249 + ".jsonl"
    assert main(["train", data, *SKIP, "--rejects", rejects, "--quiet"]) == 0
    assert len(list(Path().glob("d*.textodds"))) == 1
    assert Path(rejects).stat().st_size


def test_the_demonstration_replaces_nothing_of_others(mail, capsys):
    Path("mail.textodds").write_text("mine")
    assert main(["demo", "--keep", "."]) == 2
    assert "mail.textodds" in capsys.readouterr().err
    assert Path("mail.textodds").read_text() == "mine"
    assert main(["demo", "--keep", "new"]) == 0
    assert main(["demo", "--keep", "new"]) == 0
