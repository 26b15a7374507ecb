"""Every option of `textodds.train`, and how it is given from Python, the command line and Spark.

A case says how an option is given in each way in, and what it must change.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import textodds

WORDS = {
    "ham": "see you at lunch home six later meeting".split(),
    "spam": "free prize win claim cash".split(),
}
COMMON = "the a to and of in is it we they".split()


def drawn(n=240, seed=0):
    """n rows of texts of two classes that share most of their words: text, label, copies, body, kind."""
    random = np.random.default_rng(seed)
    for i in range(n):
        label = ("ham", "ham", "spam")[i % 3]
        own = WORDS[label if random.random() < 0.8 else "ham"]
        text = " ".join([*random.choice(own, 3), *random.choice(COMMON, 4)])
        yield f"{text.capitalize()},{label},{1 + i % 2},{text[::-1]},x{label}"


def people(n=240):
    """n rows of a table: height, note, visits, label."""
    random = np.random.default_rng(2)
    for i in range(n):
        note = " ".join(random.choice(WORDS["ham"] if i % 2 else COMMON, 3))
        yield f"{random.normal(175 + 8 * (i % 2), 7):.2f},{note},{random.integers(0, 9)},{'mf'[i % 2]}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """`mail.csv` and what it is otherwise, `more.csv` without labels, and tables."""
    monkeypatch.chdir(tmp_path)
    rows, table = list(drawn()), list(people())
    head = "text,label,copies,body,kind"
    numbers = [
        f"{height},{visits}.5,{label}" for height, _, visits, label in (row.split(",") for row in table)
    ]
    files = {
        "mail.csv": [head, *rows],
        "mail.txt": [head, *rows],
        "bare.csv": rows,
        "bad.csv": [head, *rows, "a text without a label,,1,b,c"],
        "more.csv": ["text", *(row.split(",")[0] for row in drawn(60, seed=1))],
        "shouted.csv": [head, *rows, rows[0].replace(",ham,", ",HAM,")],
        "tags.csv": [head, *(row.replace(",spam,", ",spam|loud,") for row in rows)],
        "stop.txt": ["the", "free"],
        "words.vec": [f"{word} {i % 3} {i}" for i, word in enumerate([*COMMON, *WORDS["spam"], "lottery"])],
        "people.csv": ["height,note,visits,label", *table],
        "numbers.csv": ["height,visits,label", *numbers],
    }
    for name, lines in files.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    Path("wide.csv").write_text(Path("mail.csv").read_text(), encoding="utf-16")
    shutil.copy(Path(__file__).parent / "messy" / "mail.xlsx", "book.xlsx")
    textodds.train("people.csv", columns={"visits": "category"}).save("like.textodds")


def case(option, given, arguments, *, data="mail.csv", acts=None, spark="refused", needs="textodds"):
    """An option as Python and the command have it, what it changes, and what Spark is given, or not."""
    marks = pytest.mark.skipif(find_spec(needs) is None, reason=f"{needs} is not installed")
    return pytest.param(option, given, arguments, data, acts, spark, id=f"{option} {arguments}", marks=marks)


NB = {"learner": "multinomial"}
CASES = [
    case("learner", {"learner": "bernoulli"}, ["--learner", "bernoulli"], spark={"learner": "bernoulli"}),
    case("learner", {"learner": "softmax:C=3:ngrams=1-1"}, ["--learner", "softmax:C=3:ngrams=1-1"],
         spark={"learner": "softmax:C=3:ngrams=1-1"}),
    case("learner", {"learner": ["multinomial", "bernoulli"]}, ["--learner", "multinomial,bernoulli"],
         spark={"learner": ["multinomial", "bernoulli"]}),
    case("features", {"features": "pairs", **NB}, ["--features", "pairs", "--learner", "multinomial"],
         acts=lambda model: model.recipe.settings.ngrams == (1, 2), spark={"features": "pairs"}),
    case("textbook", {"textbook": True}, ["--textbook"],
         acts=lambda model: model.info["textbook"] and is_uncalibrated(model), spark={"textbook": True}),
    case("budget", {"budget": 0.0, "learner": "auto"}, ["--budget", "0"],
         acts=lambda model: model.info["chosen"]["budget"] == 0, spark={"budget": 0.0, "learner": "auto"}),
    case("columns", {"columns": {"visits": "ignore"}}, ["--columns", "visits=ignore"], data="people.csv",
         acts=lambda model: "visits" not in [column.name for column in model.schema.used]),
    case("like", {"like": "like.textodds"}, ["--like", "like.textodds"], data="people.csv",
         acts=lambda model: taken_for(model, "visits") == "categorical"),
    case("vectors", {"vectors": "words.vec"}, ["--vectors", "words.vec"],
         acts=lambda model: model.info["neighbours"]["words"] == 15),
    case("unlabelled", {"unlabelled": "more.csv"}, ["--unlabelled", "more.csv"],
         acts=lambda model: model.info["unlabelled"]["documents"] == 60),
    case("stream", {"stream": True}, ["--stream"], acts=lambda model: model.recipe.settings.hash_bits == 22),
    case("typical", {"typical": True}, ["--typical"], acts=lambda model: model.typical is not None,
         spark={"typical": True}),
    case("typical", {"typical": True, "learner": "mixed"}, ["--typical", "--learner", "mixed"],
         data="people.csv", acts=lambda model: model.typical is not None),
    *(
        case("calibrate", {"calibrate": False, "learner": name}, ["--no-calibrate", "--learner", name],
             data=data, acts=lambda model: is_uncalibrated(model), spark=spark)
        for name, data, spark in [
            ("multinomial", "mail.csv", {"calibrate": False}),
            ("softmax:ngrams=1-1", "mail.csv", {"calibrate": False, "learner": "softmax:ngrams=1-1"}),
            ("lda", "mail.csv", "refused"),
            ("qda", "mail.csv", "refused"),
            ("mixed", "people.csv", "refused"),
            ("gaussian", "numbers.csv", "refused"),
        ]
    ),
    case("documents", {"documents": False, **NB}, ["--no-documents", "--learner", "multinomial"],
         acts=lambda model: model.corpus is None and model.has_counts),
    case("documents", {"documents": False, "learner": "softmax:C=1:ngrams=1"},
         ["--no-documents", "--learner", "softmax:C=1:ngrams=1"], acts=lambda model: model.corpus is None),
    case("clean_labels", {"clean_labels": True, **NB}, ["--clean-labels", "--learner", "multinomial"],
         data="shouted.csv", acts=lambda model: model.classes_ == ("ham", "spam"), spark="refused"),
    case("threads", {"threads": 1, **NB}, ["--threads", "1", "--learner", "multinomial"]),
    case("threads", {"threads": 1, "learner": "mixed"}, ["--threads", "1", "--learner", "mixed"],
         data="people.csv"),
    case("memory", {"memory": 1 << 20, **NB}, ["--memory", "1MiB", "--learner", "multinomial"],
         spark={"memory": 1 << 20}),
    case("observer", {"observer": textodds.Observer(), **NB}, ["--learner", "multinomial"],
         spark={"observer": textodds.Observer(), **NB}),
    case("text", {"text": "body", **NB}, ["--text", "body", "--learner", "multinomial"],
         acts=lambda model: "eerf" in model.vocabulary.words(), spark={"text": "body"}),
    case("text", {"text": ["text", "body"], **NB},
         ["--text", "text", "--text", "body", "--learner", "multinomial"],
         acts=lambda model: "body:eerf" in model.vocabulary.words()),
    case("text", {"text": "text+body", **NB}, ["--text", "text+body", "--learner", "multinomial"],
         acts=lambda model: "eerf" in model.vocabulary.words()),
    case("label", {"label": "kind", **NB}, ["--label", "kind", "--learner", "multinomial"],
         acts=lambda model: model.classes_ == ("xham", "xspam"), spark={"label": "kind"}),
    case("label_separator", {"label_separator": "|", **NB},
         ["--label-separator", "|", "--learner", "multinomial"], data="tags.csv",
         acts=lambda model: model.classes_ == ("ham", "loud", "spam")),
    case("goal", {"label_separator": "|", "goal": "cost=1:3", **NB},
         ["--label-separator", "|", "--goal", "cost=1:3", "--learner", "multinomial"], data="tags.csv",
         acts=lambda model: model.thresholds.tolist() == [0.25] * 3),
    case("weight", {"weight": "copies", **NB}, ["--weight", "copies", "--learner", "multinomial"],
         acts=lambda model: model.info["documents"] == 360, spark={"weight": "copies"}),
    case("format", {"format": "csv", **NB}, ["--format", "csv", "--learner", "multinomial"], data="mail.txt",
         acts=lambda model: model.info["documents"] == 240),
    case("query", {"query": "SELECT * FROM 'mail.csv' LIMIT 90", **NB},
         ["--query", "SELECT * FROM 'mail.csv' LIMIT 90", "--learner", "multinomial"], data=None,
         acts=lambda model: model.info["documents"] == 90),
    case("quoting", {"quoting": False, **NB}, ["--no-quoting", "--learner", "multinomial"]),
    case("header", {"header": False, "text": "1", "label": "2", **NB},
         ["--no-header", "--text", "1", "--label", "2", "--learner", "multinomial"], data="bare.csv",
         acts=lambda model: model.info["documents"] == 240),
    case("encoding", {"encoding": "utf-16", **NB}, ["--encoding", "utf-16", "--learner", "multinomial"],
         data="wide.csv", acts=lambda model: model.info["documents"] == 240),
    case("sheet", {"sheet": "Notes", **NB}, ["--sheet", "Notes", "--learner", "multinomial"],
         data="book.xlsx", acts=lambda model: model.classes_ == ("note",), needs="python_calamine"),
    case("bad_rows", {"bad_rows": "skip", **NB}, ["--bad-rows", "skip", "--learner", "multinomial"],
         data="bad.csv", acts=lambda model: model.info["rejected"] == 1, spark={"bad_rows": "skip"}),
    case("rejects_path", {"bad_rows": "skip", "rejects_path": "bad.jsonl", **NB},
         ["--bad-rows", "skip", "--rejects", "bad.jsonl", "--learner", "multinomial"], data="bad.csv",
         acts=lambda model: "a text without" in Path("bad.jsonl").read_text()),
]  # fmt: skip


def taken_for(model, column):
    """What a column of a table is taken for."""
    return next(each.conditional for each in model.recipe.choices if each.column == column)


def is_uncalibrated(model):
    """Whether nothing was made of documents that were left out or held out."""
    if model.kind == "tables":
        return model.held_out is None and model.calibration is None
    temperature = (model.info.get("fit") or {}).get("temperature", 1.0)
    return model.calibration is None and model.held_out is None and temperature == 1.0


def trained(data, given):
    given = dict(given)
    if "like" in given:
        given["like"] = textodds.load(given["like"])
    return textodds.train(data, **given)


CASED = pytest.mark.parametrize(("option", "given", "arguments", "data", "acts", "there"), CASES)
