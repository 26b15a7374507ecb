"""What a new process pays: to classify one line, and to open a large model."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import string
import sys
from pathlib import Path

import peers
import textodds
from bench import ONE, SKLEARN, Bench
from corpora import Missing
from measure import Child, ChildFailed, Contender, interleaved, run_child
from result import Bar, Result, Table, Target, digits, times

LINE = "A dull, overlong film; I looked at my watch three times before the train left."

SAY = "textodds predict MODEL --say LINE"
PIPE = "echo LINE | textodds predict MODEL -"
API = "python -c, textodds.load"
BARE = "python -c pass"
JOBLIB = "python -c, scikit-learn by joblib"
FASTTEXT = "python -c, fasttext.load_model"

BY_TEXTODDS = "import sys, textodds; print(textodds.load(sys.argv[1])(sys.argv[2]).label)"
BY_JOBLIB = "import sys, joblib; print(joblib.load(sys.argv[1]).predict([sys.argv[2]])[0])"
BY_FASTTEXT = "import sys, fasttext; print(fasttext.load_model(sys.argv[1]).predict(sys.argv[2])[0][0])"


def fresh_process(bench: Bench) -> Result:
    result = Result(
        "fresh-process",
        "A fresh process, one line",
        "CPU time of a whole process that loads the model of IMDB and classifies one line: interpreter, "
        "imports, opening the model, the answer.",
    )
    claim = "fresh process, one line: share of scikit-learn's CPU"
    try:
        contenders = _fresh_contenders(bench, result)
    except Missing as missing:
        result.skip(str(missing))
        result.targets.append(Target(claim, False, 0.2, None, "of it"))
        return result
    for contender in contenders:  # fill the page cache
        contender.time()
    series = interleaved(contenders, 2 * bench.rounds)
    result.record("imdb", series)
    mine = next(who for who in (SAY, API) if who in series)
    table = Table("", ("what", "CPU ms", "best CPU ms", "wall ms", f"textodds is faster by (`{mine}`)"))
    result.tables.append(table)
    for who, seconds in series.items():
        ratio = result.ratio("imdb", seconds, series[mine])
        ours = "textodds" in who
        table.rows.append(
            (
                f"`{who}`",
                digits(1000 * seconds.median()),
                digits(1000 * seconds.best()),
                digits(1000 * seconds.median("wall")),
                "" if ours or who == BARE else times(ratio.value),
            )
        )
        if who in (JOBLIB, FASTTEXT):
            against = SKLEARN if who == JOBLIB else "fastText"
            result.bars.append(
                Bar("fresh process, one line", against, ratio.value, 5 if who == JOBLIB else None)
            )
    for who in (SAY, PIPE, API):
        if who in series:
            share = result.ratio("imdb", series[who], series[JOBLIB])
            told = f"{claim} (`{who}`)"
            result.targets.append(Target(told, False, 0.2, share.value, "of it", share.low, share.high))
    return result


def _fresh_contenders(bench: Bench, result: Result) -> list[Contender]:
    import joblib

    corpus = bench.corpora["imdb"]
    model, pipeline = bench.workspace / "imdb.textodds", bench.workspace / "imdb.joblib"
    bench.model(corpus, ONE).save(model)
    joblib.dump(bench.model(corpus, SKLEARN), pipeline)
    python = [sys.executable, "-c"]
    contenders: list[Contender] = []
    if reason := _no_command_line(model):
        result.skip(reason)
    else:
        command = _command()
        contenders += [
            Child(SAY, [command, "predict", str(model), "--say", LINE]),
            Child(PIPE, [command, "predict", str(model), "-"], stdin=f"{LINE}\n"),
        ]
    contenders += [
        Child(API, [*python, BY_TEXTODDS, str(model), LINE]),
        Child(BARE, [*python, "pass"]),
        Child(JOBLIB, [*python, BY_JOBLIB, str(pipeline), LINE]),
    ]
    try:
        path = bench.workspace / "imdb.bin"
        bench.fasttext(corpus).save_model(str(path))
        contenders.append(Child(FASTTEXT, [*python, BY_FASTTEXT, str(path), peers.words(LINE)]))
        size = f", fastText {digits(path.stat().st_size / 1e6)} MB"
    except Missing as missing:
        result.skip(str(missing))
        size = ""
    result.notes.append(
        f"Size of the models: textodds {digits(model.stat().st_size / 1e6)} MB with its counts, "
        f"scikit-learn {digits(pipeline.stat().st_size / 1e6)} MB{size}."
    )
    return contenders


def _command() -> str:
    beside = Path(sys.executable).with_name("textodds")
    return str(beside) if beside.exists() else shutil.which("textodds") or "textodds"


def _no_command_line(model: Path) -> str | None:
    """Why the command line cannot be measured, if it cannot."""
    try:
        run_child([_command(), "predict", str(model), "--say", LINE])
        run_child([_command(), "predict", str(model), "-"], stdin=f"{LINE}\n")
    except (ChildFailed, OSError) as error:
        return f"the command line does not predict yet: {str(error).strip().splitlines()[-1][:200]}"
    except Exception as error:  # the launcher could not start it
        return f"there is no command `textodds`: {type(error).__name__}"
    return None


N_WORDS = 1_000_000

OPENING = """
import json, sys, time
begin = time.perf_counter()
from textodds import load
imported = time.perf_counter()
model = load(sys.argv[1])
opened = time.perf_counter()
model(sys.argv[2])
first = time.perf_counter()
model(sys.argv[2])
second = time.perf_counter()
print(json.dumps([imported - begin, opened - imported, first - opened, second - first]))
"""

OPENING_BY_JOBLIB = """
import json, sys, time
begin = time.perf_counter()
import joblib, sklearn.feature_extraction.text, sklearn.naive_bayes, sklearn.pipeline
imported = time.perf_counter()
model = joblib.load(sys.argv[1])
opened = time.perf_counter()
model.predict_proba([sys.argv[2]])
first = time.perf_counter()
model.predict_proba([sys.argv[2]])
second = time.perf_counter()
print(json.dumps([imported - begin, opened - imported, first - opened, second - first]))
"""


def open_model(bench: Bench) -> Result:
    result = Result(
        "open-model",
        "Opening a model of a million words",
        f"{N_WORDS:,} random words in two classes, saved; a fresh process imports, opens the file, and "
        "classifies a text of ten words twice. Milliseconds of the clock on the wall, with the file in the "
        "page cache.",
    )
    import joblib

    path, pipeline = bench.workspace / "million.textodds", bench.workspace / "million.joblib"
    texts, labels = _million(random.Random(42))
    model = textodds.train(texts, labels, learner="multinomial:alpha=1")
    assert len(model.vocabulary) == N_WORDS, len(model.vocabulary)
    model.save(path)
    joblib.dump(peers.sklearn_fit((texts, labels)), pipeline)
    line = " ".join(texts[0].split()[:10])
    contenders = {
        "textodds": Child("textodds", [sys.executable, "-c", OPENING, str(path), line], times=2),
        SKLEARN: Child(SKLEARN, [sys.executable, "-c", OPENING_BY_JOBLIB, str(pipeline), line], rounds=3),
    }
    for contender in contenders.values():  # fill the page cache
        contender.time()
        contender.runs.clear()
    series = interleaved(contenders.values(), 2 * bench.rounds)
    result.record("a million random words", series)
    columns = (
        "who",
        "file MB",
        "import ms",
        "open ms",
        "first prediction ms",
        "second prediction ms",
        "process CPU ms",
    )
    table = Table("", columns)
    result.tables.append(table)
    opening = {}
    for who, contender in contenders.items():
        steps = list(zip(*(json.loads(run.out) for run in contender.runs), strict=True))
        milliseconds = [1000 * statistics.median(step) for step in steps]
        opening[who] = milliseconds[1]
        result.raw.append({"contender": who, "import_open_first_second_s": [list(step) for step in steps]})
        size = (path if who == "textodds" else pipeline).stat().st_size / 1e6
        cpu = digits(1000 * series[who].median())
        table.rows.append((who, digits(size), *(digits(each) for each in milliseconds), cpu))
    each = [1000 * json.loads(run.out)[1] for run in contenders["textodds"].runs]
    result.targets.append(
        Target(
            f"open a model of {N_WORDS:,} words", False, 20, opening["textodds"], "ms",
            min(each), max(each),
        )
    )  # fmt: skip
    result.bars.append(Bar("open a million words", SKLEARN, opening[SKLEARN] / opening["textodds"]))
    result.notes.append("Opening maps the file and checks it; a prediction then touches the pages it needs.")
    return result


def _million(rng: random.Random) -> tuple[list[str], list[str]]:
    """Texts of 100 words that hold a million different words, and their labels."""
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        words["".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 12)))] = None
    every = list(words)
    texts = [
        " ".join(every[start : start + 50] + rng.choices(every, k=50)) for start in range(0, N_WORDS, 50)
    ]
    return texts, [rng.choice(("left", "right")) for _ in texts]
