"""A reader in another language, written after docs/model-file.md, gives the answers of the model."""

import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported import needed
from exported_models import assert_same, awkward_texts, model_of, several_labels
from interop_cases import documents, new_texts

import textodds
from pairs import together
from textodds.learn.forms.linear import log_softmax
from textodds.learn.naive_bayes import MultinomialLearner

ROOT = Path(__file__).resolve().parents[2]
READER = ROOT / "examples" / "reader" / "read_model.mjs"
GOLDEN = ROOT / "tests" / "golden"

WORDS = ("sklearn-stop-words", "words-stop-words", "words-nfkc-accents", "unknown-smooth", "unknown-union")
CASES = [
    *(("multinomial", 2, cut) for cut in WORDS),
    *((learner, classes, "words") for learner in ("bernoulli", "complement-norm") for classes in (5, 12)),
    *(("nb-softmax", classes, "words-union") for classes in (2, 12)),
    ("multinomial-binary", 12, "characters"),
    ("multinomial", 5, "characters-in-words-plain"),
    ("multinomial", 2, "whitespace"),
]


def run(path, *arguments, given=""):
    """What the reader does with a file."""
    command = [needed("node"), str(READER), str(path), *arguments]
    return subprocess.run(command, input=given.encode(), capture_output=True, check=False)


def read(path, texts):
    """Labels and probabilities by the reader, and the names of the classes."""
    done = run(path, "--json", given="".join(f"{json.dumps(text)}\n" for text in texts))
    assert done.returncode == 0, done.stderr.decode()
    found = [json.loads(line) for line in done.stdout.decode().splitlines()]
    p = np.array([list(each["probabilities"].values()) for each in found])
    return [each["label"] for each in found], p, list(found[0]["probabilities"])


def saved(model, folder):
    model.save(folder / "model.textodds")
    return folder / "model.textodds"


def messages(name):
    """Texts and labels of example messages."""
    with (ROOT / "examples" / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def golden(name):
    """Texts, labels and probabilities that were written down when a golden file was made."""
    asked = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    if name in ("v1", "v1-sparse"):
        texts = [each["text"] for each in asked["questions"]]
        labels, scores = zip(*((each["label"], each["scores"]) for each in asked["questions"]), strict=True)
    else:  # asked the same texts
        texts, scores = golden("v1")[0], asked["scores"]
        unread = [k for k, (known, _) in enumerate(asked.get("terms", ())) if not known]
        for k in unread:  # what was written down is the intercept: an answer without words is the prior
            scores[k] = np.log([4 / 7, 3 / 7])
        labels = [asked["classes"][k] for k in np.argmax(scores, axis=1)]
    return texts, list(labels), np.exp(log_softmax(np.array(scores)))


def test_the_reader_is_short_and_stands_alone():
    lines = READER.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 300
    assert [line.split(" from ")[1] for line in lines if line.startswith("import ")] == [
        '"node:fs";',
        '"node:os";',
    ]


@together
@pytest.mark.parametrize("name", ["v1", "v1-sparse", "v2", "v3-typical"])
def test_the_reader_passes_the_golden_files(name):
    texts, labels, p = golden(name)
    found, ours, _ = read(GOLDEN / f"{name}.textodds", texts)
    assert found == labels
    np.testing.assert_allclose(ours, p, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "way", [{"learner": "multinomial"}, {"learner": "nb-softmax", "ngrams": (1, 2)}], ids=str
)
def test_the_reader_gives_calibrated_probabilities(way, tmp_path):
    model = textodds.train(*messages("messages.csv"), **way)
    assert model.calibration is not None
    texts = [*messages("new_messages.csv")[0], "", "unheard", "漢字 can’t 1,000.50"]
    *answers, classes = read(saved(model, tmp_path), texts)
    assert classes == list(model.class_names)
    assert_same(model, texts, answers)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reader_agrees_however_texts_are_cut_and_weights_stored(case, tmp_path):
    model, texts = model_of(*case), new_texts(case[1])
    assert_same(model, texts, read(saved(model, tmp_path), texts)[:2])


def test_impossible_words_are_impossible_to_the_reader(tmp_path):
    model = textodds.train(*documents(12), learner=MultinomialLearner(alpha=0.0))
    assert model.linear.weights.replaces
    texts = new_texts(12)
    assert_same(model, texts, read(saved(model, tmp_path), texts)[:2])


def test_awkward_texts_are_cut_alike(tmp_path):
    """All but an emoji that U+200D joins to a letter."""
    model = model_of("multinomial", 5, "words-stop-words")
    texts = [text.replace("\u200d", "") for text in awkward_texts(300)]
    found = read(saved(model, tmp_path), texts)[1]
    np.testing.assert_allclose(found, model.predict_proba(texts), rtol=0, atol=1e-9)


def test_texts_are_lines_unless_json_is_asked_for(tmp_path):
    done = run(GOLDEN / "v1.textodds", given="free lunch\n\nZürich\n")
    assert done.stdout.decode().count("\n") == 3
    asked = run(GOLDEN / "v1.textodds", "--json", given='"free lunch"\n""\n"Zürich"\n')
    assert asked.stdout == done.stdout


def refused(tmp_path):
    """Files that the reader cannot read, and what it says of each."""
    hashed = textodds.train(*documents(2), hash_bits=9, learner="multinomial")
    runs = textodds.train(*documents(2), unit="[a-z]+", learner="multinomial")
    yield GOLDEN / "v3-table.textodds", "a table model"
    for number, (model, words) in enumerate(
        [(hashed, "hashed"), (runs, "cannot be cut"), (several_labels(), "a labels model")]
    ):
        model.save(tmp_path / f"{number}")
        yield tmp_path / f"{number}", words
    content = (GOLDEN / "v1.textodds").read_bytes()
    for size, words in (
        (3, "shorter than 8 bytes"),
        (100, "its header ends"),
        (len(content) // 2, "ends behind"),
    ):
        (tmp_path / f"cut{size}").write_bytes(content[:size])
        yield tmp_path / f"cut{size}", words
    yield tmp_path / "absent", "no such file"


def test_what_the_reader_cannot_read_is_refused(tmp_path):
    for path, words in refused(tmp_path):
        done = run(path, given="free\n")
        assert (done.returncode, done.stdout) == (2, b""), path
        assert done.stderr.decode().startswith("error: "), done.stderr.decode()
        assert words in done.stderr.decode()
