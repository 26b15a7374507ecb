"""What only models of tables have, over every learner of tables, then what each must be by hand."""

import copy
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

import textodds
from model_cases import CATEGORIES, NUMBERS, OF_TABLES, TREES, rows_of_trees, same_statistics
from pairs import together
from textodds.data import read
from textodds.errors import InputError, NegativeCount, NoData, Shrunk, TooFewRows
from textodds.learn.registry import learner_named
from textodds.learn.tables import JointTableLearner, MixedLearner
from textodds.model.tables.blocks import Bins
from textodds.model.tables.table_tally import TableTally
from textodds.training.table_columns import edges_of, prefers_bins
from textodds.training.tables import train_table

CLASSES = TREES
LEARNERS = {case.name.removesuffix("-of-numbers"): case for case in OF_TABLES}
FULL = ("lda", "qda")
every = pytest.mark.parametrize("name", LEARNERS)


def data(name, n=120, seed=0):
    """The rows of a learner's columns, and their labels."""
    return LEARNERS[name].data(n, seed)


def model_of(name):
    """The model of a learner on its rows; not to be changed."""
    return LEARNERS[name].model


def new_rows(name):
    """Rows that were not learned, and odd ones."""
    return LEARNERS[name].new


@every
def test_columns_of_a_table_are_answered_as_rows(name):
    model, rows = model_of(name), new_rows(name)
    table = {column: [row[column] for row in rows] for column in rows[0]}
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(rows))


@together
@every
def test_what_is_left_out_of_a_row_is_missing(name):
    if name in FULL:
        with pytest.raises(InputError, match="`height`"):
            model_of(name)({"rain": 1.0})
        return
    row = next(iter(new_rows(name)))
    first = next(iter(row))
    assert model_of(name)({first: row[first]}) == model_of(name)({**dict.fromkeys(row), first: row[first]})


@every
def test_evidence_is_the_number_of_columns_that_are_there(name):
    model = model_of(name)
    row = {column: value for column, value in data(name)[0][0].items() if value is not None}
    assert model(row).evidence == len(row)
    if name not in FULL:
        first = next(iter(row))
        assert model({first: row[first]}).evidence == 1


@every
def test_batches_give_what_the_whole_gives(name):
    model = model_of(name)
    rows, labels = data(name)
    parts = [slice(0, 31), slice(31, 60), slice(60, 120)]
    batches = [next(iter(model.read(rows[part], labels[part], labelled=True))) for part in parts]
    same_statistics(TableTally.count(batches, model.recipe.blocks), model.tally)
    np.testing.assert_array_equal(
        np.concatenate([model.score_batch(batch)[0] for batch in batches]), model.score(rows)[0]
    )
    if name == "softmax-of-columns":
        with pytest.raises(textodds.errors.Unsupported, match="not how rows come about"):
            model.log_joint(rows)
        return
    np.testing.assert_array_equal(
        np.concatenate([model.density.log_joint(batch) for batch in batches]), model.log_joint(rows)
    )


@every
def test_learning_and_forgetting_again_gives_the_model_before(name):
    model, more = copy.copy(model_of(name)), data(name, 30, seed=2)
    model.learn(*more)
    assert model.tally.n_documents == 150
    assert (
        np.abs(model.predict_proba(new_rows(name)) - model_of(name).predict_proba(new_rows(name))).max() > 0
    )
    model.forget(*more)
    LEARNERS[name].assert_same(model, model_of(name))


@together
@every
def test_what_was_never_learned_cannot_be_forgotten_and_nothing_changes(name):
    model = copy.copy(model_of(name))
    before = model.score(new_rows(name))[0]
    many = data(name, 300, seed=3)
    with pytest.raises(NegativeCount):
        model.forget(*many)
    np.testing.assert_array_equal(model.score(new_rows(name))[0], before)


@together
@every
def test_forgetting_everything_is_refused_and_nothing_changes(name):
    model = copy.copy(model_of(name))
    with pytest.raises(InputError, match="forget every row"):
        model.forget(*data(name))
    assert model.tally.n_documents == 120


@every
@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
def test_a_class_may_come_while_learning_and_go_while_forgetting(name):
    model = copy.copy(model_of(name))
    rows, _ = data(name, 12, seed=4)
    model.learn(rows, ["yew"] * 12)
    assert model.classes_ == (*CLASSES, "yew")
    shares = model.predict_proba(new_rows(name))
    assert shares.shape == (len(new_rows(name)), 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert (shares[:, 3] > 0).any()
    model.forget(rows, ["yew"] * 12)
    assert model.classes_ == CLASSES
    same_statistics(model.tally, model_of(name).tally)


@together
@pytest.mark.parametrize("name", [name for name in LEARNERS if "colour" in LEARNERS[name].columns])
def test_a_category_may_come_while_learning(name):
    model = copy.copy(model_of(name))
    rows = [{**row, "colour": "purple", "soil": "sand", "side": "north"} for row in data(name)[0][:20]]
    row = {**rows[0], **dict.fromkeys(set(rows[0]) - {"colour"})}
    before = model(row).probabilities["cedar"]
    model.learn(rows, ["cedar"] * 20)
    assert model(row).probabilities["cedar"] > before + 0.05


@every
def test_permuting_columns_changes_nothing_but_rounding(name):
    rows, labels = data(name)
    turned = [dict(reversed(row.items())) for row in rows]
    expected = model_of(name).predict_log_proba(new_rows(name))
    np.testing.assert_allclose(
        LEARNERS[name].train(turned, labels).predict_log_proba(new_rows(name)), expected, rtol=1e-6, atol=1e-6
    )
    turned = [dict(reversed(row.items())) for row in new_rows(name)]
    np.testing.assert_array_equal(model_of(name).predict_log_proba(turned), expected)


@every
def test_half_weights_everywhere_change_only_what_smoothing_is_worth(name):
    rows, labels = data(name)
    half = LEARNERS[name].train_like(model_of(name), rows, labels, [0.5] * 120)
    assert half.tally.n_documents == 60
    assert half.classes_ == CLASSES
    half.learn(rows, labels, weights=[0.5] * 120)
    same_statistics(half.tally, model_of(name).tally)


@every
def test_explanations_add_up_to_the_log_odds(name):
    model = model_of(name)
    for row in new_rows(name):
        given = {column: value for column, value in row.items() if value is not None}
        found = model.explain(given)
        log_p = dict(zip(model.classes_, model.predict_log_proba([row])[0], strict=True))
        assert found.label == model(row).label
        assert found.log_odds == pytest.approx(log_p[found.label] - log_p[found.rival], rel=1e-9, abs=1e-9)
        total = found.start + sum(value for _, _, value in found.columns)
        assert total == pytest.approx(found.log_odds, rel=1e-9, abs=1e-9)
        sizes = [abs(value) for _, _, value in found.columns]
        assert sizes == sorted(sizes, reverse=True)


@every
def test_an_explanation_against_a_given_rival_turns_its_sign_with_the_classes(name):
    row = data(name)[0][0]
    there = model_of(name).explain(row, "ash", "cedar")
    back = model_of(name).explain(row, "cedar", "ash")
    assert (there.log_odds, there.prior) == pytest.approx((-back.log_odds, -back.prior))
    for label, rival in (("ash", "ash"), ("oak", None)):
        with pytest.raises(InputError, match=label):
            model_of(name).explain(row, label, rival)


@every
def test_a_copy_in_files_gives_the_same_model(name, tmp_path):
    rows, labels = data(name)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, part in zip(paths, (slice(0, 40), slice(40, 120)), strict=True):
        lines = [",".join([*rows[0], "label"])]
        lines += [
            ",".join(["" if value is None else repr(value).strip("'") for value in row.values()] + [label])
            for row, label in zip(rows[part], labels[part], strict=True)
        ]
        path.write_text("\n".join(lines) + "\n")
    read = train_table(paths, learner=LEARNERS[name].learner, columns=LEARNERS[name].settings)
    same_statistics(read.tally, model_of(name).tally)
    if name != "mixed-calibrated":
        LEARNERS[name].assert_same(read, model_of(name))


# What a model must be, by hand.


def by_hand(rows, labels, new):
    """log p(row, class) of MixedLearner without calibration, from scipy's distributions."""
    out = np.zeros((len(new), 3))
    words = sorted({word for row in rows for word in row["note"].split()})

    def counts(text):
        return np.array([text.split().count(word) for word in words])

    for k, label in enumerate(CLASSES):
        own = [row for row, mine in zip(rows, labels, strict=True) if mine == label]
        out[:, k] += np.log(len(own) / len(rows))
        heights = np.array([row["height"] for row in own if row["height"] is not None])
        overall = np.var([row["height"] for row in rows if row["height"] is not None])
        spread = np.sqrt(heights.var() + 1e-9 * overall)
        total = sum(counts(row["note"]) for row in own) + 1.0
        for i, row in enumerate(new):
            if row["height"] is not None:
                out[i, k] += stats.norm.logpdf(row["height"], heights.mean(), spread)
            for column in CATEGORIES:
                cells = sorted({str(each[column]) for each in rows})
                if str(row[column]) in cells:
                    here = sum(str(each[column]) == str(row[column]) for each in own)
                    out[i, k] += np.log((here + 1) / (len(own) + len(cells)))
            x = counts(row["note"])
            out[i, k] += stats.multinomial.logpmf(x, x.sum(), total / total.sum())
    return out


def test_mixed_naive_bayes_equals_the_sum_of_scipys_distributions():
    rows, labels = rows_of_trees(90)
    columns = {"note": "text", "height": "gaussian", "rain": "ignore"}
    model = train_table(list(rows), list(labels), learner=MixedLearner(calibrate=False), columns=columns)
    new = [{**row, "note": row["note"] or ""} for row in new_rows("mixed")]
    expected = by_hand(rows, labels, new)
    np.testing.assert_allclose(model.log_joint(new), expected, rtol=1e-11)
    density, plain = model.log_density(new), logsumexp(expected, axis=1)
    seen = {
        name: {row[name] for row in rows} | {None}
        for name in rows[0]
        if name not in ("height", "rain", "note")
    }
    words = {word for row in rows for word in (row["note"] or "").lower().split()}
    known = np.array(
        [
            all(row[name] in values for name, values in seen.items())
            and words >= set(row["note"].lower().split())
            for row in new
        ]
    )
    np.testing.assert_allclose(density[known], plain[known], rtol=1e-11)
    assert (density[~known] < plain[~known]).all()  # what was never seen is less likely
    assert known.sum() > 10 > (~known).sum() > 0
    posterior = expected - logsumexp(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(new), posterior, rtol=1e-9, atol=1e-11)


def test_intervals_equal_shares_of_their_counts():
    rows, labels = rows_of_trees(90)
    rain = [row["rain"] for row in rows]
    model = train_table(
        {"rain": rain},
        list(labels),
        learner=MixedLearner(calibrate=False, alpha=0.5),
        columns={"rain": "bins"},
    )
    (edges,) = model.recipe.blocks[0].edges
    known = sorted({value for value in rain if value is not None})

    def place(value):
        return "missing" if value is None else sum(value > edge for edge in edges)

    seen = sorted({place(value) for value in rain}, key=str)
    for value in [*known[:5], known[-1], None]:
        expected = []
        for label in CLASSES:
            own = [place(each) for each, mine in zip(rain, labels, strict=True) if mine == label]
            expected.append(np.log(1 / 3 * (own.count(place(value)) + 0.5) / (30 + 0.5 * len(seen))))
        np.testing.assert_allclose(model.log_joint({"rain": [value]})[0], expected, rtol=1e-12)


@pytest.mark.parametrize("choices", [{"ngrams": (1, 2), "min_df": 2}, {"min_df": 2}], ids=str)
def test_a_text_column_alone_equals_the_model_of_the_texts(choices):
    rows, labels = rows_of_trees(90)
    texts = [row["note"] for row in rows]
    table = train_table(
        {"note": texts},
        list(labels),
        learner=MixedLearner(calibrate=False, word_alpha=0.3),
        columns={"note": "text"},
        words=choices,
    )
    plain = textodds.train(texts, list(labels), learner="multinomial:alpha=0.3", calibrate=False, **choices)
    new = [row["note"] for row in new_rows("mixed")[:-1]]
    np.testing.assert_allclose(table.predict_proba({"note": new}), plain.predict_proba(new), rtol=1e-10)
    if "ngrams" not in choices:  # pairs of words are no distribution of texts
        np.testing.assert_allclose(table.log_joint({"note": new}), plain.log_joint(new), rtol=1e-10)


def test_categorical_naive_bayes_equals_mixed_naive_bayes_of_categories():
    rows, labels = data("categorical")
    mixed = train_table(rows, labels, learner=MixedLearner(missing="ignore", calibrate=False))
    np.testing.assert_allclose(
        mixed.predict_proba(new_rows("categorical")),
        model_of("categorical").predict_proba(new_rows("categorical")),
        rtol=1e-12,
    )


def test_gaussian_naive_bayes_is_the_sum_of_scipys_normal_densities():
    rows, labels = data("gaussian")
    expected = np.zeros((len(new_rows("gaussian")), 3))
    for k, label in enumerate(CLASSES):
        expected[:, k] += np.log(1 / 3)
        for column in NUMBERS:
            every_value = [row[column] for row in rows if row[column] is not None]
            own = [row[column] for row, mine in zip(rows, labels, strict=True)
                   if mine == label and row[column] is not None]  # fmt: skip
            spread = np.sqrt(np.var(own) + 1e-9 * np.var(every_value))
            for i, row in enumerate(new_rows("gaussian")):
                if row[column] is not None:
                    expected[i, k] += stats.norm.logpdf(row[column], np.mean(own), spread)
    np.testing.assert_allclose(
        model_of("gaussian").log_joint(new_rows("gaussian")), expected, rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("covariance", ["lda", "qda"])
def test_discriminants_are_scipys_multivariate_normal_densities(covariance):
    rows, labels = data(covariance)
    X, new = (np.array([list(row.values()) for row in each]) for each in (rows, new_rows(covariance)[:-1]))
    y = np.array(labels)
    model = train_table(rows, labels, learner=learner_named(covariance, shrinkage=0.2))
    means = [X[y == label].mean(axis=0) for label in CLASSES]
    pooled = sum(np.cov(X[y == label].T, bias=True) for label in CLASSES) / 3
    expected = []
    for k, label in enumerate(CLASSES):
        C = pooled if covariance == "lda" else np.cov(X[y == label].T, bias=True)
        sigma = 0.8 * C + 0.2 * np.diag(np.diag(C)) + np.diag(1e-9 * X.var(axis=0))
        expected.append(np.log(1 / 3) + stats.multivariate_normal.logpdf(new, means[k], sigma))
    np.testing.assert_allclose(model.log_joint(new_rows(covariance)[:-1]), np.transpose(expected), rtol=1e-9)


def test_a_full_table_is_the_table_of_counts_and_its_backoff():
    rows, labels = data("table")
    rows, labels = zip(
        *[(row, label) for row, label in zip(rows, labels, strict=True) if None not in row.values()],
        strict=True,
    )
    model = train_table(list(rows), list(labels), learner=JointTableLearner(alpha=2.0))
    for row in rows[:20]:
        expected = []
        for label in CLASSES:
            own = [each for each, mine in zip(rows, labels, strict=True) if mine == label]
            q = np.prod(
                [
                    (sum(each[column] == row[column] for each in own) + 1)
                    / (len(own) + len({each[column] for each in rows}))
                    for column in CATEGORIES
                ]
            )
            share = (sum(each == row for each in own) + 2 * q) / (len(own) + 2)
            expected.append(np.log(len(own) / len(rows) * share))
        np.testing.assert_allclose(model.log_joint([row])[0], expected, rtol=1e-12)


# Calibration.


def copies(n, seed, times, spread=1.5):
    """A number and a category that tell a little, and so many copies of them."""
    random = np.random.default_rng(seed)
    k = random.integers(0, 2, n)
    x = random.normal(k, spread)
    c = np.where(random.random(n) < 0.7, k, 1 - k)
    table = {f"x{i}": x.tolist() for i in range(times)}
    table |= {f"c{i}": [f"category {value}" for value in c] for i in range(times)}
    return table, [f"class {value}" for value in k]


def test_calibration_makes_what_is_counted_many_times_count_once():
    train, test = copies(1500, 0, 8), copies(3000, 1, 8)
    plain = train_table(*train, learner=MixedLearner(calibrate=False))
    calibrated = train_table(*train, learner=MixedLearner())
    loss, better = (model.evaluate(*test).log_loss for model in (plain, calibrated))
    once = train_table(*copies(1500, 0, 1), learner=MixedLearner(calibrate=False)).evaluate(
        *copies(3000, 1, 1)
    )
    assert loss > once.log_loss + 0.2
    assert better < once.log_loss + 0.01
    np.testing.assert_allclose(calibrated.slopes, 1 / 8, rtol=0.3)


def test_calibration_leaves_a_model_that_is_right_nearly_alone():
    train, test = copies(1900, 2, 1), copies(3000, 3, 1)
    plain = train_table(*train, learner=MixedLearner(calibrate=False))
    calibrated = train_table(*train, learner=MixedLearner())
    np.testing.assert_allclose(calibrated.slopes, 1, atol=0.25)
    np.testing.assert_allclose(calibrated.bias, 0, atol=0.15)
    losses = [model.evaluate(*test).log_loss for model in (plain, calibrated)]
    assert losses[1] == pytest.approx(losses[0], abs=0.004)


def test_calibration_changes_no_density():
    plain, calibrated = (
        train_table(*copies(300, 4, 3), learner=MixedLearner(calibrate=wanted)) for wanted in (False, True)
    )
    table = copies(20, 5, 3)[0]
    np.testing.assert_array_equal(calibrated.log_joint(table), plain.log_joint(table))
    assert np.abs(calibrated.predict_proba(table) - plain.predict_proba(table)).max() > 0.01


def test_calibration_does_not_depend_on_the_order_of_the_rows():
    """Five classes in turn, as in many a table that was made by design."""
    random = np.random.default_rng(0)
    k = np.arange(1000) % 5
    x = random.normal(k, 2)
    table, labels = {"x": x.tolist(), "y": x.tolist(), "z": x.tolist()}, [f"class {i}" for i in k]
    order = random.permutation(1000)
    shuffled = {name: [values[i] for i in order] for name, values in table.items()}
    there = train_table(shuffled, [labels[i] for i in order])
    assert there.slopes[0] < 0.6
    np.testing.assert_allclose(train_table(table, labels).slopes, there.slopes, rtol=0.1)


# What is chosen for a column.


def batch_of(values, labels=None):
    """One batch of a column of numbers."""
    values = np.asarray(values, dtype=np.float64)
    labels = ["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2) if labels is None else labels
    (batch,) = read({"x": values}, labels, columns={"x": "number"})
    return batch


def is_cut(values, labels=None):
    """Whether a column is cut into intervals."""
    return prefers_bins(batch_of(values, labels), "x", edges_of(np.asarray(values, dtype=np.float64)))


@together
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [10, 20, 30, 40, 100, 400, 4000])
def test_normal_numbers_stay_gaussian(n, seed):
    random = np.random.default_rng(seed)
    labels = ["ab"[k] for k in random.integers(0, 2, n)]
    assert not is_cut(random.normal([1e4 + 50 * (label == "a") for label in labels], 30), labels)


@together
@pytest.mark.parametrize("n", [8, 12, 20, 32, 50])
def test_few_rows_of_a_telling_number_are_learned_from(n):
    """Three standard deviations apart: the best rule is right in 93 % of cases."""
    random = np.random.default_rng(n)
    k, new = np.arange(n) % 2, np.arange(1000) % 2
    model = train_table({"x": random.normal(3 * k).tolist()}, [f"class {i}" for i in k])
    accuracy = model.evaluate({"x": random.normal(3 * new)}, [f"class {i}" for i in new]).accuracy
    assert accuracy > 0.75


@together
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "draw",
    [
        lambda random: np.where(random.random(600) < 0.7, 0.0, random.exponential(1000, 600)),
        lambda random: random.choice([1.0, 2.0, 5.0, 100.0], 600, p=[0.5, 0.3, 0.1, 0.1]),
        lambda random: random.pareto(1.0, 600),
        lambda random: np.concatenate([random.normal(-20, 1, 300), random.normal(20, 1, 300)]),
    ],
    ids=["many zeros", "few values", "a heavy tail", "two humps"],
)
def test_numbers_that_are_not_normal_are_cut(draw, seed):
    random = np.random.default_rng(seed)
    values = draw(random)
    random.shuffle(values)
    assert is_cut(values)


numbers = st.floats(-1e99, 1e99) | st.integers(-5, 5).map(float) | st.just(np.nan)


@given(st.lists(numbers, max_size=200))
def test_edges_ascend_and_every_number_lands_in_exactly_one_interval(values):
    values = np.array(values, dtype=np.float64)
    edges = edges_of(values)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    ends = [-np.inf, *edges.tolist(), np.inf]
    inside = np.array([[low < x <= high for low, high in itertools.pairwise(ends)] for x in values])
    known = ~np.isnan(values)
    if known.any():
        assert (inside[known].sum(axis=1) == 1).all()
        block = Bins(("x",), MixedLearner().categorical, (tuple(edges.tolist()),))
        coded = block.coded(batch_of(values))["x"]
        assert coded.codes[known].tolist() == inside[known].argmax(axis=1).tolist()
        assert (coded.codes[~known] == -1).all()


@given(st.lists(st.integers(-3, 3) | st.floats(-1e9, 1e9), min_size=1, max_size=200))
def test_a_frequent_number_has_an_interval_of_its_own(values):
    values = np.array(values, dtype=np.float64)
    edges = edges_of(values)
    places = np.searchsorted(edges, values, side="left")
    for value in np.unique(values):
        if (values == value).sum() >= max(8, len(values) / 32):
            assert set(values[places == places[values == value][0]]) == {value}


def test_rare_numbers_are_cut_into_about_equal_parts():
    values = np.random.default_rng(0).exponential(1, 3200)
    edges = edges_of(values)
    assert len(edges) == 31
    counts = np.bincount(np.searchsorted(edges, values, side="left"))
    assert (np.abs(counts - 100) <= 1).all()


def test_the_choices_are_told_with_their_reasons():
    rows, labels = rows_of_trees(90)
    table = {column: [row[column] for row in rows] for column in rows[0]}
    table |= {
        "name": [f"tree {i}" for i in range(90)],
        "empty": [None] * 90,
        "flag": [i % 2 == 0 for i in range(90)],
    }
    table["note"] = [f"tree number {i}: {note} and so on" for i, note in enumerate(table["note"])]
    model = train_table(table, list(labels))
    told = {choice.column: (choice.conditional, choice.why) for choice in model.recipe.choices}
    different = len(set(table["height"]) - {None})
    assert list(told) == list(table)
    assert told["height"] == ("Gaussian", f"numbers, {different} different")
    assert told["rain"][0].endswith(" intervals")
    assert told["colour"] == ("categorical", "4 different values")
    assert told["flag"] == ("categorical", "true or false")
    assert told["name"] == ("left out", "a different value in every row")
    assert told["empty"] == ("left out", "no values")
    assert told["note"][0] == "multinomial of words"
    assert told["note"][1].endswith(" words on average")


@together
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("gaussian", "Gaussian"),
        ("bins", "intervals"),
        ("category", "categorical"),
        ("text", "multinomial of words"),
        ("ignore", "left out"),
    ],
)
def test_what_users_say_of_a_column_is_done(what, expected):
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=60).round(1).tolist(), "y": random.normal(size=60).tolist()}
    model = train_table(table, ["a", "b"] * 30, columns={"x": what})
    (choice,) = [choice for choice in model.recipe.choices if choice.column == "x"]
    assert choice.conditional.endswith(expected)
    assert choice.why == "given"


def test_a_weight_of_two_equals_two_rows_in_the_choice_of_intervals():
    random = np.random.default_rng(0)
    values, labels = random.exponential(1, 200).tolist(), ["a", "b"] * 100
    weights = [2.0 if value > 1 else 1.0 for value in values]
    twice = [i for i, times in enumerate(weights) for _ in range(int(times))]
    learner, columns = MixedLearner(calibrate=False), {"x": "bins"}
    weighted = train_table({"x": values}, labels, weights, learner=learner, columns=columns)
    repeated = train_table(
        {"x": [values[i] for i in twice]}, [labels[i] for i in twice], learner=learner, columns=columns
    )
    assert weighted.recipe.blocks[0].edges == repeated.recipe.blocks[0].edges


# Refusals, and what is at the edge of them.


def small(n=40, seed=0, **more):
    """Two columns of numbers and one of categories, with labels."""
    random = np.random.default_rng(seed)
    k = np.arange(n) % 2
    table = {
        "a": random.normal(k).tolist(),
        "b": random.normal(-k).tolist(),
        "c": ["xyz"[i] for i in random.integers(0, 3, n)],
    }
    return {**table, **more}, [f"class {i}" for i in k]


def small_model(name="mixed", **more):
    """A model of them; the categories are left out for those that take numbers only."""
    table, labels = small(**more)
    columns = {} if name == "mixed" else {"c": "ignore"}
    return train_table(table, labels, learner=learner_named(name), columns=columns)


GAUSSIANS = ("gaussian", "lda", "qda")


def test_a_column_that_is_not_there_at_prediction_is_named():
    with pytest.raises(InputError, match="`b`"):
        small_model().predict({"a": [1.0], "c": ["x"]})


def test_a_column_that_is_almost_there_is_suggested():
    table, labels = small()
    model = train_table({"colour": table["c"], "a": table["a"]}, labels)
    with pytest.raises(InputError, match="`colour`") as refused:
        model.predict({"color": ["x"], "a": [1.0]})
    assert "did you mean `color`?" in refused.value.hint


def test_a_column_more_at_prediction_is_left_out_of_a_table_and_refused_in_a_row():
    model, row = small_model(), {"a": 1.0, "b": 0.5, "c": "x"}
    more = {name: [value] for name, value in row.items()} | {"other": [3]}
    np.testing.assert_array_equal(model.predict_proba(more), model.predict_proba([row]))
    with pytest.raises(InputError, match="there is no column `bb`"):
        model({**row, "bb": 3})


def test_rows_none_of_whose_columns_is_known_are_refused():
    """A typing error in every name would otherwise be answered with the prior."""
    with pytest.raises(InputError):
        small_model().predict([{"aa": 1.0, "bb": 2.0}])


def test_what_is_no_number_in_a_column_of_numbers_is_named():
    with pytest.raises(InputError, match="row 2: `b` is `much`, not a number"):
        small_model().predict({"a": [1.0, 2.0], "b": [1.0, "much"], "c": ["x", "x"]})
    with pytest.raises(InputError, match="`b` is `much`"):
        small_model()({"a": 1.0, "b": "much", "c": "x"})


def test_a_number_in_a_column_of_categories_is_a_category():
    table, labels = small()
    table["c"] = [{"x": 1, "y": 2, "z": 3}[value] for value in table["c"]]
    model = train_table(table, labels, columns={"c": "category"})
    row = {"a": 0.5, "b": 0.5}
    assert model({**row, "c": 3}) == model({**row, "c": "3"}) == model({**row, "c": 3.0})


@together
@pytest.mark.parametrize("learner", ["mixed", *GAUSSIANS])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e101])
def test_infinite_numbers_are_refused_and_named(learner, value):
    table, labels = small()
    table["b"][6] = value
    with pytest.raises(InputError, match="row 7: `b`"):
        train_table(table, labels, learner=learner_named(learner), columns={"c": "ignore"})
    with pytest.raises(InputError, match="row 1: `a`"):
        small_model(learner).predict({"a": [value], "b": [0.0], "c": ["x"]})


@pytest.mark.parametrize("value", [1e100, -1e100])
def test_the_largest_number_of_all_is_no_crash(value):
    model = small_model()
    assert np.isfinite(model.predict_proba({"a": [value], "b": [0.0], "c": ["x"]})).all()


@together
@pytest.mark.parametrize("learner", ["mixed", *GAUSSIANS])
def test_a_constant_column_tells_nothing(learner):
    table, labels = small(k=[2.5] * 40)
    columns = {"c": "ignore", "k": "number"}
    model = train_table(table, labels, learner=learner_named(learner), columns=columns)
    without = train_table(table, labels, learner=learner_named(learner), columns={**columns, "k": "ignore"})
    row = {"a": [0.3], "b": [0.1], "c": ["x"]}
    expected = without.predict_proba(row)
    for value in (2.5, 3.5, 1000.0, 1e6):
        tolerance = 0.02 if learner == "mixed" else 1e-6  # its kinds of evidence are weighed anew
        np.testing.assert_allclose(model.predict_proba({**row, "k": [value]}), expected, atol=tolerance)


@together
@pytest.mark.parametrize("learner", ["mixed", *GAUSSIANS])
@pytest.mark.parametrize("level", [0.0, 1.7e9])
def test_a_column_that_is_constant_in_one_class_only_is_no_trouble(learner, level):
    """Such as a time of payment, in seconds, that is 0 for those who did not pay."""
    table, labels = small()
    table["k"] = [level if label == "class 0" else 1.7e9 + 60.0 * i for i, label in enumerate(labels)]
    columns = {"c": "ignore"}
    model = train_table(table, labels, learner=learner_named(learner), columns=columns)
    assert np.isfinite(model.predict_proba(table)).all()


def test_a_class_of_one_row_is_learned_by_the_naive_learners():
    table, _ = small()
    labels = ["rare"] + ["usual"] * 39
    for name in ("mixed", "gaussian"):
        columns = {"c": "ignore"} if name == "gaussian" else {}
        model = train_table(table, labels, learner=learner_named(name), columns=columns)
        assert model.class_documents == {"rare": 1.0, "usual": 39.0}
        assert np.isfinite(model.predict_log_proba(table)).all()


def test_a_class_of_one_row_is_given_the_covariance_of_all_with_a_warning():
    table, _ = small()
    labels = ["rare"] + ["usual"] * 39
    with pytest.warns(Shrunk, match="`rare`"):
        model = train_table(table, labels, learner=learner_named("qda"), columns={"c": "ignore"})
    with pytest.raises(TooFewRows, match="`rare`"):
        train_table(table, labels, learner=learner_named("qda", shrinkage=0.0), columns={"c": "ignore"})
    assert np.isfinite(model.predict_log_proba(table)).all()


@pytest.mark.parametrize("name", ["lda", "qda"])
def test_more_columns_than_rows_are_shrunk_or_refused_as_asked(name):
    random = np.random.default_rng(0)
    table = {f"x{i}": random.normal(size=12).tolist() for i in range(20)}
    labels = ["a", "b"] * 6
    model = train_table(table, labels, learner=learner_named(name))
    assert model.recipe.blocks[0].conditional.shrinkage > 0
    assert np.isfinite(model.predict_log_proba(table)).all()
    with pytest.raises(TooFewRows, match="over 20 columns"):
        train_table(table, labels, learner=learner_named(name, shrinkage=0.0))


def test_typical_rows_of_a_model_with_barely_enough_rows_are_had_or_refused_in_their_own_words():
    random = np.random.default_rng(0)
    table = {f"x{i}": random.normal(size=12).tolist() for i in range(5)}
    labels, learner = ["a", "b"] * 6, learner_named("qda", shrinkage=0.0)
    assert train_table(table, labels, learner=learner).classes_ == ("a", "b")
    try:
        assert train_table(table, labels, learner=learner, typical=True).typical is not None
    except NoData as error:
        assert "typical" in error.problem  # noqa: PT017


def test_categories_never_seen_tell_nothing_unless_they_are_smoothed():
    table, labels = small()
    table = {"c": table["c"], "d": table["c"]}
    row = {"c": "never", "d": "z"}
    model = train_table(table, labels, learner=MixedLearner(calibrate=False))
    without = train_table({"d": table["d"]}, labels, learner=MixedLearner(calibrate=False))
    assert model(row).probabilities == pytest.approx(without({"d": "z"}).probabilities)
    uneven = [*labels[:30], *["class 0"] * 10]
    smooth = MixedLearner(calibrate=False, unseen="smooth", prior="uniform")
    shares = train_table({"c": table["c"]}, uneven, learner=smooth)({"c": "never"}).probabilities
    assert shares["class 1"] / shares["class 0"] == pytest.approx((25 + 4) / (15 + 4))


def test_a_column_without_values_is_left_out_and_said_to_be():
    table, labels = small(empty=[None] * 40)
    model = train_table(table, labels)
    assert [choice.conditional for choice in model.recipe.choices if choice.column == "empty"] == ["left out"]
    assert np.isfinite(model.predict_proba(table)).all()


@together
@pytest.mark.parametrize("what", ["number", "gaussian", "bins", "category", "text"])
def test_a_column_without_values_that_is_wanted_tells_nothing(what):
    table, labels = small(empty=[None] * 40)
    learner = MixedLearner(calibrate=False)
    model = train_table(table, labels, learner=learner, columns={"empty": what})
    without = train_table(table, labels, learner=learner, columns={"empty": "ignore"})
    row = {name: values[:1] for name, values in table.items()}
    for value in (None, 7.0, 1e6):
        np.testing.assert_allclose(
            model.predict_proba({**row, "empty": [value]}), without.predict_proba(row), atol=1e-6
        )


@pytest.mark.parametrize("name", ["lda", "qda"])
def test_a_discriminant_of_a_column_without_values_is_refused_and_the_column_named(name):
    table, labels = small(empty=[None] * 40)
    with pytest.raises(InputError, match="`empty`"):
        train_table(table, labels, learner=learner_named(name), columns={"empty": "number", "c": "ignore"})


@pytest.mark.parametrize("name", ["lda", "qda"])
def test_a_missing_number_is_refused_by_discriminants_and_named(name):
    table, labels = small()
    table["b"][3] = None
    with pytest.raises(InputError, match="row 4 has a missing number in column `b`"):
        train_table(table, labels, learner=learner_named(name), columns={"c": "ignore"})
    with pytest.raises(InputError, match="row 1 has no number in column `b`"):
        small_model(name).predict({"a": [1.0], "b": [None]})


def test_a_missing_number_is_named_by_its_row_in_the_data():
    n = 80_000
    values = np.random.default_rng(0).normal(size=n)
    values[70_000] = np.nan
    learner = learner_named("lda", shrinkage=0.1)
    with pytest.raises(InputError, match=r"row 70,?00[01]\b"):
        train_table({"a": values, "b": np.arange(n) * 1.0}, ["x", "y"] * (n // 2), learner=learner)


def test_opening_a_model_warns_of_nothing_that_was_said_in_training(tmp_path):
    table, _ = small()
    with pytest.warns(Shrunk):
        model = train_table(
            table, ["rare"] + ["usual"] * 39, learner=learner_named("qda"), columns={"c": "ignore"}
        )
    model.save(tmp_path / "model")
    assert textodds.load(tmp_path / "model").classes_ == ("rare", "usual")


@together
@pytest.mark.parametrize("name", ["mixed", *GAUSSIANS])
def test_one_class_is_always_the_answer(name):
    table, _ = small()
    columns = {} if name == "mixed" else {"c": "ignore"}
    model = train_table(table, ["only"] * 40, learner=learner_named(name), columns=columns)
    np.testing.assert_array_equal(model.predict_proba(table), np.ones((40, 1)))
    with pytest.raises(textodds.errors.Unsupported, match="one class"):
        model.explain({"a": 1.0, "b": 1.0})


@together
@pytest.mark.parametrize("name", ["mixed", "gaussian", "lda", "categorical", "table"])
def test_no_rows_are_said_to_be_none(name):
    with pytest.raises(NoData, match="no row"):
        train_table({"a": [], "b": []}, [], learner=learner_named(name))


@together
@pytest.mark.parametrize("name", ["mixed", "gaussian", "categorical", "table"])
def test_rows_without_any_weight_are_nothing_to_learn_from(name):
    table, labels = small()
    columns = {"c": "ignore"} if name == "gaussian" else {}
    with pytest.raises(NoData, match="weight above zero"):
        train_table(table, labels, [0.0] * 40, learner=learner_named(name), columns=columns)


def test_a_class_of_vanishing_weight_is_learned_or_left_out_of_all_columns():
    table, labels = small()
    weights = [1.0 if label == "class 0" else 1e-12 for label in labels]
    model = train_table(table, labels, weights)
    assert model.classes_ in (("class 0",), ("class 0", "class 1"))


def test_predicting_no_rows_gives_no_answers():
    model = small_model()
    assert model.predict([]).shape == (0,)
    assert model.predict_proba({"a": [], "b": [], "c": []}).shape == (0, 2)


def test_a_full_table_of_many_columns_is_refused_before_all_rows_are_read():
    seen = []

    some = [{f"question {j}": "yes no".split()[i >> j & 1] for j in range(24)} for i in (0, 2**24 - 1)]

    def rows():
        for i in range(200_000):
            seen.append(i)
            yield some[i % 2]

    with pytest.raises(InputError, match=r"2\^24 cells") as refused:
        train_table(rows(), ("ab"[i % 2] for i in range(200_000)), learner=JointTableLearner())
    assert "CategoricalNB" in refused.value.hint
    assert len(seen) < 150_000


@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_learner_of_numbers_names_the_column_of_categories(name):
    table, labels = small()
    with pytest.raises(
        InputError, match=r"column `c` is one of categories \(3 different values\)"
    ) as refused:
        train_table(table, labels, learner=learner_named(name))
    assert "c=ignore" in refused.value.hint


@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_column_of_two_numbers_can_be_had_as_numbers(name):
    table, labels = small(flag=[i % 3 == 0 for i in range(40)], zero_one=[i // 2 % 2 for i in range(40)])
    with pytest.raises(InputError, match="`zero_one`") as refused:
        train_table(table, labels, learner=learner_named(name), columns={"c": "ignore", "flag": "ignore"})
    kinds = {"c": "ignore", "flag": "number", "zero_one": "number"}
    assert train_table(table, labels, learner=learner_named(name), columns=kinds).extent == (4, "column")
    assert "zero_one=number" in refused.value.hint


@pytest.mark.parametrize("name", ["categorical", "table"])
def test_learners_of_categories_take_numbers_for_categories(name):
    table = {"a": [1, 2, 3, 1, 2, 3] * 5, "b": ["x", "y", "y"] * 10}
    model = train_table(table, ["p", "q"] * 15, learner=learner_named(name))
    assert [column.kind for column in model.schema.columns] == ["category", "category"]
    with pytest.raises(InputError, match="`a`"):
        train_table(table, ["p", "q"] * 15, learner=learner_named(name), columns={"a": "number"})


@pytest.mark.parametrize("name", ["gaussian", "lda", "qda"])
def test_a_choice_that_a_learner_cannot_follow_is_refused(name):
    table, labels = small()
    with pytest.raises(InputError, match="`a`"):
        train_table(table, labels, learner=learner_named(name), columns={"a": "bins", "c": "ignore"})


def test_an_unknown_choice_for_a_column_is_refused_with_a_suggestion():
    table, labels = small()
    with pytest.raises(InputError, match="did you mean `category`"):
        train_table(table, labels, columns={"a": "categry"})
    with pytest.raises(InputError, match="`aa`"):
        train_table(table, labels, columns={"aa": "number"})


def test_options_about_texts_need_a_column_of_texts():
    table, labels = small()
    with pytest.raises(InputError, match="`ngrams` applies to texts"):
        train_table(table, labels, words={"ngrams": (1, 2)})


def test_models_of_different_columns_or_choices_cannot_be_merged():
    table, labels = small()
    one = train_table(table, labels, columns={"a": "gaussian"})
    other = train_table(table, labels, columns={"a": "bins"})
    with pytest.raises(InputError, match="different settings") as refused:
        _ = one + other
    assert "like" in refused.value.hint
    with pytest.raises(InputError, match="different settings"):
        _ = one + one.with_prior("uniform")


def test_merging_models_does_not_depend_on_which_is_first():
    """Two that happen to be made alike, but whose evidence was weighed by different rows."""
    kinds = {"a": "gaussian", "b": "gaussian"}
    one, two = (train_table(*small(120, seed=seed), columns=kinds) for seed in (0, 1))
    assert one.recipe.blocks == two.recipe.blocks
    assert (one.calibration.slopes != two.calibration.slopes).any()
    table, labels = small(120, seed=0)
    more, others = small(120, seed=1)
    both = {name: [*table[name], *more[name]] for name in table}
    whole = train_table(both, [*labels, *others], like=one)
    for merged in (one + two, two + one):
        np.testing.assert_array_equal(merged.predict_proba(both), whole.predict_proba(both))


def test_other_choices_beside_like_are_refused():
    table, labels = small()
    model = small_model()
    with pytest.raises(InputError, match="a model that is like another has its learner, its columns"):
        train_table(table, labels, like=model, columns={"a": "bins"})


@pytest.mark.parametrize("choice", [{"learner": "qda"}, {"ngrams": (1, 2)}], ids=str)
def test_other_learners_and_words_beside_like_are_refused(choice):
    table, labels = small()
    with pytest.raises(InputError):
        textodds.train(table, labels, like=small_model(), **choice)


def test_a_model_of_texts_is_no_model_to_be_like():
    table, labels = small()
    with pytest.raises(InputError, match="texts"):
        textodds.train(table, labels, like=textodds.train(["a b", "c"], ["x", "y"]))


@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "nb-softmax"])
def test_a_learner_of_texts_is_refused_for_a_table(learner):
    table, labels = small()
    with pytest.raises(InputError, match=learner):
        textodds.train(table, labels, learner=learner, columns={"c": "ignore"})


@together
@pytest.mark.parametrize("learner", [None, "lda", "qda"])
@pytest.mark.parametrize("form", ["dict", "rows", "frame", "array"])
def test_a_table_in_memory_with_labels_beside_it_is_a_table(form, learner):
    pandas = pytest.importorskip("pandas")
    table, labels = small()
    del table["c"]
    source = {
        "dict": table,
        "rows": [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)],
        "frame": pandas.DataFrame(table),
        "array": np.array(list(table.values())).T,
    }[form]
    model = textodds.train(source, labels, learner=learner)
    assert model.kind == "tables"
    assert model.extent == (2, "column")


def test_train_takes_a_frame_without_texts_for_a_table():
    pandas = pytest.importorskip("pandas")
    table, labels = small()
    model = textodds.train(pandas.DataFrame({**table, "label": labels}))
    assert model.recipe.learner == "mixed"
    assert model.extent == (3, "column")
    with pytest.raises(InputError, match="`text` names the one column of texts"):
        textodds.train(pandas.DataFrame({**table, "label": labels}), learner="mixed", text="c")


@together
@pytest.mark.parametrize("name", ["mixed-calibrated", "gaussian", "categorical", "table"])
def test_rows_without_weight_may_stand_anywhere(name):
    """Every sixth row: they are then all forgotten at once, when what is typical is looked for."""
    rows, labels = data(name)
    weights = [0.0 if i % 6 == 0 else 1.0 for i in range(120)]
    model = LEARNERS[name].train(rows, labels, weights, typical=True)
    assert model.tally.n_documents == 100


def any_column(random, n):
    """Some column, with what it is to be taken for."""
    scale = 10.0 ** random.integers(-12, 12)
    values = [
        random.normal(size=n) * scale + 10.0 ** random.integers(-3, 10),
        np.where(random.random(n) < 0.7, 0.0, random.exponential(scale, n)),
        random.integers(0, 5, n).astype(float),
        np.full(n, random.choice([0.0, 2.5, -1e9, 1e50, 1e-30])),
        random.choice([0.0, 1e90, -1e90, 3.0], n),
        np.round(random.normal(size=n) * 1e9),
    ][random.integers(6)].tolist()
    if random.random() < 0.4:
        values = [None if random.random() < 0.3 else value for value in values]
    kind = str(random.choice(["number", "gaussian", "bins", "category", "text", "found"]))
    if kind in ("category", "text"):
        words = ["aa", "bb", "cc"]
        values = [" ".join(random.choice(words, random.integers(0, 1 if kind == "category" else 6)))
                  for _ in range(n)]  # fmt: skip
    return values, kind


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", ["mixed", "mixed-typical", "gaussian", "lda", "qda", "categorical", "table"]
)
@pytest.mark.filterwarnings("ignore::textodds.errors.Shrunk")
def test_any_table_is_learned_or_refused_in_words(learner):
    """No other exception, no warning of NumPy's, no NaN, and explanations that add up."""
    name, _, typical = learner.partition("-")
    learned = 0
    for seed in range(70):
        random = np.random.default_rng([seed, 1])
        n = int(random.choice([1, 2, 3, 8, 20, 60]))
        columns = {f"c{j}": any_column(random, n) for j in range(random.integers(1, 5))}
        table = {column: values for column, (values, _) in columns.items()}
        kinds = {column: kind for column, (_, kind) in columns.items() if kind != "found"}
        if name in GAUSSIANS:
            kinds = {c: "ignore" if kind in ("category", "text") else "number" for c, kind in kinds.items()}
        elif name != "mixed":
            kinds = dict.fromkeys(table, "category")
        labels = [f"class {k}" for k in random.integers(0, random.integers(1, 5), n)]
        weights = [None, random.integers(0, 3, n), random.random(n).round(3)][random.integers(3)]
        try:
            model = train_table(
                table, labels, weights, learner=learner_named(name), columns=kinds, typical=bool(typical)
            )
            shares = model.predict_proba(table)
        except textodds.errors.TextoddsError:
            continue
        learned += 1
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
        if len(model.classes_) > 1:
            found = model.explain({column: values[0] for column, values in table.items()})
            total = found.start + sum(value for _, _, value in found.columns)
            assert total == pytest.approx(found.log_odds, rel=1e-6, abs=1e-6)
    assert learned > 10


@pytest.mark.parametrize("rows", [99, 100])
def test_a_table_is_calibrated_from_a_hundred_rows_as_texts_are(rows):
    model = train_table(*small(rows))
    assert (model.calibration is not None) == (rows >= 100)
    assert model.info.get("uncalibrated") == (
        "that takes 100 rows, and 99 can be left out" if rows < 100 else None
    )


@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_table_whose_learner_does_not_calibrate_says_so(name):
    assert "mixed" in small_model(name, n=120).info["uncalibrated"]


def test_more_classes_than_have_a_bias_each_are_calibrated_by_slopes_alone(tmp_path):
    K, random = 301, np.random.default_rng(0)
    k = np.arange(8 * K) % K
    rows = {"height": (random.normal(size=8 * K) + k).tolist(), "soil": [f"s{each % 5}" for each in k]}
    model = train_table(rows, [f"{each:03}" for each in k], learner=MixedLearner())
    calibration = model.calibration
    assert calibration.slopes.shape == (2,)
    assert not np.any(calibration.bias)
    model.save(tmp_path / "model")
    ask = {"height": [0.0, 150.0], "soil": ["s0", "s0"]}
    (batch,) = model.read(ask)
    expected = np.tensordot(calibration.slopes, model.product.by_block(batch), 1)
    expected = expected - logsumexp(expected, axis=1, keepdims=True)  # classes are equally frequent
    got = textodds.load(tmp_path / "model").predict_log_proba(ask)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
