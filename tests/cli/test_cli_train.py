import gzip
import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

import textodds
from textodds.cli import main
from textodds.learn import naive_bayes

from .transcripts import MAIL


def test_a_model_is_called_as_the_link_that_was_given():
    Path("real.csv").write_text("text,label\nfree phone,spam\nsee you,ham\n")
    Path("mail.csv").symlink_to("real.csv")
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    assert Path("mail.textodds").exists()
    assert not Path("real.textodds").exists()


def test_train_says_what_was_learned_and_what_to_type_next(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert re.sub(r"in \d+ ms \(.*\)", "in 1 ms (fast)", err).replace(
        f"{Path('mail.textodds').stat().st_size / 1000:.3g} kB", "2 kB"
    ) == dedent("""\
        learned 6 rows of mail.csv in 1 ms (fast)
        text: text; label: label

          class   rows   share
          ham        3   50.0%
          spam       3   50.0%

        not calibrated: that takes 16 texts, and 6 can be left out
        not measured: give held-out texts (`--test DATA`), or at least 100 to learn from
        warning: 2 classes have fewer than 10 texts to learn from: `ham` (3), `spam` (3)
        wrote mail.textodds: 16 words, 2 kB

        next:  textodds predict mail.textodds --say "a text of your own"
               textodds evaluate mail.textodds TEST_DATA
    """)
    assert re.search(r"\([\d,]+ rows/s, [\d.e+]+ MB/s\)", err)


def test_json_is_one_object_on_stdout_and_nothing_on_stderr(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert told["rows"] == 6
    assert told["read"] == {"text": ["text"], "label": "label", "weight": None, "left": []}
    assert told["classes"] == {"ham": 3, "spam": 3}
    assert told["words"] == 16
    assert told["model"] == "mail.textodds"
    assert told["left_out"] is None
    assert told["warnings"] == ["2 classes have fewer than 10 texts to learn from: `ham` (3), `spam` (3)"]
    assert told["bytes"] == Path("mail.textodds").stat().st_size
    assert (told["rejected"], told["rejects"], told["quality"]) == (0, None, None)
    assert told["bytes_read"] == len(MAIL)
    assert told["seconds"] > 0
    assert told["rows_per_second"] > 0
    assert told["megabytes_per_second"] > 0


def test_the_command_line_trains_what_the_library_trains(mail, capsys):
    settings = "alpha=0.5:prior=spam=0.2/ham=0.8:ngrams=1-2:min_df=2:max_df=0.9:unit=whitespace:strip_accents"
    assert main(["train", "mail.csv", "--quiet", "--learner", f"bernoulli:{settings}", "--threads", "2"]) == 0
    learner = naive_bayes.BernoulliLearner(alpha=0.5, prior={"spam": 0.2, "ham": 0.8})
    settings = {"ngrams": (1, 2), "unit": "whitespace", "strip_accents": True}
    expected = textodds.train("mail.csv", learner=learner, min_df=2, max_df=0.9, **settings)
    trained = textodds.load("mail.textodds")
    assert trained.recipe == expected.recipe
    assert trained.tally == expected.tally
    assert trained("free prize") == expected("free prize")


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (["--learner", "auto:lower=no"], {"lower": False}),
        (["--learner", "auto:normal_form=none"], {"normal_form": None}),
        (["--learner", "auto:normal_form=NFKC"], {"normal_form": "NFKC"}),
        (["--learner", "auto:ngrams=2"], {"ngrams": (2, 2)}),
        (["--learner", "auto:stop_words=english"], {"stop_words": "english"}),
        (["--learner", "auto:stop_words=words.txt"], {"stop_words": ["free", "prize"]}),
        (["--learner", "auto:vocabulary=words.txt"], {"vocabulary": ["free", "prize"]}),
        (
            ["--learner", "multinomial:vocabulary=words.txt:unknown=count"],
            {"vocabulary": ["free", "prize"], "unknown": "count"},
        ),
        (["--learner", "auto:hash_bits=18:hash_seed=7"], {"hash_bits": 18, "hash_seed": 7}),
        (["--learner", "auto:max_features=3"], {"max_features": 3}),
        (["--learner", "multinomial:unknown=first"], {"unknown": "first"}),
        (["--learner", "auto:sklearn"], {"unit": "sklearn", "normal_form": None}),
        (["--learner", "auto:sklearn:ngrams=1-2"], {"sklearn": True, "ngrams": (1, 2)}),
        (["--learner", "multinomial:binary"], {"learner": naive_bayes.MultinomialLearner(binary=True)}),
        (["--learner", "multinomial:prior=uniform"], {"learner": "multinomial:prior=uniform"}),
        (
            ["--learner", "complement:norm:transform"],
            {"learner": naive_bayes.ComplementLearner(norm=True, transform=True)},
        ),
    ],
)  # fmt: skip
def test_every_choice_arrives_in_the_recipe(mail, options, changes):
    Path("words.txt").write_text("free\r\n\nprize\n")
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet", *options]) == 0
    assert textodds.load("mail.textodds").recipe == textodds.train("mail.csv", **changes).recipe


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--learner", "auto:norm"], "auto has no norm\n\nhint: `norm` goes with complement"),
        (["--learner", "bernoulli:binary"], "bernoulli has no binary"),
        (["--learner", "complement:prior=uniform"], "complement has no prior"),
        (["--learner", "auto:hash_seed=3"], "`hash_seed` is the seed of a hash, but words are not hashed"),
        (["--learner", "multinomial:unknown=count"], "unknown='count' needs a vocabulary fixed in advance"),
        (["--rejects", "bad.jsonl"], "`rejects_path` is for rows that are skipped"),
        (["--learner", "auto:ngrams=one"], "`ngrams` cannot be `one`"),
        (["--learner", "auto:ngrams=2-"], "`ngrams` cannot be `2-`"),
        (["--learner", "auto:min_df=few"], "`min_df` cannot be `few`"),
        (["--memory", "lots"], "`--memory` cannot be `lots`"),
        (["--memory", "0GB"], "`--memory` cannot be `0GB`"),
        (["--learner", "multinomial:prior=spam"], "`prior` cannot be `spam` in `multinomial:prior=spam`"),
        (["--learner", "multinomial:prior=spam=1/spam=0"], "`prior` cannot be `spam=1/spam=0`"),
        (["--learner", "multinomial:prior=spam=0.5/eggs=0.5"], "the prior names eggs, spam; the classes are"),
        (["--learner", "multinomial:alhpa=1"], "multinomial has no alhpa; did you mean `alpha`?"),
        (["--learner", "multinomial:alpha"], "`alpha` needs a value"),
        (["--learner", "multinomial:alpha=much"], "`alpha` cannot be `much` in `multinomial:alpha=much`"),
        (["--alpha", "1"], "there is no option `--alpha`\n\nhint: it is a setting: `--learner m"),
        (["--ngrams", "1-2"], "there is no option `--ngrams`\n\nhint: it is a setting: `--learner"),
        (["--threads", "0"], "`--threads` cannot be `0`"),
        (["--learner", "auto:unit=word"], "unknown unit `word`; did you mean `words`?"),
        (["--learner", "auto:stop_words=german"], "no file at `german`"),
        (["--learner", "auto:vocabulary=latin1.txt"], "`latin1.txt` is not UTF-8: "),
        (["--test", "missing.csv"], "no file at `missing.csv`"),
        (["-o", "missing/mail.textodds"], "cannot write `missing/mail.textodds`: there is no folder"),
        (["-o", "."], "cannot write `.`: it is a folder"),
        (["-o", "mail.csv"], "the model would replace `mail.csv`, which DATA names"),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_had_is_an_error_and_leaves_nothing_behind(mail, capsys, options, problem):
    Path("latin1.txt").write_bytes(b"caf\xe9\n")
    assert main(["train", "mail.csv", "--learner", "multinomial", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {problem}")
    assert sorted(path.name for path in Path().iterdir()) == ["latin1.txt", "mail.csv"]
    assert Path("mail.csv").read_text() == MAIL


def test_a_prior_may_be_json_for_labels_with_commas(capsys):
    Path("mail.csv").write_text('text,label\na,"x,y"\nb,z\n')
    assert (
        main(["train", "mail.csv", "--quiet", "--learner", 'multinomial:prior={"x,y": 0.25, "z": 0.75}']) == 0
    )
    assert textodds.load("mail.textodds").recipe.learner.prior == {"x,y": 0.25, "z": 0.75}


@pytest.mark.parametrize(
    ("data", "expected"),
    [(["in/mail.csv"], "mail"), (["in/mail.csv.gz"], "mail"), (["in/mail.csv", "in/more.csv"], "model"),
     (["in/*.csv"], "model"), (["by class"], "by class")],
)  # fmt: skip
def test_the_model_is_called_after_the_data(data, expected):
    Path("in").mkdir()
    Path("in/mail.csv").write_text(MAIL)
    Path("in/more.csv").write_text(MAIL)
    Path("in/mail.csv.gz").write_bytes(gzip.compress(MAIL.encode()))
    for label in ("ham", "spam"):
        Path("by class", label).mkdir(parents=True)
        Path("by class", label, "1.txt").write_text(label)
    assert main(["train", "--quiet", *data]) == 0
    assert [path.name for path in Path().glob("*.textodds")] == [f"{expected}.textodds"]


def test_several_files_and_a_pattern_are_read_together(mail):
    Path("more.csv").write_text(MAIL)
    assert main(["train", "--quiet", "--learner", "multinomial", "mail.csv", "m?re.csv"]) == 0
    assert textodds.load("model.textodds").tally.n_documents == 12


def test_a_query_needs_no_data(mail):
    assert (
        main(["train", "--quiet", "--query", "SELECT * FROM 'mail.csv' WHERE text LIKE '%free%'", "-o", "m"])
        == 0
    )
    assert textodds.load("m").classes_ == ("spam",)


def test_a_single_class_is_learned_with_a_warning(capsys):
    Path("one.csv").write_text("text,label\nhello,ham\n")
    assert main(["train", "one.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "warning: only one class: every answer will be 'ham'\n")
    assert textodds.load("one.textodds")("anything").label == "ham"


def test_skipped_rows_are_counted_and_kept(capsys):
    Path("mail.csv").write_text(MAIL + "no label,\n")
    assert main(["train", "mail.csv", "--learner", "multinomial"]) == 2
    assert "error: mail.csv, line 8: " in capsys.readouterr().err
    assert main(["train", "mail.csv", "--learner", "multinomial", "--bad-rows", "skip"]) == 0
    err = capsys.readouterr().err
    assert "skipped 1 row: " in err
    assert "1 skipped row not kept; to keep them: `--rejects FILE`" in err
    assert {path.name for path in Path().iterdir()} == {"mail.csv", "mail.textodds"}
    assert (
        main(
            [
                "train",
                "mail.csv",
                "--learner",
                "multinomial",
                "--bad-rows",
                "skip",
                "--rejects",
                "bad.jsonl",
                "--json",
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["rejected"], told["rejects"]) == (6, 1, "bad.jsonl")
    assert json.loads(Path("bad.jsonl").read_text())["line"] == 8


def test_a_weight_is_a_weight(capsys):
    Path("mail.csv").write_text("text,label,n\na,x,2.5\nb,y,1\n")
    assert main(["train", "mail.csv", "--learner", "multinomial", "--weight", "n"]) == 0
    assert re.search(r"class +weight +share\n +x +2.5 +71.4%", capsys.readouterr().err)


def test_columns_formats_and_dialects_can_be_named():
    Path("rows.txt").write_text('1;say "hi;greeting\n2;go away;order\n')
    options = ["--format", "csv", "--no-header", "--no-quoting", "--text", "2", "--label", "3"]
    assert main(["train", "rows.txt", "--quiet", *options]) == 0
    assert textodds.load("rows.textodds").classes_ == ("greeting", "order")


def test_quality_is_measured_shown_and_kept(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--test", "mail.csv"]) == 0
    err = capsys.readouterr().err
    assert re.search(r"accuracy +1\.0000 +0\.\d+ to 1\.0000", err)
    assert "on 6 rows of mail.csv; ranges are 95 % intervals" in err
    assert "textodds inspect mail.textodds" in err
    quality = textodds.load("mail.textodds").info["quality"]
    assert (quality["source"], quality["n"], quality["accuracy"]) == ("mail.csv", 6, 1.0)


def test_labels_that_training_had_not_are_told_beside_the_measures(mail, capsys):
    Path("one.csv").write_text("label,text\n" + "spam,win a prize\n" * 3)
    assert main(["train", "one.csv", "--test", "mail.csv"]) == 0
    err = capsys.readouterr().err
    assert "3 rows with labels that the model does not have: ham (3)\n" in err
    assert "left out of the log-loss" in err


def test_a_model_without_counts_is_smaller_and_cannot_learn(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet"]) == 0
    assert (
        main(
            [
                "train",
                "mail.csv",
                "--learner",
                "multinomial",
                "--quiet",
                "--no-counts",
                "-o",
                "small.textodds",
            ]
        )
        == 0
    )
    assert Path("small.textodds").stat().st_size < Path("mail.textodds").stat().st_size
    assert main(["learn", "small.textodds", "mail.csv"]) == 2
    assert "error: this model was saved without its counts" in capsys.readouterr().err


def test_the_ten_largest_classes_are_named(capsys):
    rows = "".join(f"text {k},class {k:02}\n" * (k + 1) for k in range(12))
    Path("many.csv").write_text("text,label\n" + rows)
    assert main(["train", "many.csv"]) == 0
    err = capsys.readouterr().err
    assert re.search(r"class 11 +12 +15\.4%\n +class 10 +11", err)
    assert not re.search(r"^ +class 01", err, re.MULTILINE)
    assert "fewer than 10 texts to learn from: `class 00` (1), `class 01` (2)" in err
    assert "and 2 smaller classes" in err


def test_dropped_words_are_a_warning(capsys):
    words = [f"w{k:06}" for k in range(60_000)]
    rows = "".join(f"{' '.join(words[k : k + 10])},{k % 2}\n" for k in range(0, 60_000, 10))
    Path("wide.csv").write_text("text,label\n" + rows)
    assert main(["train", "wide.csv", "--quiet", "--memory", "1MB"]) == 0
    assert capsys.readouterr().err.startswith("warning: the vocabulary outgrew 0.954 MiB")
