"""Softmax regression over a stream: AdaGrad's steps, whatever the batches; words and classes at any time."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textodds
import twins
from pairs import together
from textodds import TextSettings
from textodds.cli import main
from textodds.data import Batch, read
from textodds.errors import InOrder, InputError, LengthMismatch, NoData
from textodds.training import stream
from textodds.training.stream import SoftmaxStream

SMALL = 12  # hash bits, where collisions do not matter
NAMED, HASHED = {"ngrams": (1, 2)}, {"ngrams": (1, 2), "hash_bits": SMALL}
BOTH = pytest.mark.parametrize("choices", [NAMED, HASHED], ids=["named", "hashed"])


def toy(seed, n=60, classes=3):
    """Texts of words shared and of each class's own, some empty, and labels that do not come in order."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        k = int(random.integers(0, classes))
        words = [f"shared{j}" for j in random.integers(0, 5, random.integers(0, 5))]
        words += [f"own{k}x{j}" for j in random.integers(0, 4, random.integers(0, 4))]
        texts.append(" ".join(words) if i % 17 else "")
        labels.append(["zeta", "alpha", "mu", "beta"][k])
    return texts, labels


def learned(texts, labels, cuts=(), weights=None, **choices):
    """A stream that has learned the texts, cut into batches at some places."""
    stream = SoftmaxStream(TextSettings(**choices))
    for a, b in itertools.pairwise([0, *cuts, len(texts)]):
        stream.partial_fit(texts[a:b], labels[a:b], None if weights is None else weights[a:b])
    return stream


def one_by_one(texts, labels, weights=None, **choices):
    return learned(texts, labels, range(1, len(texts)), weights, **choices)


def same_bits(left, right, texts):
    """Two streams have learned the same."""
    assert left.classes_ == right.classes_
    assert left.n_texts == right.n_texts
    mine, theirs = left.model(), right.model()
    assert mine.vocabulary.words() == theirs.vocabulary.words()
    np.testing.assert_array_equal(mine.linear.weights.dense, theirs.linear.weights.dense)
    np.testing.assert_array_equal(mine.score(texts)[0], theirs.score(texts)[0])


def twin_of(texts, labels, costs, rows, rate=0.5):
    """What AdaGrad learns of rows {term: value}: scores (centred) of rows, and the loss of each text."""
    names = list(dict.fromkeys(labels))  # in order of arrival
    codes = [names.index(label) for label in labels]
    weights, bias, losses = twins.adagrad(rows, codes, costs, len(names), rate=rate)
    order = np.argsort(names)

    def scores(row):
        found = np.array(bias)
        for term, x in row.items():
            found = found + x * np.array(weights.get(term, [0.0] * len(names)))
        return (found - found.mean())[order]

    return scores, losses


def rows_of(texts, settings, **weighting):
    lists = [settings.terms(text) for text in texts]
    return twins.weighted_rows(lists, idf=False, blocks=settings.blocks, **weighting)[0]


@together
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2), (2, 3), (1, 3)], ids=str)
@pytest.mark.parametrize("hashed", [False, True], ids=["named", "hashed"])
def test_a_stream_takes_adagrads_steps(ngrams, hashed):
    texts, labels = toy(1)
    choices = {"ngrams": ngrams, **({"hash_bits": SMALL} if hashed else {})}
    costs = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(texts))
    stream = one_by_one(texts, labels, costs, **choices)
    rows = rows_of(texts, stream.settings)
    scores, losses = twin_of(texts, labels, costs, rows)
    got = stream.model().score(texts)[0]
    expected = np.array([scores(row) for row in rows])
    np.testing.assert_allclose(got - got.mean(axis=1, keepdims=True), expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose([n for n, _ in stream.curve], np.cumsum(costs), rtol=1e-12)
    np.testing.assert_allclose(
        [loss for _, loss in stream.curve], np.array(losses) / costs, rtol=0, atol=1e-5
    )


@together
@pytest.mark.parametrize("rate", [0.1, 2.0])
@pytest.mark.parametrize("frequency", ["count", "log", "binary"])
def test_rate_and_frequency_are_used(rate, frequency):
    texts, labels = toy(2, 30)
    texts = [f"{text} {text}" for text in texts]
    stream = SoftmaxStream(TextSettings(), rate=rate, frequency=frequency)
    for text, label in zip(texts, labels, strict=True):
        stream.partial_fit([text], [label])
    rows = rows_of(texts, stream.settings, frequency=frequency)
    scores, _ = twin_of(texts, labels, [1.0] * len(texts), rows, rate)
    got = stream.model().score(texts)[0]
    np.testing.assert_allclose(got, np.array([scores(row) for row in rows]), rtol=0, atol=1e-4)


def test_words_that_are_in_no_pair_do_not_matter_where_only_pairs_count():
    stream = learned(["one", "two three", "four", "five six"], list("abab"), ngrams=(2, 2))
    assert sorted(stream.model().vocabulary.words()) == ["five six", "two three"]


@pytest.mark.parametrize("hashed", [False, True], ids=["named", "hashed"])
def test_a_stream_learns_the_rows_that_its_model_reads(hashed):
    """Characters beside words are a block of their own, in learning as in reading."""
    choices = {"characters": (2, 3), **({"hash_bits": 20} if hashed else {})}
    texts, labels = toy(3, 40)
    stream = one_by_one(texts, labels, **choices)
    model = stream.model()
    rows, words = model.rows(texts), model.vocabulary.words()
    read_as = [
        {words[v]: x for v, x in zip(rows.indices[a:b], rows.data[a:b], strict=True)}
        for a, b in itertools.pairwise(rows.indptr)
    ]
    scores, losses = twin_of(texts, labels, [1.0] * len(texts), read_as)
    np.testing.assert_allclose([loss for _, loss in stream.curve], losses, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        model.score(texts)[0], np.array([scores(row) for row in read_as]), rtol=0, atol=1e-4
    )


@BOTH
@settings(max_examples=20)
@given(cuts=st.lists(st.integers(4, 60), max_size=6).map(sorted))
def test_cuts_do_not_matter_once_every_class_has_come(choices, cuts):
    texts, labels = toy(4)
    first = [labels.index(name) for name in sorted(set(labels))]
    rest = [i for i in range(len(texts)) if i not in first]
    texts, labels = ([column[i] for i in first + rest] for column in (texts, labels))
    at_once, in_parts = learned(texts, labels, (3,), **choices), learned(texts, labels, (3, *cuts), **choices)
    same_bits(at_once, in_parts, texts)


@BOTH
@pytest.mark.parametrize(
    "cuts", [(1,), (1, 2), (5, 20), tuple(range(1, 60))], ids=["1", "1-2", "5-20", "every"]
)
def test_cuts_do_not_matter_when_classes_are_still_coming(choices, cuts):
    texts, labels = toy(4)
    same_bits(learned(texts, labels, **choices), learned(texts, labels, cuts, **choices), texts)


@BOTH
def test_a_batch_without_texts_changes_nothing(choices):
    texts, labels = toy(5)
    stream = learned(texts, labels, **choices)
    again = learned(texts, labels, **choices).partial_fit([], [])
    again.learn([Batch([], [], None)])
    same_bits(stream, again, texts)
    assert again.curve == stream.curve


def test_a_stream_learns_from_whatever_can_be_read(tmp_path):
    texts, labels = toy(6)
    lines = [f"{label}\t{text}" for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "data.tsv").write_text("label\ttext\n" + "\n".join(lines), encoding="utf-8")
    from_file = SoftmaxStream(TextSettings()).learn(read(tmp_path / "data.tsv"))
    same_bits(from_file, learned(texts, labels), texts)


@BOTH
def test_new_classes_and_words_come_at_any_time(choices):
    stream = SoftmaxStream(TextSettings(**choices))
    for _ in range(5):
        stream.partial_fit(["free phone", "see you"], ["spam", "ham"])
    assert stream.classes_ == ("ham", "spam")
    asked = ["platform nine", "free lunch", "free phone", "see you", "ticket please"]
    answers = ["travel", "food", "spam", "ham", "travel"]
    for _ in range(5):
        stream.partial_fit(asked, answers)
    assert stream.classes_ == ("food", "ham", "spam", "travel")
    model = stream.model()
    assert model.classes_ == stream.classes_
    assert model.predict(asked).tolist() == answers
    assert model.class_documents == {"food": 5.0, "ham": 10.0, "spam": 10.0, "travel": 10.0}
    np.testing.assert_allclose(np.exp(model.linear.log_prior), np.array([1, 2, 2, 2]) / 7, rtol=1e-12)


def test_hashed_and_named_words_agree_where_no_buckets_collide():
    texts, labels = toy(7)
    named, hashed = one_by_one(texts, labels), one_by_one(texts, labels, hash_bits=22)
    words = named.model().vocabulary.words()
    assert len({twins.bucket(word, 22) for word in words}) == len(words)
    mine, theirs = named.model(), hashed.model()
    assert sorted(theirs.vocabulary.words()) == sorted(twins.bucket(word, 22) for word in words)
    np.testing.assert_allclose(mine.score(texts)[0], theirs.score(texts)[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(named.curve, hashed.curve, rtol=0, atol=1e-5)


@BOTH
def test_words_of_a_fixed_vocabulary_only_are_learned(choices):
    if "hash_bits" in choices:
        with pytest.raises(InputError, match="cannot be hashed"):
            TextSettings(vocabulary=["free"], **choices)
        return
    stream = learned(
        ["free phone", "see you", "free"], ["spam", "ham", "spam"], vocabulary=["free", "see you"], **choices
    )
    assert set(stream.model().vocabulary.words()) <= {"free", "see you"}


@BOTH
def test_a_model_can_be_taken_at_any_time_and_kept(choices, tmp_path):
    texts, labels = toy(8)
    stream, models = SoftmaxStream(TextSettings(**choices)), []
    for a in range(0, len(texts), 12):
        stream.partial_fit(texts[a : a + 12], labels[a : a + 12])
        model = stream.model()
        models.append((model, model.score(texts)[0]))
    same_bits(stream, learned(texts, labels, range(12, len(texts), 12), **choices), texts)
    for i, (model, then) in enumerate(models):
        np.testing.assert_array_equal(model.score(texts)[0], then)  # what was learned since is not in it
        model.save(tmp_path / f"{i}")
        loaded = textodds.load(tmp_path / f"{i}")
        np.testing.assert_array_equal(loaded.score(texts)[0], then)
        assert loaded.info == model.info
        assert loaded.recipe.as_dict() == model.recipe.as_dict()


@BOTH
def test_rows_of_a_model_sum_to_one_and_its_parameters_to_zero(choices):
    texts, labels = toy(9)
    model = learned(texts, labels, **choices).model()
    np.testing.assert_allclose(model.predict_proba([*texts, "unheard"]).sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.linear.weights.dense.sum(axis=1), 0, rtol=0, atol=1e-6)
    assert abs((model.linear.log_prior + model.linear.intercept).sum()) < 1e-9
    rows = model.rows(texts)
    np.testing.assert_allclose(model.linear.scores(rows), model.score(texts)[0], rtol=0, atol=1e-11)


@BOTH
def test_a_weight_of_zero_is_absence(choices):
    texts, labels = toy(10)
    weights = np.where(np.arange(len(texts)) % 3 == 1, 0.0, 1.5)
    weights[[labels.index(name) for name in sorted(set(labels))]] = 1.5
    some = [
        f"{text} absent{i}" if not weight else text
        for i, (text, weight) in enumerate(zip(texts, weights, strict=True))
    ]
    kept = np.flatnonzero(weights)
    all_of_them = one_by_one(some, labels, weights, **choices)
    only = one_by_one([some[i] for i in kept], [labels[i] for i in kept], weights[kept], **choices)
    same_bits(all_of_them, only, texts)
    assert all_of_them.curve == only.curve
    assert all_of_them.n_texts == weights.sum()


@BOTH
def test_a_class_whose_texts_weigh_nothing_is_absent(choices):
    texts, labels = toy(10)
    without = learned(texts, labels, (30,), **choices)
    with_ghost = SoftmaxStream(TextSettings(**choices))
    with_ghost.partial_fit(texts[:30], labels[:30])
    with_ghost.partial_fit(["ghostly words"], ["ghost"], [0.0])
    with_ghost.partial_fit(texts[30:], labels[30:])
    model = with_ghost.model()
    others = [k for k, name in enumerate(model.classes_) if name != "ghost"]
    np.testing.assert_allclose(
        model.predict_proba(texts)[:, others], without.model().predict_proba(texts), rtol=0, atol=1e-9
    )


@BOTH
def test_the_curve_is_the_loss_of_each_batch_before_it_was_learned(choices):
    """By hand: every text is scored by what the texts before it have taught."""
    texts, labels = toy(11)
    first = [labels.index(name) for name in sorted(set(labels))]
    order = first + [i for i in range(len(texts)) if i not in first]
    texts, labels = ([column[i] for i in order] for column in (texts, labels))
    weights = np.random.default_rng(1).choice([1.0, 2.0], len(texts))
    cuts = (1, 2, 3, 10, 11, 25)
    stream = learned(texts, labels, cuts, weights, **choices)
    rows = rows_of(texts, stream.settings)
    _, losses = twin_of(texts, labels, weights, rows)
    expected = [
        (weights[:b].sum(), sum(losses[a:b]) / weights[a:b].sum())
        for a, b in itertools.pairwise([0, *cuts, len(texts)])
    ]
    np.testing.assert_allclose(stream.curve, expected, rtol=0, atol=1e-5)
    told = stream.model().info["fit"]
    assert told["log_loss_before_learning"] == pytest.approx(sum(losses) / weights.sum(), abs=1e-5)
    assert told["batches"] == len(cuts) + 1


@together
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "choices", [{}, NAMED, {"ngrams": (1, 2), "hash_bits": 18}], ids=["words", "pairs", "hashed"]
)
def test_what_can_be_told_apart_is_told_apart(classes, choices):
    def separable(seed):
        random = np.random.default_rng(seed)
        codes = random.integers(0, classes, 600)
        shared = [[f"s{j}" for j in random.integers(0, 200, 6)] for _ in codes]
        own = [[f"own{k}x{j}" for j in random.integers(0, 15, 2)] for k in codes]
        return [" ".join(a + b) for a, b in zip(shared, own, strict=True)], [f"c{k}" for k in codes]

    stream = learned(*separable(0), range(50, 600, 50), **choices)
    texts, labels = separable(1)
    right = (stream.model().predict(texts) == np.array(labels, dtype=object)).mean()
    assert right > 0.95
    assert stream.curve[-1][1] < 0.5 * stream.curve[0][1]


def test_memory_of_hashed_words_does_not_grow():
    stream = SoftmaxStream(TextSettings(hash_bits=6))
    for i in range(20):
        stream.partial_fit([" ".join(f"w{i}x{j}" for j in range(50)), "other"], ["a", "b"])
    assert len(stream.model().vocabulary) <= 64


def test_the_default_hashes_pairs_of_words():
    stream = SoftmaxStream()
    assert stream.settings == TextSettings(ngrams=(1, 2), hash_bits=22)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(InputError, match="rate must be above 0"):
        SoftmaxStream(rate=rate)


def test_choices_that_a_stream_has_no_place_for_are_refused():
    with pytest.raises(InputError, match="cannot count unknown words"):
        SoftmaxStream(TextSettings(vocabulary=["a"], count_unknown=True))
    with pytest.raises(InputError, match="unknown term frequency `logs`; did you mean `log`"):
        SoftmaxStream(frequency="logs")


@BOTH
def test_a_model_of_one_class_or_none_is_refused(choices):
    stream = SoftmaxStream(TextSettings(**choices))
    with pytest.raises(NoData, match="two classes or more"):
        stream.model()
    stream.partial_fit(["a text", "another"], ["only", "only"])
    with pytest.raises(NoData, match="two classes or more"):
        stream.model()
    stream.partial_fit(["weightless"], ["other"], [0.0])
    with pytest.raises(NoData, match="two classes or more"):
        stream.model()


BAD = {
    "fewer labels": (["a", "b"], ["x"], None, LengthMismatch, "2 documents but 1 labels"),
    "more weights": (["a"], ["x"], [1.0, 2.0], LengthMismatch, "1 documents but 2 weights"),
    "negative weight": (["a", "b"], ["x", "y"], [1.0, -1.0], InputError, "weight"),
    "weight not a number": (["a", "b"], ["x", "y"], [1.0, math.nan], InputError, "weight"),
    "text missing": (["a", None], ["x", "y"], None, InputError, "text is null"),
    "label missing": (["a", "b"], ["x", None], None, InputError, "label is empty"),
    "text a number": (["a", 3], ["x", "y"], None, InputError, "3"),
}


@together
@BOTH
@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_plain_words_and_nothing_is_learned(name, choices):
    texts, labels, weights, error, words = BAD[name]
    stream = learned(["one text", "two"], ["x", "y"], **choices)
    before = stream.model().score(["one two"])[0]
    with pytest.raises(error, match=words):
        stream.partial_fit(texts, labels, weights)
    np.testing.assert_array_equal(stream.model().score(["one two"])[0], before)
    assert stream.classes_ == ("x", "y")


def test_texts_without_labels_are_refused():
    with pytest.raises(NoData, match="no labels"):
        SoftmaxStream(TextSettings()).learn([Batch(["a"], None, None)])


# Texts that come class by class.


def sorted_toy(n):
    """Texts of two classes, those of one before those of the other; the same mixed; and new ones."""
    texts, labels = toy(5, n, classes=2)
    orders = np.argsort(labels, kind="stable"), np.random.default_rng(0).permutation(n)
    by_class, mixed = (([texts[i] for i in order], [labels[i] for i in order]) for order in orders)
    return by_class, mixed, toy(6, 400, classes=2)


def accuracy(model, texts, labels):
    return np.mean(model.predict(texts) == np.array(labels))


def trained(texts, labels):
    return textodds.train(texts, labels, learner="softmax", stream=True)


def test_texts_that_come_class_by_class_are_shuffled():
    by_class, mixed, new = sorted_toy(3000)
    models = trained(*by_class), trained(*mixed)
    shares = [accuracy(model, *new) for model in models]
    assert shares[0] == pytest.approx(shares[1], abs=0.05)
    assert accuracy(learned(*by_class, **HASHED).model(), *new) < min(shares) - 0.1
    losses = [model.info["fit"]["log_loss_before_learning"] for model in models]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


def test_more_texts_in_order_than_are_shuffled_are_warned_of(monkeypatch):
    monkeypatch.setattr(stream, "BUFFER", 200)
    monkeypatch.setattr(stream.shuffled, "__defaults__", (200, 0))
    by_class, mixed, _ = sorted_toy(3000)
    with pytest.warns(InOrder, match="come class by class: the label changes 1 times in 3,000 texts"):
        model = trained(*by_class)
    assert "log_loss_before_learning" not in model.info["fit"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trained(*mixed).info["fit"]["log_loss_before_learning"] > 0


def test_as_many_as_are_shuffled_together_come_in_a_random_order(monkeypatch):
    monkeypatch.setattr(stream, "BUFFER", 3000)
    monkeypatch.setattr(stream.shuffled, "__defaults__", (3000, 0))
    by_class, mixed, _ = sorted_toy(3000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = [trained(*texts).info["fit"]["log_loss_before_learning"] for texts in (by_class, mixed)]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


def test_the_warning_points_to_who_asked_and_the_command_prints_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stream, "BUFFER", 200)
    monkeypatch.setattr(stream.shuffled, "__defaults__", (200, 0))
    (texts, labels), _, _ = sorted_toy(1000)
    with pytest.warns(InOrder) as caught:
        trained(texts, labels)
    assert caught[0].filename == __file__
    lines = [f"{label},{text}" for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["label,text", *lines]), encoding="utf-8")
    command = ["train", str(tmp_path / "a.csv"), "--stream", "-o", str(tmp_path / "m.textodds")]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "warning: the texts come class by class" in said.err
    assert "texts came class by class" in said.out + said.err
    assert "log-loss" not in said.out + said.err
    assert main([*command, "--json"]) == 0
    assert "log_loss" not in capsys.readouterr().out


@pytest.mark.slow
def test_sixty_thousand_texts_in_the_order_of_their_labels_are_warned_of():
    texts, labels = toy(7, 60_000, classes=2)
    order = np.argsort(labels, kind="stable").tolist()
    with pytest.warns(InOrder, match="1 times in 60,000 texts, and 20,000 are shuffled"):
        model = trained([texts[i] for i in order], [labels[i] for i in order])
    assert "log_loss_before_learning" not in model.info["fit"]


@together
@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_shuffling_keeps_every_row_once_however_they_are_cut(step):
    def rows(step):
        for start in range(0, 300, step):
            numbers = np.arange(start, min(start + step, 300))
            yield Batch([str(i) for i in numbers], ["x"] * len(numbers), numbers.astype(np.float64))

    def found(step):
        batches = list(stream.shuffled(rows(step), 100))
        weights = np.concatenate([batch.weights for batch in batches])
        texts = [text for batch in batches for text in batch.texts]
        assert [float(text) for text in texts] == weights.tolist()
        return texts

    assert sorted(map(int, found(step))) == list(range(300))
    assert found(step) == found(300) != [str(i) for i in range(300)]
