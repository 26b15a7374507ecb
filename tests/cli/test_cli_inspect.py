import json
import re
from pathlib import Path

import numpy as np
import pytest

import textodds
from textodds.cli import main


def test_inspect_shows_recipe_file_and_words(mail, capsys):
    assert (
        main(["train", "mail.csv", "--quiet", "--test", "mail.csv", "--learner", "multinomial:min_df=2"]) == 0
    )
    capsys.readouterr()
    assert main(["inspect", "mail.textodds", "--top", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    loaded = textodds.load("mail.textodds")
    assert out.startswith(
        "mail.textodds\n  classes       2\n  documents     6\n  words         4, of 16 counted\n"
    )
    assert "  learner       multinomial (alpha 1.0, prior data)\n" in out
    assert "  text          unit words, ngrams 1-1, lower, normal form NFC\n" in out
    assert "  selection     min df 2, max df 1.0, unknown ignore\n" in out
    assert re.search(r"  file          [\d.]+ kB, format 3, with counts, with documents\n", out)
    assert f"  fingerprint   {loaded.info['fingerprint'][:16]}…\n" in out
    measured = (
        r"accuracy 1\.0000 \(0\.\d+ to 1\.0000\), the largest class alone 0\.5000, on 6 rows of mail\.csv\n"
    )
    assert re.search(r"  quality       " + measured, out)
    assert "  ham             3   50.0%\n" in out
    ham, spam = ("   ".join(f"{w} {o:+.2f}" for w, o in loaded.top_words(c, 2)) for c in ("ham", "spam"))
    assert out.endswith(f"\n  ham    {ham}\n  spam   {spam}\n")


def test_json_holds_it_all(model, capsys):
    assert main(["inspect", "mail.textodds", "--json", "--top", "3", "--word", "FREE"]) == 0
    told = json.loads(capsys.readouterr().out)
    loaded = textodds.load("mail.textodds")
    assert told["classes"] == {"ham": 3, "spam": 3}
    assert (told["words"], told["documents"], told["format"], told["counts"]) == (16, 6, 3, True)
    assert told["bytes"] == Path("mail.textodds").stat().st_size
    assert told["recipe"] == json.loads(json.dumps(loaded.recipe.as_dict()))
    assert told["fingerprint"] == loaded.tally.fingerprint()
    assert told["top_words"]["spam"][0]["word"] == loaded.top_words("spam", 1)[0][0]
    assert [len(words) for words in told["top_words"].values()] == [3, 3]
    (word,) = told["asked"]
    assert (word["word"], word["known"]) == ("free", True)
    assert [word["by_class"][label]["count"] for label in ("ham", "spam")] == [0, 3]
    odds = dict(loaded.top_words("spam", 15))["free"]
    assert word["by_class"]["spam"]["log_odds"] == pytest.approx(odds, rel=1e-12)


def test_a_word_is_shown_class_by_class(model, capsys):
    assert main(["inspect", "mail.textodds", "--word", "free", "--word", "zebra"]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"  free   count    weight   log-odds\n  spam       3   -\d\.\d{4}    \+\d\.\d{4}\n  ham        0 ",
        out,
    )
    assert out.endswith("\n`zebra` is not among the words of the model\n")


def test_a_hashed_word_is_found_by_its_name(mail, capsys):
    assert main(["train", "mail.csv", "--quiet", "--learner", "multinomial:hash_bits=18"]) == 0
    assert main(["inspect", "mail.textodds", "--word", "free", "--json"]) == 0
    (word,) = json.loads(capsys.readouterr().out)["asked"]
    assert word["word"].startswith("#")
    assert word["by_class"]["spam"]["count"] == 3


def test_words_of_named_classes_only(model, capsys):
    assert main(["inspect", "mail.textodds", "--class", "spam", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["top_words"]) == ["spam"]
    assert main(["inspect", "mail.textodds", "--class", "spma"]) == 2
    assert "error: there is no class `spma`; did you mean `spam`?" in capsys.readouterr().err


def test_of_many_classes_twenty_are_shown(capsys):
    rows = "".join(f"word{k},class{k:02}\n" * (1 + (k > 4)) for k in range(25))
    Path("many.csv").write_text("text,label\n" + rows)
    assert main(["train", "many.csv", "--quiet"]) == 0
    assert main(["inspect", "many.textodds"]) == 0
    out = capsys.readouterr().out
    assert "and 5 smaller classes" in out
    assert "class04" not in out
    assert len(re.findall(r"^  class\d\d   word", out, re.M)) == 20


def test_a_model_without_counts_can_be_inspected(mail, capsys):
    assert main(["train", "mail.csv", "--learner", "multinomial", "--quiet", "--no-counts"]) == 0
    assert main(["inspect", "mail.textodds", "--word", "free"]) == 0
    out = capsys.readouterr().out
    assert "without counts" in out
    assert re.search(r"  spam +– ", out)


def test_a_model_of_one_class_can_be_inspected(capsys):
    Path("one.csv").write_text("text,label\nhello,ham\n")
    assert main(["train", "one.csv", "--quiet"]) == 0
    assert main(["inspect", "one.textodds", "--word", "hello"]) == 0
    assert "words that speak" not in capsys.readouterr().out


def test_what_a_forged_file_says_of_itself_does_no_harm(mail, capsys):
    forged = textodds.train("mail.csv", learner="multinomial")
    forged.info.update(quality={"accuracy_interval": 3})
    forged.save("mail.textodds")
    assert main(["inspect", "mail.textodds"]) == 0
    assert "quality" not in capsys.readouterr().out
    for name, value in (("documents", "many"), ("source", ["x"]), ("rejected", {}), ("quality", 3)):
        wrong = textodds.train("mail.csv", learner="multinomial")
        wrong.info[name] = value
        wrong.save("mail.textodds")
        assert main(["inspect", "mail.textodds"]) == 2
        assert f"`{name}` of its data is {value!r}" in capsys.readouterr().err


def test_columns_have_the_mean_the_deviation_and_the_shares_of_each_class(tmp_path, capsys):
    height, hair = [1.6, 1.7, 1.8, 1.8, 1.9, 2.0], ["long", "long", "short", "short", "short", "short"]
    table, labels = {"height": height, "hair": hair}, ["f", "f", "f", "m", "m", "m"]
    model = textodds.train(table, labels, learner="mixed:smoothing=0", columns={"height": "gaussian"})
    model.save(tmp_path / "m.textodds")
    assert main(["inspect", str(tmp_path / "m.textodds"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    own = found["distributions"]["height"]["f"]
    assert own["mean"] == pytest.approx(np.mean(height[:3]))
    assert own["deviation"] == pytest.approx(np.std(height[:3]))
    assert found["distributions"]["hair"]["f"]["shares"] == pytest.approx({"long": 3 / 5, "short": 2 / 5})
    assert found["parameters"]["n"] == 2 * 2 + 2 * 1 + 1
    assert main(["inspect", str(tmp_path / "m.textodds")]) == 0
    assert "1.7 ± 0.0816" in capsys.readouterr().out


def test_weights_of_softmax_regression_are_shown_by_feature(tmp_path, capsys):
    table = {"x": [1.0, 2.0, 3.0, None, 2.5, 0.5], "c": ["a", "b", "b", "a", None, "a"]}
    textodds.train(table, list("nnyyny"), learner="softmax:C=1").save(tmp_path / "m.textodds")
    assert main(["inspect", str(tmp_path / "m.textodds"), "--json"]) == 0
    weights = json.loads(capsys.readouterr().out)["weights"]
    assert [(each["column"], each["value"]) for each in weights] == [
        ("x", ""),
        ("x", "missing"),
        ("c", "= a"),
        ("c", "= b"),
        ("c", "missing"),
    ]
    assert all(sum(each["weights"].values()) == pytest.approx(0.0) for each in weights)
