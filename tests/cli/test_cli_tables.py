"""Transcripts of tables on the command line: training, asking, changing, and what is refused."""

import json
import re
from pathlib import Path
from statistics import NormalDist
from textwrap import dedent

import pytest

import forked
import textodds
from textodds.cli import main

HEADER = "id,income,visits,town,kind"


def line(i):
    """One of the people: their incomes are normal, their visits are not, and their towns tell a little."""
    k = i % 2
    income = NormalDist(1000 + 300 * k, 120).inv_cdf((i * 37 % 97 + 0.5) / 97)
    visits = (0, 0, 0, 5, 40)[(i * 3 + k + i // 7) % 5]
    town = ("Ulm", "Bonn", "Köln")[(i + k + i // 5) % 3]
    return f"p{i},{income:.2f},{visits},{town},{'rich' if k else 'poor'}"


def write(name, start, stop, header=HEADER):
    """A CSV file of some people."""
    Path(name).write_text("\n".join([header, *map(line, range(start, stop))]) + "\n")


@pytest.fixture
def people():
    """Eighty people in `people.csv`, forty more in `more.csv`, and sixty to test in `test.csv`."""
    write("people.csv", 0, 80)
    write("more.csv", 80, 120)
    write("test.csv", 120, 180)


@pytest.fixture
def model(people, capsys):
    """The model of `people.csv` in `people.textodds`."""
    assert main(["train", "people.csv", "--label", "kind", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def steady(text):
    """The transcript without what differs from run to run."""
    text = re.sub(r"in \d+(\.\d+)? m?s \(.*\)", "in 1 ms (fast)", text)
    text = re.sub(r"\d+(\.\d+)? kB", "2 kB", text)
    return re.sub(r"\d+ intervals", "N intervals", text)


def test_a_table_without_texts_is_learned_and_what_was_chosen_is_told(people, capsys):
    assert main(["train", "people.csv", "--label", "kind"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert steady(err) == dedent("""\
        learned 80 rows of people.csv in 1 ms (fast)

          class   rows   share
          poor      40   50.0%
          rich      40   50.0%

          column   taken for     because
          id       left out      a different value in every row
          income   Gaussian      numbers, 80 different
          visits   N intervals   numbers, 3 different
          town     categorical   3 different values

        not calibrated: that takes 100 rows, and 80 can be left out
        not measured: give held-out rows (`--test DATA`), or at least 100 to learn from
        wrote people.textodds: 3 columns, 2 kB

        next:  textodds predict people.textodds NEW_DATA
               textodds evaluate people.textodds TEST_DATA
    """)


def test_the_intervals_that_are_told_are_those_that_have_rows(people, capsys):
    """Of three different numbers nobody expects more than three intervals."""
    assert main(["train", "people.csv", "--label", "kind"]) == 0
    assert re.search(r"visits +3 intervals", capsys.readouterr().err)


def test_the_command_line_trains_what_the_library_trains(model):
    expected = textodds.train("people.csv", label="kind")
    trained = textodds.load("people.textodds")
    assert trained.recipe.as_dict() == expected.recipe.as_dict()
    assert trained.evaluate("test.csv") == expected.evaluate("test.csv")
    assert trained.evaluate("test.csv").accuracy > 0.8


def test_what_columns_are_can_be_said(people, capsys):
    columns = "income=bins, town = ignore,visits=category,id=ignore"
    assert main(["train", "people.csv", "--label", "kind", "--columns", columns]) == 0
    lines = steady(capsys.readouterr().err).splitlines()[6:11]
    assert [re.split(" {2,}", each.strip()) for each in lines] == [
        ["column", "taken for", "because"],
        ["id", "left out", "given"],
        ["income", "N intervals", "given"],
        ["visits", "categorical", "given"],
        ["town", "left out", "given"],
    ]


def test_train_tells_the_same_as_json(people, capsys):
    assert main(["train", "people.csv", "--label", "kind", "--json", "--test", "test.csv"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["columns"], told["rows"], told["classes"]) == (3, 80, {"poor": 40, "rich": 40})
    assert told["quality"]["n"] == 60
    assert told["quality"]["accuracy"] > 0.8


@pytest.mark.parametrize(
    ("learner", "more", "means"),
    [
        ("mixed", [], "Gaussian"),
        ("gaussian", ["--columns", "town=ignore,id=ignore"], "Gaussian"),
        ("lda", ["--columns", "town=ignore,id=ignore"], "Gaussian, one covariance"),
        ("lda:shrinkage=0.3", ["--columns", "town=ignore,id=ignore"], "Gaussian, one covariance"),
        ("qda", ["--columns", "town=ignore,id=ignore"], "Gaussian, own covariance"),
        ("categorical:alpha=0.1", [], "categorical"),
        ("categorical:missing=category", [], "categorical"),
        ("table:prior=uniform", [], "full table"),
        ("table:max_cells=2000", [], "full table"),
    ],
)
def test_every_learner_of_tables_can_be_named(people, capsys, learner, more, means):
    assert main(["train", "people.csv", "--label", "kind", "--learner", learner, *more]) == 0
    err = capsys.readouterr().err
    assert re.search(rf"income +{means} ", err)
    model = textodds.load("people.textodds")
    assert model.recipe.learner == learner.split(":")[0]
    assert main(["evaluate", "people.textodds", "test.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["accuracy"] == model.evaluate("test.csv").accuracy
    if learner.split(":")[0] not in ("categorical", "table"):  # to which new incomes tell nothing
        assert told["accuracy"] > 0.8


@pytest.mark.parametrize("learner", ["categorical", "table"])
def test_numbers_that_become_categories_are_not_said_to_be_given_so(people, capsys, learner):
    assert main(["train", "people.csv", "--label", "kind", "--learner", learner]) == 0
    assert "given" not in capsys.readouterr().err


def test_a_file_is_answered_row_by_row(model, capsys):
    assert main(["predict", "people.textodds", "test.csv", "--quiet"]) == 0
    lines = [each.split("\t") for each in capsys.readouterr().out.splitlines()]
    loaded = textodds.load("people.textodds")
    assert [each[0] for each in lines] == loaded.predict("test.csv").tolist()
    shares = loaded.predict_proba("test.csv").max(axis=1)
    assert [each[1] for each in lines] == [f"{share:.4f}" for share in shares]


def test_a_row_that_is_said_is_answered(model, capsys):
    row = {"income": 1400.0, "visits": 0, "town": "Ulm"}
    expected = textodds.load("people.textodds")(row)
    assert main(["predict", "people.textodds", "--say", json.dumps(row)]) == 0
    assert capsys.readouterr().out == f"rich\t{expected.probability:.4f}\n"
    assert main(["predict", "people.textodds", "--say", '{"income": 1400}', "--json", "--proba"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["label"], told["evidence"]) == ("rich", 1)
    assert sum(told["probabilities"].values()) == pytest.approx(1)
    assert main(["predict", "people.textodds", "--say", "{}", "--say", '{"town": "Rom"}', "--proba"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_another_prior_can_be_asked_for(model, capsys):
    assert main(["predict", "people.textodds", "--say", "{}", "--prior", "rich=0.9,poor=0.1"]) == 0
    prior = {"rich": 0.9, "poor": 0.1}
    share = textodds.load("people.textodds").with_prior(prior)({}).probability
    assert capsys.readouterr().out == f"rich\t{share:.4f}\n"


def test_evaluate_measures_rows(model, capsys):
    assert main(["evaluate", "people.textodds", "test.csv", "--quiet"]) == 0
    out = capsys.readouterr().out
    found = textodds.load("people.textodds").evaluate("test.csv")
    assert out.startswith(f"  accuracy              {found.accuracy:.4f}")
    assert "  on 60 rows; ranges are 95 % intervals" in out
    assert main(["evaluate", "people.textodds", "test.csv", "--quiet", "--fail-under", "0.999"]) == 1


def test_halves_are_merged_into_the_model_of_all_and_taken_apart_again(model, capsys):
    assert main(["train", "more.csv", "--label", "kind", "--like", "people.textodds", "--quiet"]) == 0
    assert main(["merge", "people.textodds", "more.textodds", "-o", "all.textodds"]) == 0
    told = re.sub("documents|rows", "rows", steady(capsys.readouterr().err))
    assert told == "wrote all.textodds: 120 rows in 2 classes, 3 columns, 2 kB\n"
    loaded = textodds.load("all.textodds")
    whole = textodds.train(
        [Path("people.csv"), Path("more.csv")], label="kind", like=textodds.load("people.textodds")
    )
    assert (loaded.predict_proba("test.csv") == whole.predict_proba("test.csv")).all()
    merged = ["merge", "all.textodds", "--subtract", "more.textodds", "-o", "rest.textodds", "--quiet"]
    assert main(merged) == 0
    first = textodds.load("people.textodds").predict_proba("test.csv")
    assert (textodds.load("rest.textodds").predict_proba("test.csv") == first).all()


def test_rows_are_learned_and_forgotten(model, capsys):
    before = textodds.load("people.textodds").predict_proba("test.csv")
    assert main(["learn", "people.textodds", "more.csv"]) == 0
    now = textodds.load("people.textodds")
    assert now.class_documents == {"poor": 60, "rich": 60}
    assert now.predict_proba("test.csv") != pytest.approx(before, abs=1e-6)
    assert main(["forget", "people.textodds", "more.csv"]) == 0
    assert (textodds.load("people.textodds").predict_proba("test.csv") == before).all()
    assert re.sub("documents|rows", "rows", capsys.readouterr().err) == (
        "learned 40 rows: people.textodds now has 120 rows in 2 classes, 3 columns\n"
        "forgot 40 rows: people.textodds now has 80 rows in 2 classes, 3 columns\n"
    )


def test_a_row_that_was_never_learned_is_not_forgotten(model, capsys):
    """Though its values were, in other rows, and a model without rows could not tell."""
    before = Path("people.textodds").read_bytes()
    assert main(["train", "people.csv", "--label", "kind", "--no-documents", "-o", "bare", "--quiet"]) == 0
    row = ["--say", json.dumps({"income": 1000.0, "visits": 0, "town": "Ulm"}), "--label-is", "poor"]
    assert main(["forget", "people.textodds", *row]) == 2
    assert "error: the row `income=1000, visits=0, town=Ulm` was not learned as `poor`" in (
        capsys.readouterr().err
    )
    assert Path("people.textodds").read_bytes() == before
    assert main(["forget", "bare", *row, "--quiet"]) == 0


def test_without_rows_a_table_learns_and_says_that_its_calibration_is_older(people, capsys):
    write("people.csv", 0, 200)
    assert main(["train", "people.csv", "--label", "kind", "--no-documents", "-o", "bare", "--quiet"]) == 0
    assert main(["train", "people.csv", "--label", "kind", "--quiet"]) == 0
    bare, whole = textodds.load("bare"), textodds.load("people.textodds")
    assert (bare.has_documents, whole.has_documents) == (False, True)
    assert (bare.predict_proba("test.csv") == whole.predict_proba("test.csv")).all()
    assert main(["learn", "bare", "more.csv", "--quiet"]) == 0
    assert main(["inspect", "bare"]) == 0
    told = capsys.readouterr().out
    assert "calibration   from before the model changed" in told
    assert "format 3, without rows" in told
    assert main(["predict", "bare", "test.csv", "--max-error", "0.4"]) == 2
    assert "has changed since its calibration" in capsys.readouterr().err
    assert main(["learn", "people.textodds", "more.csv", "--quiet"]) == 0
    assert main(["inspect", "people.textodds", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["keeps_documents"], told["earlier_calibration"]) == (True, False)


def test_what_a_table_consists_of_are_rows(model, capsys):
    assert main(["train", "more.csv", "--label", "kind", "--like", "people.textodds", "--quiet"]) == 0
    assert main(["merge", "people.textodds", "more.textodds", "-o", "all.textodds"]) == 0
    assert main(["learn", "people.textodds", "more.csv"]) == 0
    assert "documents" not in capsys.readouterr().err


def test_a_row_that_is_said_is_learned_with_its_label_even_a_new_one(model, capsys):
    row = ["--say", '{"income": 9000, "town": "Ulm"}', "--label-is", "duke"]
    assert main(["learn", "people.textodds", *row, "--new-class", "-o", "other.textodds", "--quiet"]) == 0
    assert textodds.load("other.textodds").class_documents == {"duke": 1, "poor": 40, "rich": 40}
    assert main(["forget", "other.textodds", *row, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == {"poor": 40, "rich": 40}


def test_inspect_shows_the_columns_and_what_they_are_taken_for(model, capsys):
    assert main(["inspect", "people.textodds"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told, _, distributions = steady(out).partition("\nmean ± standard deviation of numbers, μ ± σ\n")
    assert "P(visits | class)" in distributions
    assert "P(town | class)" in distributions
    assert told == dedent("""\
        people.textodds
          classes       2
          rows          80
          columns       3
          learner       mixed
          parameters    13 = 2 K d + K Σ (C_j − 1) + K Σ (C_j − 1) + (K − 1), K = 2, d = 1, C = (3), C = (3)
          calibration   not calibrated: that takes 100 rows, and 80 can be left out
          file          2 kB, format 3, with rows
          data          people.csv

          class   rows   share
          poor      40   50.0%
          rich      40   50.0%

          column   taken for     because
          id       left out      a different value in every row
          income   Gaussian      numbers, 80 different
          visits   N intervals   numbers, 3 different
          town     categorical   3 different values
    """)


def test_inspect_shows_the_same_as_json(model, capsys):
    assert main(["inspect", "people.textodds", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["documents"], told["columns"], told["classes"]) == (80, 3, {"poor": 40, "rich": 40})
    assert told["recipe"]["learner"] == "mixed"
    assert [each[0] for each in told["recipe"]["choices"]] == ["id", "income", "visits", "town"]
    assert told["typical"] is False


def test_rows_unlike_any_are_told(people, capsys):
    assert main(["train", "people.csv", "--label", "kind", "--typical", "--quiet"]) == 0
    strange = '{"income": 1e6, "visits": 40, "town": "Ulm"}'
    usual = '{"income": 1000, "visits": 0, "town": "Ulm"}'
    assert main(["predict", "people.textodds", "--familiarity", "--say", strange, "--say", usual]) == 0
    values = [float(each.split("\t")[2]) for each in capsys.readouterr().out.splitlines()]
    assert values[0] == pytest.approx(1 / 81, abs=1e-4)
    assert values[1] > 0.1
    assert main(["predict", "people.textodds", "--familiarity", "--say", strange, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["p_value"] == pytest.approx(1 / 81)
    assert told["surprise"] == -told["log_density"]


@pytest.mark.parametrize(
    ("args", "problem", "hint"),
    [
        (["--text", "town", "--learner", "mixed"], "`text` names the one column of texts", "NAME=text"),
        (["--text", "town", "--columns", "visits=bins"], "`text` names the one column", "NAME=text"),
        (["--learner", "mixed:ngrams=1-2"], "`ngrams` applies to texts, and no column is text", "NAME=text"),
        (["--learner", "multinomial"], "people.csv has no text column", "--text"),
        (["--learner", "multinomial", "--columns", "visits=bins"], "multinomial learns from texts", "mixed"),
        (["--learner", "softmax", "--columns", "visits=bins"], "column `visits` cannot be `bins`", "mixed"),
        (["--label", "knd"], "people.csv has no knd column", "did you mean `kind`"),
        (["--columns", "visits=bin"], "column `visits` cannot be `bin`; did you mean `bins`?", "ignore"),
        (["--columns", "visit=bins"], "people.csv has no column `visit`", "did you mean `visits`"),
        (["--columns", "visits"], "`--columns` cannot be `visits`", "age=number"),
        (["--columns", "visits=bins,visits=number"], "`--columns` cannot be", "age=number"),
        (["--columns", "kind=category"], "column `kind` of people.csv is the label", "leave it out"),
        (["--columns", "town=number"], "people.csv, line 2: `town` is `Ulm`, not a number", "row"),
        (["--learner", "lda"], "column `town` is one of categories (3 different values)", "town=ignore"),
        (["--learner", "gaussian"], "column `town` is one of categories (3 different values)", "town=ignore"),
        (["--learner", "table:max_cells=9"], "the full table needs 720 cells", "fewer columns"),
        (["--like", "mail.textodds"], "people.csv has no column `text`", "--text"),
        (["--like", "people.csv"], "`people.csv` is not a valid textodds model file", "train it again"),
        (["--like", "cut.textodds", "--columns", "town=ignore"], "a model that is like another", "leave out"),
        (["--learner", "mixed:binary"], "mixed has no binary", "goes with multinomial"),
        (["--learner", "mixed", "--stream"], "a stream is learned by softmax", "softmax"),
        (["--learner", "gaussian:alpha=1"], "gaussian has no alpha", "goes with"),
        # these fail: they are left aside without a word
        (["--no-counts"], "", None),
        (["--no-counts", "--learner", "categorical"], "", None),
        (["--like", "cut.textodds", "--learner", "qda"], "", None),
        (["--like", "cut.textodds", "--learner", "multinomial:alpha=0.1"], "", None),
        (["--like", "cut.textodds", "--learner", "multinomial:prior=uniform"], "", None),
        (["--like", "cut.textodds", "--learner", "auto:ngrams=1-2"], "", None),
        (["--learner", "qda", "--columns", "town=ignore,visits=bins"], "column `visits`", "mixed"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_is_said(people, mail, capsys, args, problem, hint):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    cut = [
        "train",
        "people.csv",
        "--label",
        "kind",
        "--columns",
        "visits=bins",
        "-o",
        "cut.textodds",
        "--quiet",
    ]
    assert main(cut) == 0
    label = [] if "--label" in args else ["--label", "kind"]
    assert main(["train", "people.csv", *label, *args, "-o", "x.textodds", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {problem}")
    assert hint is None or hint in err.partition("hint:")[2]
    assert not Path("x.textodds").exists()


@pytest.mark.parametrize("setting", ["missing=ignore", "alpha=0.3", "prior=uniform"])
def test_settings_of_tables_are_those_of_python(people, capsys, setting):
    learner = f"mixed:{setting}"
    assert main(["train", "people.csv", "--label", "kind", "--quiet", "--learner", learner]) == 0
    expected = textodds.train("people.csv", label="kind", learner=learner)
    usual = textodds.train("people.csv", label="kind")
    assert textodds.load("people.textodds").recipe.as_dict() == expected.recipe.as_dict()
    assert expected.recipe.as_dict() != usual.recipe.as_dict()


def test_a_table_on_stdin_is_learned_where_its_learner_is_named(people):
    args = ("train", "-", "--label", "kind", "-o", "x.textodds", "--quiet")
    done = forked.run(*args, "--learner", "mixed", input=Path("people.csv").read_text())
    assert (done.returncode, done.stderr) == (0, "")
    assert textodds.load("x.textodds").class_documents == {"poor": 40, "rich": 40}


@pytest.mark.parametrize("more", [[], ["--learner", "categorical"]], ids=["no learner", "categorical"])
def test_a_table_on_stdin_that_would_be_read_twice_is_refused_with_the_way_out(people, more):
    args = ("train", "-", "--label", "kind", "-o", "x.textodds", "--quiet", *more)
    done = forked.run(*args, input=Path("people.csv").read_text())
    assert done.returncode == 2
    assert "no row" not in done.stderr
    assert "--learner mixed" in done.stderr or "--columns" in done.stderr


@pytest.mark.parametrize(
    ("args", "problem", "hint"),
    [
        (["wrong.csv"], "wrong.csv has no column `town`", "cannot do without"),
        (["bad.csv"], "bad.csv, line 3: `income` is `much`, not a number", "--bad-rows skip"),
        (["test.csv", "--text", "town"], "`text` names the one column of texts", "leave it out"),
        (["--say", "win a phone"], "`win a phone` is not a row of a table", '--say \'{"income": …}\''),
        (["--say", "[1, 2]"], "`[1, 2]` is not a row of a table", "JSON object"),
        (["--say", '{"incom": 3}'], "there is no column `incom`; did you mean `income`?", None),
        (["--say", '{"income": "much"}'], "a list of 1 row, row 1: `income` is `much`", None),
        (["--say", "{}", "--familiarity"], "the model has no typical rows to compare with", "--typical"),
        (["test.csv", "--say", "{}"], "`--say` cannot be combined with DATA", "leave out"),
        (["--say", '{"income": 3, "kind": "rich"}'], "`kind` is the label", None),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said(model, capsys, args, problem, hint):
    Path("wrong.csv").write_text("income,visits\n3,4\n")
    Path("bad.csv").write_text("income,visits,town\n3,4,Ulm\nmuch,4,Ulm\n")
    assert main(["predict", "people.textodds", *args, "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {problem}")
    assert hint is None or hint in err


def test_rows_that_cannot_be_read_are_skipped_on_demand(model, capsys):
    Path("bad.csv").write_text("income,visits,town\n1000,4,Ulm\nmuch,4,Ulm\n1400,0,Bonn\n")
    assert (
        main(
            [
                "predict",
                "people.textodds",
                "bad.csv",
                "--bad-rows",
                "skip",
                "--rejects",
                "bad.jsonl",
                "--quiet",
            ]
        )
        == 0
    )
    assert [each.split("\t")[0] for each in capsys.readouterr().out.splitlines()] == ["poor", "rich"]
    assert "much" in Path("bad.jsonl").read_text()


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["inspect", "people.textodds", "--word", "income"], "a model of tables has no words"),
        (["inspect", "people.textodds", "--between", "rich", "poor"], "a model of tables has no words"),
        (["export", "people.textodds", "-o", "x.onnx"], "models of tables cannot be exported"),
        (["merge", "people.textodds", "mail.textodds", "-o", "x"], "`mail.textodds` cannot be merged"),
        (["merge", "mail.textodds", "people.textodds", "-o", "x"], "`people.textodds` cannot be merged"),
        (["merge", "people.textodds", "cut.textodds", "-o", "x"], "`cut.textodds` cannot be added"),
        (["merge", "people.textodds", "--subtract", "people.textodds", "-o", "x"], "`people.textodds`"),
        (["evaluate", "people.textodds", "unlabelled.csv"], "unlabelled.csv has no kind column"),
        (["learn", "people.textodds", "mail.csv"], "mail.csv has no column `income`"),
        (["forget", "people.textodds", "people.csv"], "that would forget every row"),
        (["learn", "people.textodds", "--say", "{}"], "`--say` needs `--label-is LABEL`"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_with_a_table_is_said_and_nothing_changes(model, mail, capsys, command, problem):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    cut = [
        "train",
        "people.csv",
        "--label",
        "kind",
        "--columns",
        "income=bins",
        "-o",
        "cut.textodds",
        "--quiet",
    ]
    assert main(cut) == 0
    Path("unlabelled.csv").write_text("income,visits,town\n3,4,Ulm\n")
    before = Path("people.textodds").read_bytes()
    assert main(command) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")
    assert Path("people.textodds").read_bytes() == before
    assert not list(Path().glob("x*"))


def test_what_was_never_learned_is_named_as_it_stands_in_the_data(model, capsys):
    row = ["--say", '{"visits": 99}', "--label-is", "poor"]
    assert main(["forget", "people.textodds", *row]) == 2
    assert "the row `visits=99` was not learned as `poor`" in capsys.readouterr().err
    assert main(["train", "people.csv", "--label", "kind", "--no-documents", "--quiet"]) == 0
    assert main(["forget", "people.textodds", *row]) == 2
    assert "the count of `above 40.0` of column `visits`" in capsys.readouterr().err


def test_a_row_without_a_number_is_counted_from_one_as_elsewhere(people, capsys):
    train = ["train", "people.csv", "--label", "kind", "--learner", "lda", "--quiet"]
    assert main([*train, "--columns", "id=ignore,town=ignore"]) == 0
    assert main(["predict", "people.textodds", "--say", '{"income": 30}']) == 2
    assert capsys.readouterr().err.startswith("error: row 1 has no number in column `visits`")


def test_hints_on_the_command_line_name_what_can_be_typed(people, capsys):
    assert main(["train", "people.csv", "--label", "kind", "--learner", "table:max_cells=9"]) == 2
    assert "--learner categorical" in capsys.readouterr().err


def test_hints_for_columns_name_the_option_of_train(people):
    with pytest.raises(textodds.errors.InputError) as refused:
        textodds.train("people.csv", label="kind", columns={"visit": "bins"})
    assert "columns=" in refused.value.hint
