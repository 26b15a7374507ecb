"""What a model of a table says is a function of its recipe and its rows, never of the way it got there."""

from functools import cache

import numpy as np
import pytest

import textodds
from pairs import pairwise
from textodds.errors import InputError, NegativeCount, NotLearned

NUMBERS, CATEGORIES = ("height", "rain", "money"), ("colour", "soil")
KINDS = {"height": "gaussian", "rain": "bins", "money": "gaussian", "note": "text", "embedding": "vector"}
LEARNERS = {
    "mixed": (*NUMBERS, *CATEGORIES, "note"),
    "mixed:calibrate=false": (*NUMBERS, *CATEGORIES),
    "gaussian": NUMBERS,
    "categorical": CATEGORIES,
    "table": CATEGORIES,
    "lda": NUMBERS,
    "qda:shrinkage=0.1": NUMBERS,
    "softmax:C=1": (*NUMBERS, *CATEGORIES),
    "softmax:C=2": ("height", "soil", "note", "embedding"),
    "mixed:alpha=0.5": ("rain", "soil", "embedding"),
    "gaussian:smoothing=1e-8": ("height", "embedding"),
    "lda:shrinkage=0.2": ("height", "embedding"),
}
CLASSES = ("ash", "birch", "cedar")


@cache
def pool(n, seed):
    """Rows of three classes with labels and weights: numbers of all sizes, gaps, and rows that come twice."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        k = int(random.choice(3, p=[0.5, 0.3, 0.2]))
        row = {
            "height": float(random.normal(10 + 2 * k, 2)),
            "rain": 0.0 if random.random() < 0.5 else float(random.exponential(1 + k)),
            "money": float(random.normal(k) * 10.0 ** random.integers(-3, 7)),
            "colour": str(random.choice(["red", "green", "blue", "grey"][k : k + 2])),
            "soil": str(random.choice(["sand", "clay", "loam"], p=np.roll([0.6, 0.3, 0.1], k))),
            "note": " ".join(random.choice(["Leaf", "bark", "TALL", "Ünï", "of"][k:], random.integers(0, 6))),
        }
        rows.append((row, CLASSES[k], float(random.choice([1.0, 1.0, 1.0, 0.5, 2.0, 1 / 3]))))
        for name in (*NUMBERS, *CATEGORIES):
            row[name + "?"] = None if random.random() < 0.08 else row[name]
        row["embedding"] = row["embedding?"] = [row["height"] / 10, 0.25 * k, float(len(rows) % 7)]
    return rows + rows[:5]


def columns_of(learner, rows):
    """The rows with the columns of a learner, some values missing where that may be."""
    names, whole = LEARNERS[learner], learner.startswith(("lda", "qda"))
    table = {
        name: [row[name if whole or name == "note" else name + "?"] for row, *_ in rows] for name in names
    }
    return table, [label for _, label, _ in rows], [weight for *_, weight in rows]


def trained(learner, rows, like=None, **more):
    """A model of rows, by the recipe of another, or of a learner."""
    if like is not None:
        return textodds.train(*columns_of(learner, rows), like=like, **more)
    kinds = {name: KINDS[name] for name in LEARNERS[learner] if name in KINDS}
    if not learner.startswith("mixed"):
        kinds = {name: "number" if name in NUMBERS else kind for name, kind in kinds.items()}
    return textodds.train(*columns_of(learner, rows), learner=learner, columns=kinds, **more)


def changed(learner, model, rows, sign):
    (model.learn if sign > 0 else model.forget)(*columns_of(learner, rows))


def asked(learner):
    """Rows to ask about."""
    return columns_of(learner, pool(40, 99))[0]


def assert_same(learner, model, other):
    """The same to the last bit: calibrated answers, held-out ones, and what a file has of the statistics."""
    assert model.classes_ == other.classes_
    assert model.class_documents == other.class_documents
    questions = asked(learner)
    np.testing.assert_array_equal(model.predict_proba(questions), other.predict_proba(questions))
    if not learner.startswith("softmax"):  # which is no density
        np.testing.assert_array_equal(model.log_joint(questions), other.log_joint(questions))
    assert (model.held_out is None) == (other.held_out is None)
    if model.held_out is not None:
        for name, array in other.held_out.arrays().items():
            np.testing.assert_array_equal(model.held_out.arrays()[name], array)
    assert all(mine == theirs for mine, theirs in zip(model.tally.parts, other.tally.parts, strict=True))


def run(learner, seed, **more):
    """One sequence of changes, and training on what is left in the end."""
    random = np.random.default_rng(seed)
    rows = pool(400, seed)
    order = random.permutation(len(rows)).tolist()
    inside, outside = order[:310], order[310:]
    model = trained(learner, [rows[i] for i in inside], **more)
    for _ in range(4):
        kind = random.choice(["learn", "forget", "merge", "subtract"])
        size = int(random.integers(1, 20) if kind in ("learn", "forget") else random.integers(20, 60))
        source, target = (outside, inside) if kind in ("learn", "merge") else (inside, outside)
        if len(source) <= size or (len(inside) < 302 + size and target is outside):
            continue
        some = [source.pop(int(random.integers(len(source)))) for _ in range(size)]
        if kind in ("learn", "forget"):
            changed(learner, model, [rows[i] for i in some], 1 if kind == "learn" else -1)
        else:
            try:
                other = trained(learner, [rows[i] for i in some], model, **more)
            except InputError:  # too few for a model of their own
                source.extend(some)
                continue
            model = model + other if kind == "merge" else model - other
        target.extend(some)
    assert len(inside) >= 300
    return model, trained(learner, [rows[i] for i in inside], model, **more)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(2))
def test_any_way_to_the_same_rows_gives_the_same_answers(learner, seed):
    model, whole = run(learner, seed)
    if not learner.startswith("softmax"):  # which is right as it is, or not
        assert (model.calibration is not None) == (learner in ("mixed", "mixed:alpha=0.5"))
    assert model.held_out is not None
    assert_same(learner, model, whole)


@pytest.mark.parametrize("learner", [name for name in LEARNERS if not name.startswith("softmax")])
def test_without_rows_all_but_what_was_calibrated_is_the_same_on_any_way(learner):
    model, whole = run(learner, 7, documents=False)
    questions = asked(learner)
    assert model.corpus is whole.corpus is None
    np.testing.assert_array_equal(
        model.predict_proba(questions, calibrate=False), whole.predict_proba(questions, calibrate=False)
    )
    assert all(mine == theirs for mine, theirs in zip(model.tally.parts, whole.tally.parts, strict=True))


@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")  # of some draws a class has few rows
@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_many_ways_to_the_same_rows_give_the_same_answers(learner):
    for seed in range(100, 112):
        assert_same(learner, *run(learner, seed))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_saved_model_goes_on_as_if_it_had_not_been(learner, tmp_path):
    rows = pool(330, 5)
    model = trained(learner, rows[:320])
    model.save(tmp_path / "model")
    opened = textodds.load(tmp_path / "model")
    for each in (model, opened):
        changed(learner, each, rows[320:], 1)
        changed(learner, each, rows[10:20], -1)
    assert_same(learner, model, opened)
    opened.save(tmp_path / "again")
    model.save(tmp_path / "other")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("learner", ["mixed", "table", "qda:shrinkage=0.1"])
def test_forgetting_leaves_no_trace_in_the_file(learner, tmp_path):
    rows = pool(320, 6)
    model = trained(learner, rows, typical=True)
    model.save(tmp_path / "before")
    stranger = dict.fromkeys(NUMBERS, 12345.678) | {"colour": "zzqxcolour", "soil": "zzqxsoil"}
    stranger |= {name + "?": value for name, value in stranger.items()} | {"note": "zzqxnote of zzqxnote"}
    changed(learner, model, [(stranger, "ash", 1.0)], 1)
    model.save(tmp_path / "between")
    changed(learner, model, [(stranger, "ash", 1.0)], -1)
    model.save(tmp_path / "after")
    between, after = (tmp_path / "between").read_bytes(), (tmp_path / "after").read_bytes()
    trace = np.float64(12345.678).tobytes() if learner.startswith("qda") else b"zzqx"
    assert trace in between
    assert trace not in after
    assert after == (tmp_path / "before").read_bytes()


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_row_that_was_never_learned_cannot_be_forgotten(learner):
    """Also where all of its values, and as many rows of its label, were."""
    rows = pool(310, 8)
    model = trained(learner, rows)
    before = model.predict_proba(asked(learner))
    (row, label, weight), other = rows[0], next(name for name in CLASSES if name != rows[0][1])
    mixed = {**row, "height": rows[1][0]["height"], "height?": 10.0, "soil": "peat", "soil?": "peat"}
    for stranger in [(row, other, weight), (row, label, 0.125), (mixed, label, weight)]:
        with pytest.raises(NotLearned, match="was not learned as"):
            changed(learner, model, [stranger], -1)
    with pytest.raises(NotLearned):
        changed(learner, model, [rows[20]] * 40, -1)
    np.testing.assert_array_equal(model.predict_proba(asked(learner)), before)
    assert len(model.corpus) == len(rows)


@pairwise
@pytest.mark.parametrize("learner", ["gaussian", "lda", "qda:shrinkage=0.1", "mixed"])
@pytest.mark.parametrize("documents", [True, False])
@pytest.mark.parametrize("size", [1e6, 1.7e12, 1e30, 9.9e99, -1e99, 5e-324, 1e-200])
def test_a_number_of_any_size_is_forgotten_without_a_trace(learner, documents, size):
    rows = pool(150, 9)
    model = trained(learner, rows, documents=documents)
    before, statistics = model.predict_proba(asked(learner)), model.tally
    odd = {**rows[0][0], **dict.fromkeys(NUMBERS, size), **{name + "?": size for name in NUMBERS}}
    odd["height"] = odd["height?"] = 11.0
    changed(learner, model, [(odd, "ash", 1.0), (odd, "ash", 1 / 3)], 1)
    changed(learner, model, [(odd, "ash", 1 / 3), (odd, "ash", 1.0)], -1)
    np.testing.assert_array_equal(model.predict_proba(asked(learner)), before)
    assert all(mine == theirs for mine, theirs in zip(model.tally.parts, statistics.parts, strict=True))


def test_without_rows_a_calibration_is_said_to_be_that_of_before():
    rows = pool(320, 10)
    model = trained("mixed", rows[:300], documents=False)
    slopes = model.calibration.slopes
    np.testing.assert_array_equal(slopes, trained("mixed", rows[:300]).calibration.slopes)
    assert model.held_out is not None
    assert "earlier" not in model.info
    changed("mixed", model, rows[300:], 1)
    assert model.info["earlier"] is True
    assert model.held_out is None
    np.testing.assert_array_equal(model.calibration.slopes, slopes)
    with pytest.raises(NegativeCount):
        changed("mixed", model, [(rows[0][0] | {"soil?": "peat"}, "ash", 1.0)], -1)


def test_rows_are_kept_of_models_that_are_merged_if_both_have_them(tmp_path):
    rows = pool(320, 11)
    one = trained("mixed", rows[:200])
    two = trained("mixed", rows[200:], like=one, documents=False)
    assert (one + two).corpus is None
    assert (one + two).info["earlier"] is True
    one.save(tmp_path / "model", documents=False)
    assert not textodds.load(tmp_path / "model").has_documents
    three = trained("mixed", rows[200:], like=one)
    assert len((one + three).corpus) == len(rows)


def test_calibration_begins_with_enough_rows_and_ends_with_too_few():
    rows = pool(150, 12)
    model = trained("mixed", rows[:90])
    assert "takes 100 rows" in model.info["uncalibrated"]
    changed("mixed", model, rows[90:], 1)
    assert model.calibration is not None
    assert "uncalibrated" not in model.info
    changed("mixed", model, rows[90:], -1)
    assert model.calibration is None


def test_typical_rows_follow_the_rows():
    rows = pool(320, 13)
    model = trained("mixed", rows[:300], typical=True)
    changed("mixed", model, rows[300:], 1)
    whole = trained("mixed", rows, model, typical=True)
    mine, theirs = (each.familiarity(asked("mixed")) for each in (model, whole))
    assert [each.p_value for each in mine] == [each.p_value for each in theirs]


def test_a_new_class_may_come_and_go():
    rows = pool(320, 14)
    model = trained("mixed", rows)
    before = model.predict_proba(asked("mixed"))
    new = [(row, "date palm", weight) for row, _, weight in pool(40, 15)]
    changed("mixed", model, new, 1)
    assert_same("mixed", model, trained("mixed", rows + new, model))
    changed("mixed", model, new, -1)
    np.testing.assert_array_equal(model.predict_proba(asked("mixed")), before)


def test_columns_that_the_model_does_not_use_are_not_kept():
    rows = pool(120, 16)
    table, labels, weights = columns_of("mixed", rows)
    kinds = {name: KINDS[name] for name in LEARNERS["mixed"] if name in KINDS}
    model = textodds.train(table, labels, weights, columns=kinds | {"colour": "ignore"})
    assert set(model.corpus.kinds) == {*LEARNERS["mixed"]} - {"colour"}


def test_of_many_rows_that_are_alike_the_sample_has_its_share():
    """All rows of one table are of two kinds, and the smallest hashes of one kind alone."""
    table = {"side": ["north", "south"] * 3000}
    model = textodds.train(table, ["a", "b"] * 3000, learner="categorical")
    labels = model.corpus.sample().label_list()
    assert len(labels) == 2000
    assert 900 < labels.count("a") < 1100
