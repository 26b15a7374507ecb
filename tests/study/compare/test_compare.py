import html.parser
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import textodds
from textodds.errors import InputError, NoData
from textodds.study.compare import Comparison


def without_curves(data, **choices):
    return textodds.compare(*data, sizes=(), **choices)


class Told(textodds.Observer):
    """What was told to be done."""

    def __init__(self):
        self.trained = []

    def task(self, name, done, of):
        assert 0 <= done <= of
        if name != "done":
            self.trained.append(name)


@pytest.fixture(scope="module")
def whole(mail) -> Comparison:
    return textodds.compare(*mail, models="multinomial, softmax, lda", sizes=[50, 150], repeats=2)


@pytest.fixture(scope="module")
def page_of_whole(whole) -> str:
    return whole.html()


@pytest.fixture(scope="module")
def measured(mail, tmp_path_factory):
    """The file of what was kept of two models."""
    path = tmp_path_factory.mktemp("measured") / "kept"
    without_curves(mail, models="multinomial, bernoulli", keep=path)
    return path


@pytest.fixture
def kept(measured, tmp_path):
    """A copy of it, for one test."""
    return Path(shutil.copy(measured, tmp_path / "kept"))


def test_models_are_measured_as_evaluate_measures_them(mail):
    texts, labels = mail
    test = texts[400:], labels[400:]
    found = textodds.compare(
        texts[:400], labels[:400], test=test[0], test_labels=test[1], models="bernoulli, softmax", sizes=()
    )
    assert (found.setting.n_train, found.setting.n_test) == (400, 200)
    learners = {
        "bernoulli": (textodds.BernoulliNB(alpha=None), {}),
        "softmax": ("softmax", {"ngrams": (1, 2)}),
    }
    for name, (learner, words) in learners.items():
        measured = textodds.train(texts[:400], labels[:400], learner=learner, **words).evaluate(*test)
        assert found[name].evaluation == measured


def test_a_column_of_weights_counts_in_what_is_learned(mail):
    texts, labels = mail
    often = [1.0 + (i % 3) for i in range(400)]
    rows = pa.table({"text": texts[:400], "label": labels[:400], "often": often})
    test = texts[400:], labels[400:]
    found = textodds.compare(
        rows, test=test[0], test_labels=test[1], models="bernoulli, lda", sizes=(), weight="often"
    )
    for name, learner in {"bernoulli": textodds.BernoulliNB(alpha=None), "lda": "lda"}.items():
        model = textodds.train(texts[:400], labels[:400], often, learner=learner)
        assert found[name].evaluation == model.evaluate(*test)


def test_all_learners_of_texts_are_compared_by_default(mail):
    found = without_curves(mail)
    assert {row.name for row in found.rows} == {
        *("multinomial", "bernoulli", "complement", "softmax", "nb-softmax", "gaussian"),
        *("lda", "qda", "auto"),
    }
    assert [row.evaluation.accuracy for row in found.rows] == sorted(
        (row.evaluation.accuracy for row in found.rows), reverse=True
    )
    for row in found.rows:
        assert row.evaluation.n == 120
        assert row.training.wall > 0
        assert row.predicting_thousand.wall > 0
    assert found["softmax"].family == "discriminative"
    assert found["lda"].family == "generative"


@pytest.fixture(scope="module")
def of_auto(mail, tmp_path_factory):
    """How 400 texts were compared, and what came of it, which is kept."""
    (texts, labels), test = (part[:400] for part in mail), [part[400:] for part in mail]
    about = {"source": texts, "labels": labels, "test": test[0], "test_labels": test[1]}
    about |= {"models": "auto, bernoulli", "sizes": [100], "repeats": 1}
    about |= {"keep": tmp_path_factory.mktemp("auto") / "kept.jsonl"}
    return about, textodds.compare(**about)


def test_auto_is_what_train_chooses(of_auto):
    about, found = of_auto
    model = textodds.train(about["source"], about["labels"])
    row = found["auto"]
    assert row.evaluation == model.evaluate(about["test"], about["test_labels"])
    assert row.title == f"auto: {model.info['chosen']['tried'][0]['name']}"
    assert row.made.startswith(row.title.removeprefix("auto: ") + "; ")
    assert row.learner == model.info["chosen"]["learner"]
    assert row.title in repr(found)
    assert row.title in found._repr_html_()
    assert [curve.name for curve in found.curves] == ["bernoulli"]  # it would choose anew at every size


def test_auto_is_measured_where_it_is_named_or_nothing_is(mail, people):
    assert [row.name for row in without_curves(mail, models="bernoulli").rows] == ["bernoulli"]
    assert "auto" not in [row.name for row in without_curves(mail, textbook=True).rows]
    assert "auto" not in [row.name for row in without_curves(people).rows]
    with pytest.raises(InputError, match="chooses nothing, and `auto` would choose"):
        without_curves(mail, models="auto", textbook=True)
    with pytest.raises(InputError, match="`auto` chooses a model of texts"):
        without_curves(people, models="auto")
    with pytest.raises(InputError, match="auto"):
        without_curves(mail, models="auto:C=1")


def test_what_was_chosen_is_kept_with_its_measurement(of_auto):
    about, first = of_auto
    assert textodds.compare(**about).rows == first.rows  # its seconds too: nothing was chosen again


def test_the_largest_class_alone_stands_below_the_models(whole, page_of_whole):
    found = whole
    assert found.baseline.as_dict() == {"label": "ham", "accuracy": pytest.approx(2 / 3)}
    assert found.as_dict()["largest_class"] == found.baseline.as_dict()
    assert "the largest class alone  accuracy 0.6667" in repr(found)
    assert "the largest class alone" in found._repr_html_()
    assert "the largest class alone" in page_of_whole
    assert found.warnings() == []


def test_the_size_is_that_of_the_saved_file(mail, tmp_path):
    texts, labels = mail
    found = textodds.compare(*mail, test=texts[:50], test_labels=labels[:50], models="multinomial", sizes=())
    model = textodds.train(texts, labels, learner=textodds.MultinomialNB(alpha=None))
    model.info.pop("asked")  # `train` remembers the question, which is not a part of the comparison
    model.save(tmp_path / "m.textodds")
    assert found["multinomial"].bytes == (tmp_path / "m.textodds").stat().st_size


def test_settings_are_part_of_a_model(mail):
    found = without_curves(mail, models="multinomial:alpha=0.5, multinomial:ngrams=1-2, softmax:C=1")
    names = {row.name for row in found.rows}
    assert names == {"multinomial:alpha=0.5", "multinomial:ngrams=1-2", "softmax:C=1"}
    assert "α\u00a0=\u00a00.5" in found["multinomial:alpha=0.5"].made
    assert found["multinomial:ngrams=1-2"].made.startswith("words 1–2")
    assert found["softmax:C=1"].made.endswith("C\u00a0=\u00a01")


def test_learners_may_be_given_as_they_are(mail):
    found = without_curves(mail, models=[textodds.MultinomialNB(alpha=2.0), "bernoulli"])
    assert {row.name for row in found.rows} == {"multinomial:alpha=2.0", "bernoulli"}


def test_curves_have_all_sizes_and_repeats_and_end_with_the_whole(mail):
    found = textodds.compare(*mail, models="multinomial, softmax", sizes=[30, 120], repeats=2, budget=600)
    assert found.missing == ()
    for curve in found.curves:
        assert [(point.size, len(point.errors)) for point in curve.points] == [(30, 2), (120, 2), (480, 1)]
        whole = found[curve.name].evaluation
        assert curve.points[-1].error == pytest.approx(1 - whole.accuracy)
        assert curve.points[-1].log_loss == pytest.approx(whole.log_loss, rel=1e-5)
    assert [(each.measure, each.first, each.second) for each in found.overtakings] == [
        ("error", "multinomial", "softmax"),
        ("log_loss", "multinomial", "softmax"),
    ]


def test_a_point_of_a_curve_is_the_model_of_the_beginning_of_an_order(mail):
    """The same as training on those rows by hand."""
    from textodds.learn.design import coded
    from textodds.study.compare.curves import nested
    from textodds.training.choose.pool import split

    texts, labels = mail
    found = textodds.compare(*mail, models="bernoulli:alpha=1", sizes=[50], repeats=1, seed=3)
    learned, asked = split(coded(labels)[1], 0.2, 3)
    codes = coded([labels[i] for i in learned])[1]
    rows = learned[np.sort(nested(codes, [3, 0])[:50])]
    model = textodds.train([texts[i] for i in rows], [labels[i] for i in rows], learner="bernoulli:alpha=1")
    measured = model.evaluate([texts[i] for i in asked], [labels[i] for i in asked])
    point = found.curves[0].points[0]
    assert point.error == pytest.approx(1 - measured.accuracy)
    assert point.log_loss == pytest.approx(measured.log_loss, rel=1e-5)


def test_without_time_there_are_no_points_and_that_is_said(mail):
    found = textodds.compare(*mail, models="multinomial, bernoulli", sizes=[50], budget=0)
    assert found.is_whole
    assert found.missing[0] == "learning curves have no point at 50 texts of all models, because time ran out"
    assert "0 of 10 points of learning curves were measured" in found.missing[1]


def test_a_model_that_cannot_be_made_is_a_line_with_its_reason(people):
    columns, labels = people
    table = {**columns, "hair": ["long", "short", "none"] * 100}
    found = without_curves((table, labels))
    assert {row.name for row in found.rows} >= {"mixed", "categorical"}
    assert set(found.refused) >= {"gaussian", "lda", "qda"}
    assert "`hair` is one of categories" in found.refused["lda"]
    assert "`hair` is one of categories" in repr(found)


def test_tables_are_compared_by_learners_of_tables(people):
    found = textodds.compare(*people, models="gaussian, lda", sizes=[40], repeats=2)
    assert found.setting.noun == "row"
    table, labels = people
    assert found["lda"].evaluation.accuracy > found["gaussian"].evaluation.accuracy - 0.1
    assert [(each.first, each.second) for each in found.overtakings] == [("gaussian", "lda")] * 2
    model = textodds.train(table, labels, learner="gaussian")
    again = textodds.compare(*people, test=table, test_labels=labels, models="gaussian", sizes=())
    assert again["gaussian"].evaluation == model.evaluate(table, labels)


def test_numbers_are_categories_to_those_that_take_only_these():
    table = {"wheels": [2, 4, 4, 2, 3] * 20}
    found = without_curves((table, ["bike", "car", "car", "bike", "other"] * 20), models="categorical, table")
    assert [row.evaluation.accuracy for row in found.rows] == [1.0, 1.0]


def test_texts_on_both_sides_are_counted(mail):
    texts, labels = mail
    test = {"test": texts[290:390], "test_labels": labels[290:390]}
    found = without_curves((texts[:300], labels[:300]), **test, models="bernoulli")
    assert found.setting.shared == 10
    assert "10 of them are among those learned from, word for word" in repr(found)


def test_labels_that_are_never_shown_are_always_wrong(mail):
    texts, labels = mail
    found = without_curves(
        (texts[:300], labels[:300]),
        test=texts[300:400],
        test_labels=[*labels[300:390], *["eggs"] * 10],
        models="multinomial, bernoulli",
    )
    assert found.setting.unknown == 10
    assert found["bernoulli"].evaluation.unknown_labels == {"eggs": 10}
    assert [each.n for each in found.tests] == [100, 90]


def test_what_was_kept_is_not_done_again(mail, tmp_path):
    told, again = Told(), Told()
    choices = {"models": "multinomial, softmax", "sizes": [50], "repeats": 2, "keep": tmp_path / "kept"}
    first = textodds.compare(*mail, **choices, observer=told)
    second = textodds.compare(*mail, **choices, observer=again)
    assert len(told.trained) == 6
    assert again.trained == []
    assert second.as_dict() == first.as_dict()


def test_more_models_are_added_to_what_was_kept(mail, kept):
    told = Told()
    found = without_curves(mail, models="multinomial, lda", keep=kept, observer=told)
    assert told.trained == ["lda on 480 texts"]
    assert len(found.rows) == 2


@pytest.mark.parametrize("ending", ["", '{"name": "soft', "\n\n[1]\n", '{"name": 3, "size": "x"}\n'])
def test_a_line_that_was_cut_short_is_passed_over(mail, kept, ending):
    told = Told()
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[:2]) + ending)
    choices = {"models": "multinomial, bernoulli", "keep": kept}
    assert len(without_curves(mail, **choices, observer=told).rows) == 2
    assert told.trained == ["bernoulli on 480 texts"]
    again = Told()
    without_curves(mail, **choices, observer=again)
    assert again.trained == []


def test_what_was_kept_of_other_data_is_refused(mail, kept):
    texts, labels = mail
    with pytest.raises(InputError, match=r"of other data or another split \(train differ\)"):
        textodds.compare([*texts[:-1], "another"], labels, models="multinomial", sizes=(), keep=kept)
    with pytest.raises(InputError, match="another split"):
        without_curves(mail, models="multinomial", seed=1, keep=kept)


def test_a_file_of_something_else_is_not_written_to(mail, tmp_path):
    (tmp_path / "notes").write_text("dear diary\n")
    with pytest.raises(InputError, match="is not a file of kept measurements"):
        without_curves(mail, keep=tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "dear diary\n"


def test_work_that_is_stopped_is_told_as_far_as_it_came(mail):
    """An interrupt at the third model: two are there, and the others are named."""

    class Stop(textodds.Observer):
        def task(self, name, done, of):
            if done == stop:
                raise KeyboardInterrupt

    stop = 0
    with pytest.raises(KeyboardInterrupt):  # nothing is there to be told
        textodds.compare(*mail, sizes=[50], observer=Stop())
    stop = 2
    found = textodds.compare(*mail, sizes=[50], observer=Stop())
    assert found.is_stopped
    assert {row.name for row in found.rows} == {"multinomial", "bernoulli"}
    assert len(found.tests) == 2
    assert not found.is_whole
    assert found.missing[0] == (
        "stopped before these models were trained: complement, softmax, nb-softmax, gaussian, lda, qda, auto"
    )


def test_warnings_of_a_model_are_notes_beside_it(mail):
    found = without_curves(mail, models="bernoulli, softmax:C=100:max_epochs=1")
    assert found["bernoulli"].notes == ()
    (note,) = found["softmax:C=100:max_epochs=1"].notes
    assert "converge" in note or "optimum" in note


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"models": "multinomal"}, "unknown learner `multinomal`; did you mean `multinomial`"),
        ({"models": "lda, lda"}, "`lda` is named twice"),
        ({"models": "softmax:"}, "`softmax:` is not a learner with settings"),
        ({"models": "softmax:ngrams=x"}, "`ngrams` cannot be `x`"),
        ({"models": "softmax:colour=red"}, "softmax has no colour"),
        ({"models": "semisupervised"}, "does not learn from labelled texts"),
        ({"models": " , "}, "no model is named"),
        ({"held_out": 1.0}, "the share to hold out cannot be 1"),
        ({"sizes": [1]}, "cannot have a point at 1 texts"),
        ({"sizes": [481]}, "cannot have a point at 481 texts"),
    ],
)
def test_what_cannot_be_compared_is_said(mail, choices, problem):
    with pytest.raises(InputError, match=problem):
        textodds.compare(*mail, **choices)


def test_learners_of_texts_are_refused_for_tables(people):
    with pytest.raises(InputError, match="bernoulli learns from texts, and the data has no column of texts"):
        textodds.compare(*people, models="bernoulli")
    with pytest.raises(InputError, match="`ngrams` is about texts"):
        textodds.compare(*people, models="softmax:ngrams=1-3")


def test_so_little_data_that_nothing_could_be_said_is_refused():
    with pytest.raises(NoData, match="there are 4 texts to hold out, and at least 10 are needed"):
        textodds.compare(["a", "b"] * 10, ["x", "y"] * 10)


def test_a_single_class_is_refused():
    with pytest.raises(NoData, match="every text to learn from is of the class `x`"):
        textodds.compare(["a", "b"] * 50, ["x"] * 100)


def test_all_of_it_is_json(whole):
    plain = json.loads(json.dumps(whole.as_dict(), allow_nan=False))
    assert [model["name"] for model in plain["models"]] == [row.name for row in whole.rows]
    assert {
        "accuracy",
        "accuracy_interval",
        "log_loss",
        "calibration_error",
        "train_seconds",
        "bytes",
    } <= set(plain["models"][0])
    assert len(plain["tests"]) == 4
    assert plain["tests"][0]["says"] == whole.verdicts()[0]
    assert len(plain["curves"]) == 3


class Page(html.parser.HTMLParser):
    """The names of elements, the addresses and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.names, self.addresses, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.addresses += [value for key, value in attrs if key in ("href", "src", "xlink:href")]

    def handle_data(self, data):
        self.text += data


@pytest.mark.slow
def test_the_page_needs_nothing_but_itself(whole, page_of_whole, tmp_path):
    page = Page(whole.html(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page_of_whole
    assert page.names.count("svg") == 4
    assert "script" not in page.names
    assert all(address.startswith("#") for address in page.addresses)
    for row in whole.rows:
        assert f"{row.evaluation.accuracy:.2%}" in page.text
    for each in whole.overtakings:
        assert each.sentence("text")[1:] in page.text


def test_a_page_of_one_model_has_no_tests_or_curves(mail):
    page = Page(without_curves(mail, models="lda").html())
    assert "One model" in page.text
    assert "Paired tests" not in page.text
    assert page.names.count("svg") == 2


@pytest.mark.slow
def test_names_from_data_are_escaped(mail):
    texts, labels = mail
    odd = [{"ham": "<b>ham</b>", "spam": "spam & eggs"}[label] for label in labels]
    page = Page(without_curves((texts, odd), models="multinomial, bernoulli").html())
    assert "<b>ham</b>" in page.text
    assert "spam & eggs" in page.text


@pytest.mark.realdata
def test_the_laboratory_of_the_lecture_has_its_figure(data_folder):
    """Multinomial naive Bayes on these messages: 98.74 %; LDA and QDA neither slow nor broken."""
    folder = data_folder / "sms_spam"
    found = textodds.compare(
        folder / "train.csv.gz",
        test=folder / "test.csv.gz",
        models="multinomial, softmax, lda, qda",
        sizes=(),
    )
    assert round(found["multinomial"].evaluation.accuracy, 4) == 0.9928
    assert found["qda"].evaluation.accuracy > 0.97
    assert found["lda"].evaluation.accuracy > 0.97


def test_auto_chooses_of_few_texts_too_as_train_does(mail):
    from textodds.learn.design import coded
    from textodds.training.choose.pool import split

    texts, labels = [part[:26] for part in mail]
    row = without_curves((texts, labels), models="auto", held_out=0.5)["auto"]
    learned = split(coded(labels)[1], 0.5, 0)[0]
    chosen = textodds.train([texts[i] for i in learned], [labels[i] for i in learned])
    told = chosen.info["chosen"]
    assert (row.title, row.learner) == (f"auto: {told['learner']}, {told['features']}", told["learner"])
