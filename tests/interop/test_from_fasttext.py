"""Models trained with fastText: the same labels, the same probabilities."""

import csv
import gzip
import pickle

import numpy as np
import pytest
from fasttext_exact import Exact
from fasttext_models import answers, table_sigmoid

import textodds
from textodds.cli import main
from textodds.data import Batch
from textodds.errors import InputError, Unsupported
from textodds.interop.from_fasttext import model as fasttext_model

WORDS = [f"w{i}" for i in range(400)]
BESIDE = ["Größe", "straße", "日本語", "don't", "a</s>b", "été", "#12"]
AWKWARD = [
    "",
    "only unknown words",
    "w1 </s> w2 w300",
    "w1\tw2\x0bw3\0w4\x0cw5\rw6",
    "__label__c0 w1 w2",
    "w300 __label__never",
    "w1\u00a0w2 w3 \u2028 w4",
    "x " * 50 + "w5 " * 70,
    "Größe w1 neu été #12 日本語",
    " ",
]
MODELS = {
    "words.bin": {"dim": 10},
    "pairs.bin": {"wordNgrams": 2, "bucket": 20_000},
    "triples.bin": {"wordNgrams": 3, "bucket": 5_003, "minCount": 3, "dim": 7},
    "letters.bin": {"wordNgrams": 2, "minn": 2, "maxn": 4, "bucket": 30_000},
    "single.bin": {"minn": 1, "maxn": 3, "bucket": 3_000},
    "ova.bin": {"wordNgrams": 2, "bucket": 20_000, "loss": "ova"},
    "ns.bin": {"wordNgrams": 2, "bucket": 20_000, "loss": "ns"},
    "hs.bin": {"loss": "hs"},
    "tree.bin": {"loss": "hs", "wordNgrams": 2, "bucket": 2_000},
    "many.bin": {"wordNgrams": 2, "bucket": 2_000},
    "plain.ftz": {"wordNgrams": 2, "bucket": 2_000},
    "pruned.ftz": {"wordNgrams": 2, "bucket": 2_000},
    "parts.ftz": {"wordNgrams": 2, "bucket": 2_000, "minn": 2, "maxn": 3},
    "output.ftz": {"wordNgrams": 2, "bucket": 2_000},
    "prefix.bin": {"wordNgrams": 2, "bucket": 100, "label": "c:"},
}
QUANTISED = {
    "plain.ftz": {},
    "pruned.ftz": {"cutoff": 1000, "retrain": True, "qnorm": True},
    "parts.ftz": {"cutoff": 500, "dsub": 3},
    "output.ftz": {"qout": True, "cutoff": 600},
}
OF_ONE_LABEL = [name for name in MODELS if name not in ("ova.bin", "ns.bin", "hs.bin", "tree.bin")]


def _texts(n, seed, classes=3):
    """Texts, and the class of each, whose words are mostly its own."""
    random = np.random.default_rng(seed)
    of, found = random.integers(classes, size=n), []
    for k in of.tolist():
        own = WORDS[k * 90 : k * 90 + 150] + BESIDE
        found.append(" ".join(random.choice(own, random.integers(1, 25))))
    return found, of.tolist()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with the models of `MODELS`, the texts they were asked, and what fastText said."""
    pytest.importorskip("fasttext")
    folder = tmp_path_factory.mktemp("fasttext")
    (lines, of), texts = _texts(2000, 0), _texts(300, 1)[0] + AWKWARD
    single = [f"__label__c{k} {line}" for k, line in zip(of, lines, strict=True)]
    several = [f"{label} {line}" for label, line in zip(single, single[1:] + single[:1], strict=True)]
    many = [f"__label__d{i % 300} {line}" for i, line in enumerate(lines)]  # as many as centroids, at least
    uneven = [f"__label__e{int((i * 37 % 2000 + 1) ** 0.7)} {line}" for i, line in enumerate(lines)]
    asked = {}
    for name, options in MODELS.items():
        its = {"ova.bin": several, "output.ftz": many, "many.bin": many, "tree.bin": uneven}.get(name, single)
        if name == "prefix.bin":
            its = [line.replace("__label__c", "c:") for line in single]
        asked[name] = {"lines": its, "texts": texts, "options": {"dim": 10, "epoch": 8, "lr": 0.3} | options}
        if name in QUANTISED:
            asked[name]["quantise"] = QUANTISED[name]
    return folder, texts, answers(folder, asked)


def must_agree(model, texts, said, p, *, atol=1e-5):
    """Hold probabilities (N, K) to what fastText said, which adds 1e-5 to each."""
    for text, row, answer in zip(texts, p, said, strict=True):
        theirs = {label.removeprefix("__label__"): value - 1e-5 for label, value in answer.items()}
        mine = dict(zip(model.classes_, row.tolist(), strict=True))
        assert theirs.keys() == mine.keys()
        assert max(abs(mine[label] - theirs[label]) for label in mine) <= atol, text[:80]
        first, second, *_ = sorted(theirs.values(), reverse=True)
        if first - second > 2 * atol:  # else a tie, which its last digits decide
            assert max(mine, key=mine.get) == max(theirs, key=theirs.get), text[:80]


def must_agree_but_for_the_table(model, texts, said):
    """Hold log-odds to the probabilities that fastText looks up for them; our own probabilities, (N, K)."""
    scores = model.score_batch(Batch(texts))[0]
    steps = (scores + 8) * 32
    is_near = np.abs(steps - np.round(steps)) < 1e-3  # to the next value of the table, by its last digits
    for row, near, answer in zip(scores, is_near, said, strict=True):
        theirs = np.array([answer[f"__label__{label}"] - 1e-5 for label in model.classes_])
        np.testing.assert_allclose(table_sigmoid(row)[~near], theirs[~near], rtol=0, atol=1e-5)
    p = model.predict_proba(texts)
    assert ((p - table_sigmoid(scores))[~is_near] < 0.0079).all()
    return p


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ONE_LABEL)
def test_labels_and_probabilities_are_those_of_fasttext(trained, name):
    folder, texts, said = trained
    model = textodds.from_fasttext(folder / name)
    must_agree(model, texts, said[name], model.predict_proba(texts))
    assert [model(text).label for text in texts[:20]] == model.predict(texts[:20]).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ova.bin", "ns.bin"])
def test_several_labels_have_the_odds_that_fasttext_looks_its_sigmoid_up_for(trained, name):
    folder, texts, said = trained
    model = textodds.from_fasttext(folder / name)
    assert isinstance(model, textodds.MultiLabelModel)
    p = must_agree_but_for_the_table(model, texts, said[name])
    one = textodds.from_fasttext(folder / name, one_label=True)
    assert not one.form.is_posterior
    assert one.predict(texts).tolist() == [model.classes_[k] for k in p.argmax(axis=1).tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_are_those_of_exact_arithmetic(trained, name):
    folder, texts, _ = trained
    exact = Exact(folder / name)
    expected = np.array([exact(text)[0] for text in texts])
    p = textodds.from_fasttext(folder / name).predict_proba(texts)
    np.testing.assert_allclose(p, expected, rtol=0, atol=1e-12)


def must_agree_along_the_tree(model, texts, said):
    """Hold probabilities to fastText's, which adds 1e-5 at each node on the way to a label."""
    form, inner = model.form, model.scorer.kernel.score(texts, 1)[0]
    nodes = inner if form.output is None else inner @ form.output
    ways = 1 / (1 + np.exp(-nodes[:, form.leaves.nodes] * form.leaves.sign)) + 1e-5
    theirs = np.array([[answer.get(f"__label__{label}", 0.0) for label in model.classes_] for answer in said])
    np.testing.assert_allclose(
        np.multiply.reduceat(ways, form.leaves.starts[:-1], axis=1), theirs, rtol=0, atol=1e-5
    )
    p = model.predict_proba(texts)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    first = np.sort(theirs, axis=1)
    is_clear = first[:, -1] - first[:, -2] > 2e-5
    labels = np.array(model.classes_)[theirs.argmax(axis=1)]
    assert (model.predict(texts) == labels)[is_clear].all()
    assert is_clear.sum() > 200
    # every text has a way of its own to each label: what fastText leaves out is below its threshold of 0
    assert np.abs(p - theirs).max() < 1e-5 * (np.diff(form.leaves.starts).max() + 1)


@pytest.mark.slow
@pytest.mark.parametrize("folds", [True, False])
@pytest.mark.parametrize("name", ["hs.bin", "tree.bin"])
def test_labels_of_a_tree_have_the_probabilities_of_fasttext(trained, tmp_path, monkeypatch, name, folds):
    folder, texts, said = trained
    if not folds:
        monkeypatch.setattr(fasttext_model, "SMALL", 0)
    model = textodds.from_fasttext(folder / name)
    assert (model.form.output is None) == (folds or name == "hs.bin")  # of three labels, 10 numbers are more
    must_agree_along_the_tree(model, texts, said[name])
    model.save(tmp_path / "saved.textodds")
    loaded = textodds.load(tmp_path / "saved.textodds")
    assert np.array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    assert [loaded(text).label for text in texts[:20]] == model.predict(texts[:20]).tolist()
    for text in texts[:8]:
        must_add_up(loaded, text)
    prior = {label: 1 / len(model.classes_) for label in model.classes_}
    assert loaded.with_prior(prior).predict_proba(texts).shape == (len(texts), len(model.classes_))


def must_add_up(model, text):
    """Hold the sums of an explanation, by features and by words, to the scores of the model."""
    why = model.explain(text)
    scores = dict(zip(model.classes_, model.score_batch(Batch([text]))[0][0].tolist(), strict=True))
    gap = scores[why.label] - scores[why.rival]
    for parts in (why.parts, why.words):
        np.testing.assert_allclose(
            why.start + sum(each.log_odds for each in parts), gap, rtol=1e-9, atol=1e-9
        )
    np.testing.assert_allclose(why.probability, model.predict_proba([text]).max(), rtol=1e-9)


@pytest.mark.slow
def test_of_many_labels_the_two_matrices_stay(trained, tmp_path, monkeypatch):
    folder, texts, said = trained
    folded = textodds.from_fasttext(folder / "many.bin")
    monkeypatch.setattr(fasttext_model, "SMALL", 0)
    model = textodds.from_fasttext(folder / "many.bin")
    must_agree(model, texts, said["many.bin"], model.predict_proba(texts))
    model.save(tmp_path / "two.textodds")
    folded.save(tmp_path / "one.textodds")
    assert (tmp_path / "two.textodds").stat().st_size < (tmp_path / "one.textodds").stat().st_size / 5
    loaded = textodds.load(tmp_path / "two.textodds")
    assert np.array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    for text in texts[:5]:
        mine, theirs = loaded.explain(text), folded.explain(text)
        assert [each.word for each in mine.parts[:3]] == [each.word for each in theirs.parts[:3]]
        np.testing.assert_allclose(mine.start, theirs.start, atol=1e-9)
    with pytest.raises(Unsupported, match="not linear in its words"):
        loaded.linear  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pairs.bin", "hs.bin"])
def test_held_out_texts_calibrate_a_model_and_carry_its_promises(trained, name, tmp_path):
    folder, _, _ = trained
    (texts, of), (fresh, truth) = _texts(600, 5), _texts(600, 6)
    labels = [f"c{k}" for k in of]
    plain = textodds.from_fasttext(folder / name)
    model = textodds.from_fasttext(folder / name, calibrate=(texts, labels))
    assert len(model.held_out) == 600
    loss = [each.evaluate(fresh, [f"c{k}" for k in truth]).log_loss for each in (plain, model)]
    assert loss[1] <= loss[0] + 1e-3
    model.save(tmp_path / "model.textodds")
    (tmp_path / "new.txt").write_text("\n".join(fresh))
    for more in (["--max-error", "0.3"], ["--set", "0.9"], ["--loss", "c0->c1: 5"]):
        command = ["predict", str(tmp_path / "model.textodds"), str(tmp_path / "new.txt"), "--quiet"]
        assert main([*command, "-o", str(tmp_path / "answers.csv"), *more]) == 0
    loaded = textodds.load(tmp_path / "model.textodds")
    assert np.array_equal(loaded.predict_proba(fresh), model.predict_proba(fresh))
    must_add_up(loaded, fresh[0])
    with pytest.raises(Unsupported, match="only models of -loss softmax and hs"):
        textodds.from_fasttext(folder / "ova.bin", calibrate=(texts, labels))
    with pytest.raises(InputError, match="labelled texts at least, got 5"):
        textodds.from_fasttext(folder / name, calibrate=(texts[:5], labels[:5]))


@pytest.mark.slow
def test_what_cannot_be_asked_for_is_refused_by_name(trained):
    folder, _, _ = trained
    with pytest.raises(InputError, match="one label anyway"):
        textodds.from_fasttext(folder / "words.bin", one_label=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words.bin", "letters.bin", "pruned.ftz", "prefix.bin"])
def test_a_model_is_saved_pickled_explained_and_does_not_learn(trained, name, tmp_path):
    folder, texts, _ = trained
    model = textodds.from_fasttext(folder / name)
    model.save(tmp_path / "model.textodds")
    loaded = textodds.load(tmp_path / "model.textodds", check=True)
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    assert pickle.loads(pickle.dumps(model)).predict(texts).tolist() == model.predict(texts).tolist()
    for change in (loaded.learn, loaded.forget):
        with pytest.raises(Unsupported, match="comes from fastText has neither documents nor counts"):
            change("w1 w2", loaded.classes_[0])
    np.testing.assert_allclose(textodds.to_sklearn(loaded).predict_proba(texts), loaded.predict_proba(texts))
    uniform = loaded.with_prior("uniform").predict_proba(texts)
    odds = np.log(uniform / loaded.predict_proba(texts)) + loaded.form.log_prior
    np.testing.assert_allclose(odds, np.broadcast_to(odds[:, :1], odds.shape), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words.bin", "triples.bin", "letters.bin", "pruned.ftz", "parts.ftz"])
def test_explanations_add_up_by_feature_and_by_word(trained, name):
    folder, texts, _ = trained
    model = textodds.from_fasttext(folder / name)
    for text in [*texts[:10], *AWKWARD]:
        why = model.explain(text)
        scores = model.score([text])[0][0]
        log_odds = scores[model.class_number(why.label)] - scores[model.class_number(why.rival)]
        assert why.log_odds == pytest.approx(log_odds, abs=1e-9)
        assert why.start + sum(word.log_odds for word in why.words) == pytest.approx(log_odds, abs=1e-9)
        assert all(not word.word.startswith("# ") for word in why.words), text
        flip = why.flip()
        if flip is not None:
            assert model(flip.text).label == flip.label_after != why.label


REAL = {
    "sms_spam": {"wordNgrams": 2, "bucket": 200_000},
    "ag_news_subset": {"wordNgrams": 2, "bucket": 100_000, "epoch": 1},
    "langid_lingua": {"minn": 1, "maxn": 3, "bucket": 50_000, "epoch": 1},
    "mr": {"wordNgrams": 3, "bucket": 50_000},
}


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    [
        *("sms_spam", "langid_lingua"),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("ag_news_subset", "mr")),
    ],
)
def test_real_texts_have_the_labels_and_probabilities_of_fasttext(name, real_data, tmp_path):
    pytest.importorskip("fasttext")
    (lines, labels), (texts, _) = real_data(name)
    lines = [
        f"__label__{label.replace(' ', '-')} {' '.join(line.split())}"
        for label, line in zip(labels, lines, strict=True)
    ]
    texts = [" ".join(text.split()) for text in texts[:1500]]
    about = {
        "lines": lines[:10_000],
        "texts": texts,
        "options": {"dim": 10, "epoch": 3, "lr": 0.5} | REAL[name],
    }
    asked = {"model.bin": about, "model.ftz": about | {"quantise": {"cutoff": 10_000, "qnorm": True}}}
    said = answers(tmp_path, asked)
    for file in asked:
        model = textodds.from_fasttext(tmp_path / file)
        must_agree(model, texts, said[file], model.predict_proba(texts))


@pytest.mark.slow
@pytest.mark.realdata
def test_real_texts_of_several_labels_have_the_odds_of_fasttext(data_folder, tmp_path):
    pytest.importorskip("fasttext")
    parts = []
    for which in ("train", "test"):
        path = data_folder / "multi_goemotions" / f"{which}.csv.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            parts.append(list(csv.DictReader(file)))
    lines = [
        " ".join(f"__label__{label}" for label in row["labels"].split("|"))
        + " "
        + " ".join(row["text"].split())
        for row in parts[0][:20_000]
    ]
    texts = [" ".join(row["text"].split()) for row in parts[1][:4000]]
    options = {"loss": "ova", "dim": 10, "epoch": 3, "lr": 0.5, "wordNgrams": 2, "bucket": 50_000}
    said = answers(tmp_path, {"model.bin": {"lines": lines, "texts": texts, "options": options}})
    model = textodds.from_fasttext(tmp_path / "model.bin")
    must_agree_but_for_the_table(model, texts, said["model.bin"])
