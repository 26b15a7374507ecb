"""Model files of every kind, changed at random: a file gives answers that are numbers, or a `TextoddsError`.

What libFuzzer does with bytes is done here with what they mean: a value somewhere in the header, or numbers
of a tensor, become something else, and the file is written anew without checksums, as if somebody had made
it so. Then all is done with the model that can be done. ``python tests/mutations.py N`` tries N mutations of
every kind of model; a mutation is found again by its number. ``python tests/mutations.py seeds FOLDER``
writes the models as they are, such as those in ``rust/fuzz/seeds/model``.
"""

import copy
import json
import math
import sys
import tempfile
import time
import traceback
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import textodds
from model_cases import rows_of_trees
from model_files import parts, put_together
from textodds.errors import TextoddsError
from textodds.learn.registry import learner_named
from textodds.model.file import load
from textodds.training.tables import train_table

WORDS = ["free phone", "see you at six", "win a free prize now", "lunch tomorrow?", "call me", "urgent prize"]
LONG = "pneumonoultramicroscopicsilicovolcanoconiosis"


def texts(n=110):
    """Made-up texts and labels: enough for a calibration."""
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(12)] + [LONG]
    found = [f"{WORDS[i % 6]} {' '.join(random.choice(words, 3))}" for i in range(n)]
    return found, ["spam" if i % 2 == 0 or i % 7 == 0 else "ham" for i in range(n)]


def _of_texts(learner, **options):
    def made():
        given, labels = texts()
        return textodds.train(given, labels, learner=learner, **options)

    return made


def sets(labels):
    """Sets of labels that go with labels."""
    return [[label, "odd"] if i % 3 == 0 else [] if i % 5 == 0 else [label] for i, label in enumerate(labels)]


def _of_labels(learner):
    def made():
        given, labels = texts(130)
        return textodds.train(given, sets(labels), learner=learner)

    return made


def _of_columns():
    given, labels = texts()
    rows = {"subject": given, "body": given[::-1], "label": labels}
    return textodds.train(rows, text=["subject", "body"], learner="multinomial")


def _of_many_classes():
    given, labels = texts()
    model = textodds.train(given, [f"{label} {i % 7}" for i, label in enumerate(labels)], learner="bernoulli")
    model.learn(["one more", "another"], ["ham 0", "new"], ids=["a", "b"])
    return model


def _of_table(learner, columns, kinds=None):
    def made():
        rows, labels = rows_of_trees(120, missing=learner not in ("lda", "qda"))
        data = {name: [row[name] for row in rows] for name in columns}
        typical = learner in ("mixed", "lda")
        return train_table(data, labels, learner=learner_named(learner), columns=kinds or {}, typical=typical)

    return made


KINDS = {
    "multinomial": _of_texts("multinomial", typical=True),
    "multinomial-weighted-unknown": _of_texts("multinomial", min_df=2, unknown="smooth", documents=False),
    "bernoulli-many-classes": _of_many_classes,
    "complement": _of_texts("complement"),
    "complement-transformed": _of_texts(learner_named("complement", transform=True)),
    "hashed": _of_texts("multinomial", hash_bits=6),
    "characters": _of_texts("bernoulli", unit="characters-in-words", ngrams=(2, 2)),
    "columns": _of_columns,
    "labels-multinomial": _of_labels("multinomial:alpha=0.5"),
    "labels-softmax": _of_labels("softmax:C=1:ngrams=1"),
    "softmax": _of_texts("softmax", ngrams=(1, 1)),
    "nb-softmax": _of_texts("nb-softmax", ngrams=(1, 1)),
    "lda": _of_texts("lda", ngrams=(1, 1)),
    "qda": _of_texts("qda", ngrams=(1, 1)),
    "table-gaussian": _of_table("gaussian", ["height", "rain"]),
    "table-lda": _of_table("lda", ["height", "rain"]),
    "table-qda": _of_table("qda", ["height", "rain"]),
    "table-categorical": _of_table("categorical", ["colour", "soil"]),
    "table-joint": _of_table("table", ["colour", "soil"]),
    "table-mixed": _of_table(
        "mixed", ["height", "rain", "colour", "note"], {"note": "text", "height": "gaussian", "rain": "bins"}
    ),
    "gaussian": _of_texts("gaussian", ngrams=(1, 1)),  # last, as the place of a kind says how it is mutated
    "neighbours": _of_texts("softmax", ngrams=(1, 1), unlabelled=texts(60)[0]),
}


LATER = ("labels", "gaussian", "neighbours")


@cache
def written(kind):
    """The tensors and the header of a model of this kind."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model"
        KINDS[kind]().save(path)
        return parts(path)


ODD = [
    None, True, False, -1, 0, 1, 2, 3, 1.5, -0.5, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324,
    2**70, -(2**70), 10**400, "", "x", "data", "\x00", "\ud800", "9" * 5000,
    [], {}, [1], ["x"], [[]], {"x": 1}, [math.nan], [None],
]  # fmt: skip


def mutate_header(random, header):
    """Change one value of a header, its kind or its place."""
    places = list(_places(header, ()))
    path = places[random.integers(len(places))]
    owner = header
    for key in path[:-1]:
        owner = owner[key]
    at, action = path[-1], random.integers(10)
    value = owner[at]
    if action == 0:
        del owner[at]
    elif action == 1:  # what stands elsewhere
        other = places[random.integers(len(places))]
        found = header
        for key in other:
            found = found[key]
        owner[at] = copy.deepcopy(found)
    elif action == 2 and isinstance(value, list) and value:
        value.append(copy.deepcopy(value[random.integers(len(value))]))
    elif action == 3 and isinstance(value, list):
        random.shuffle(value)
    elif action == 4 and isinstance(value, dict):
        value[str(random.choice(["x", "alpha", "format", "kind"]))] = ODD[random.integers(len(ODD))]
    elif action == 5:
        owner[at] = [value]
    elif action == 6 and isinstance(value, int | float) and not isinstance(value, bool):
        owner[at] = value * float(random.choice([-1, 0.5, 1e6, 1e300])) + int(random.integers(-1, 2))
    else:
        owner[at] = ODD[random.integers(len(ODD))]


def _places(value, path):
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from _places(each, (*path, key))


def mutate_tensor(random, arrays):
    """Change numbers of a tensor, its type, its size or its place."""
    names = sorted(arrays)
    name = names[random.integers(len(names))]
    array = arrays[name].copy()
    action = random.integers(10)
    if action == 0:
        del arrays[name]
        return
    if action == 1:
        other = names[random.integers(len(names))]
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return
    if action == 2:
        with np.errstate(invalid="ignore"):  # a missing number is none of a whole kind
            array = array.astype(random.choice(["f8", "f4", "u8", "i8", "u4", "u2", "u1"]))
    elif action == 3:
        array = array[: random.integers(len(array) + 1)] if array.ndim else array
    elif action == 4:
        array = np.concatenate([array, array[:1]])
    elif array.size:
        _change_numbers(random, array.reshape(-1), action)
    arrays[name] = array


def _change_numbers(random, flat, action):
    """Change one number, some or all, in place."""
    if flat.dtype.kind == "f":
        odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e30, -1e30, 5e-324, 0.0, -1.0, 1.0, 2.0]
    else:
        info = np.iinfo(flat.dtype)
        odd = [0, 1, 2, info.max, info.max // 2, info.min, int(flat.max()), int(flat.max() // 2 + 1)]
    value = odd[random.integers(len(odd))]
    with np.errstate(all="ignore"):
        value = np.array(value).astype(flat.dtype)
    if action == 5:
        flat[:] = value
    elif action == 6:
        random.shuffle(flat)
    elif action == 7:
        flat[random.random(flat.size) < 0.2] = value
    else:
        flat[random.integers(flat.size)] = value


class NoNumber(AssertionError):
    """An answer is no number."""


def must_be_numbers(value, where):
    """Refuse NaN in what was answered, however deep."""
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            raise NoNumber(where)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and np.isnan(value).any():
            raise NoNumber(where)
    elif isinstance(value, dict):
        for key, each in value.items():
            must_be_numbers(each, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for each in value:
            must_be_numbers(each, where)


def asks(kind):
    """What to ask a model of this kind, what to learn, and its label."""
    if kind.startswith("table"):
        rows, labels = rows_of_trees(12, 3, missing=False)
        columns = json.loads(json.dumps(written(kind)[1]["recipe"]["schema"]["columns"]))
        names = [column["name"] for column in columns]
        return [{name: row[name] for name in names} for row in rows], labels
    given, labels = texts(12)
    if kind.startswith("labels"):
        return [*given, "", "unheard of"], [*sets(labels), [], ["spam"]]
    if kind == "columns":
        return [{"subject": text, "body": "see you"} for text in given], labels
    return [*given, "", "unheard of"], [*labels, "ham", "spam"]


def use(path, kind):
    """Do all with a model that can be done; raise what is neither an answer nor an error of ours."""
    rows, labels = asks(kind)
    model = load(path)

    def attempt(name, action):
        try:
            must_be_numbers(action(model), name)
        except TextoddsError:
            return

    def proba(model):
        p = model.predict_proba(rows)
        if not kind.startswith("labels") and not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise NoNumber("probabilities do not sum to one")
        return p

    def explained(model):
        found = model.explain(rows[0])
        return [found.log_odds, str(found)]

    def evaluated(model):
        return model.evaluate(rows, labels).as_dict()

    attempt("predict", lambda m: m.predict(rows))
    attempt("predict_proba", proba)
    attempt("one", lambda m: m(rows[0]).probabilities)
    attempt("explain", explained)
    attempt("evaluate", evaluated)
    if kind.startswith("labels"):
        attempt("goal", lambda m: m.with_goal("micro-f1").thresholds)
        attempt("shares", lambda m: m.label_shares(rows))
    else:
        attempt("inspect", lambda m: inspected(path))
    attempt("familiarity", lambda m: m.familiarity(rows))
    attempt("prior", lambda m: m.with_prior("uniform").predict_proba(rows))
    attempt("counts", lambda m: m.tally.class_rows)
    attempt("class documents", lambda m: list(m.class_documents.values()))
    attempt("merge", lambda m: (m + m).predict_proba(rows))
    attempt("learn", lambda m: m.learn(rows[:1], labels[:1]))
    attempt("after learning", proba)
    attempt("forget", lambda m: m.forget(rows[:1], labels[:1]))
    attempt("after forgetting", proba)
    again = path.with_name("again")
    attempt("save", lambda m: m.save(again))
    if again.exists():
        attempt("saved", lambda m: load(again).predict_proba(rows))
        again.unlink()


def inspected(path):
    """What `inspect` would show of a file."""
    from textodds.cli import inspect, summaries

    model = load(path)
    about = {
        "model": str(path),
        "bytes": 1,
        "format": model.file_format,
        "checksums": False,
        "checked": False,
    }
    if model.kind == "tables":
        about |= inspect._about_table(model)
        lines = list(summaries.table_model_lines(about, summaries.column_lines(model)))
    else:
        about |= inspect._about_texts(model) | inspect._words(model, 3, (), ("free",))
        lines = list(summaries.text_model_lines(about))
    json.dumps(about, default=str)
    return [lines, about["classes"], about["documents"]]


def mutation(kind, number):
    """The tensors and the header of mutation ``number`` of a kind of model."""
    arrays, header = written(kind)
    arrays, header = dict(arrays), copy.deepcopy(header)
    # Kinds that came later stand behind, so that a mutation keeps its number.
    order = sorted(KINDS, key=lambda name: (name.startswith(LATER), name))
    random = np.random.default_rng([order.index(kind), number])
    for _ in range(random.integers(1, 3)):
        if random.random() < 0.5:
            mutate_header(random, header)
        else:
            mutate_tensor(random, arrays)
    return arrays, header


def tried(folder, kind, number):
    """What went wrong with a mutation; None if nothing."""
    path = Path(folder) / "mutated"
    try:
        arrays, header = mutation(kind, number)
        put_together(path, arrays, header)
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
    ):  # a mutation of nothing, or one that cannot be written
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            use(path, kind)
        except TextoddsError:
            return None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [f for f in frames if "textodds" in f.filename and "mutations.py" not in f.filename]
            at = ours[-1] if ours else frames[-1]
            where = f"{Path(at.filename).name}:{at.lineno} {at.name}"
            return f"{type(error).__name__} in {where}: {error} {[f.name for f in frames][2:4]}"
    return None


def write_seeds(folder):
    """Write a model of every kind, checksums and all, as small as it can be: where the fuzzer begins."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, made in KINDS.items():
            made().save(Path(folder) / kind)


def main(n, first=0):
    """Try n mutations of every kind from a first number on; say what went wrong, once for each place."""
    found, started, slowest = {}, time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for number in range(first, first + n):
                began = time.monotonic()
                problem = tried(folder, kind, number)
                slowest = max(slowest, time.monotonic() - began)
                if problem is not None:
                    found.setdefault(problem.split(": ")[0], []).append((kind, number, problem))
    for place, cases in sorted(found.items(), key=lambda each: -len(each[1])):
        print(f"{len(cases):5} {place}: {cases[0]}")
    total, took = sum(map(len, found.values())), time.monotonic() - started
    print(f"{n * len(KINDS)} mutations, {total} wrong, {took:.0f} s, slowest {slowest:.1f} s")
    return total


if __name__ == "__main__":
    if sys.argv[1] == "seeds":
        write_seeds(sys.argv[2])
    else:
        sys.exit(main(*map(int, sys.argv[1:])) > 0)
