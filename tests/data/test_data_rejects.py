import json

import pytest
from unbatched import pairs

from textodds.data import read
from textodds.data.rejects import OTHER_REASONS, REASONS_KEPT
from textodds.errors import BadFile, BadRow, InputError

LINES = (
    b'{"text": "a", "label": "x"}\n'
    b'{"text": null, "label": "x"}\n'
    b"nonsense \xff \xe2\x82\xac\n"
    b'{"text": "b", "label": "y"}\n'
)


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "data" / "mail.jsonl"
    path.parent.mkdir()
    path.write_bytes(LINES)
    return path


def kept(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_skipped_rows_are_counted_with_their_reasons_and_written_down(mail):
    source = read(mail, bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == [("a", "x"), ("b", "y")]
    assert source.rejects.count == 2
    assert source.rejects.reasons == {
        "text is null": 1,
        "invalid UTF-8 at byte 9 of the line": 1,
    }
    assert kept(source.rejects.path) == [
        {"file": str(mail), "line": 2, "reason": "text is null", "row": '{"text": null, "label": "x"}'},
        {
            "file": str(mail),
            "line": 3,
            "reason": "invalid UTF-8 at byte 9 of the line",
            "row": "nonsense \\xff €",
        },
    ]


def test_a_pair_that_is_none_is_written_down_as_it_came():
    source = read([("a", "x"), ("b",), 5], bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == [("a", "x")]
    assert [row["row"] for row in kept(source.rejects.path)] == ['["b"]', "5"]


def test_skipped_rows_are_written_nowhere_unless_a_file_is_named(mail, tmp_path):
    for source in (read(mail, bad_rows="skip"), read([("a", "x"), ("b",)], bad_rows="skip")):
        pairs(source)
        assert source.rejects.count > 0
        assert source.rejects.path is None
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_file_for_skipped_rows_can_be_chosen(mail, tmp_path):
    source = read(mail, bad_rows="skip", rejects_path=tmp_path / "bad.jsonl")
    pairs(source)
    assert source.rejects.path == tmp_path / "bad.jsonl"
    assert len(kept(tmp_path / "bad.jsonl")) == 2


def test_no_file_is_made_where_there_is_nothing_to_write(mail, tmp_path):
    mail.write_bytes(LINES[:28])
    source = read(mail, bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == [("a", "x")]
    assert (source.rejects.count, source.rejects.path) == (0, None)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_second_pass_counts_anew_and_starts_the_file_anew(mail):
    source = read(mail, bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == pairs(source)
    assert source.rejects.count == 2
    assert len(kept(source.rejects.path)) == 2


def test_the_first_bad_row_stops_the_run_by_default_and_nothing_is_written(mail, tmp_path):
    source = read(mail)
    with pytest.raises(BadRow, match=r"mail\.jsonl, line 2: text is null") as caught:
        pairs(source)
    assert "--bad-rows skip" in caught.value.hint
    assert source.rejects.count == 0
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_rows_of_memory_are_written_as_json_with_their_number():
    source = read(["a", None, "c"], ["x", "y", None], [1, 2, 3], bad_rows="skip", rejects_path="bad.jsonl")
    assert pairs(source) == [("a", "x")]
    first, second = kept(source.rejects.path)
    assert (first["file"], first["line"], first["reason"]) == ("a list of 3 texts", 2, "text is null")
    assert json.loads(first["row"]) == {"text": None, "label": "y", "weight": 2}
    assert json.loads(second["row"]) == {"text": "c", "label": None, "weight": 3}


def test_rows_that_no_encoding_can_write_are_escaped():
    source = read(
        [("a\ud800", "x"), (b"\xff", "y"), (object(), "z")], bad_rows="skip", rejects_path="bad.jsonl"
    )
    assert pairs(source) == []
    assert json.loads(kept(source.rejects.path)[0]["row"])["label"] == "x"
    assert json.loads(kept(source.rejects.path)[1]["row"]) == {"text": "\\xff", "label": "y"}


def test_the_file_is_complete_when_the_pass_is_left_early(mail):
    mail.write_bytes(LINES * 20_000)
    source = read(mail, bad_rows="skip", rejects_path="bad.jsonl")
    stream = iter(source)
    next(stream)
    stream.close()
    assert len(kept(source.rejects.path)) == source.rejects.count > 0


def test_reasons_are_kept_up_to_a_number_so_that_memory_is_bounded():
    n = 3 * REASONS_KEPT
    source = read([("a", "x", -1 - n) for n in range(n)], bad_rows="skip")
    assert pairs(source) == []
    assert source.rejects.count == sum(source.rejects.reasons.values()) == n
    assert len(source.rejects.reasons) == REASONS_KEPT + 1
    assert source.rejects.reasons[OTHER_REASONS] == n - REASONS_KEPT


def test_an_unknown_way_with_bad_rows_is_answered_with_its_near_miss(mail):
    with pytest.raises(InputError, match="unknown policy for bad rows `skipp`; did you mean `skip`"):
        read(mail, bad_rows="skipp")


def test_a_file_for_rows_that_stop_the_run_makes_no_sense(mail):
    with pytest.raises(InputError, match="the first bad row stops the run"):
        read(mail, rejects_path="bad.jsonl")


def test_the_data_is_not_overwritten_with_its_bad_rows(mail):
    with pytest.raises(InputError, match="would overwrite"):
        read(mail, bad_rows="skip", rejects_path=mail)
    assert mail.read_bytes() == LINES


def test_a_place_that_cannot_be_written_is_told(mail, tmp_path):
    source = read(mail, bad_rows="skip", rejects_path=tmp_path / "nowhere" / "bad.jsonl")
    with pytest.raises(BadFile, match=r"cannot write the rejected rows to .*bad\.jsonl`: No such file"):
        pairs(source)


def test_bad_rows_of_several_files_are_told_apart(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(LINES)
    source = read("*.jsonl", bad_rows="skip", rejects_path="bad.rows")
    assert len(pairs(source)) == 4
    assert [(row["file"], row["line"]) for row in kept(source.rejects.path)] == [
        ("a.jsonl", 2), ("a.jsonl", 3), ("b.jsonl", 2), ("b.jsonl", 3),
    ]  # fmt: skip


def test_bad_rows_kept_by_an_earlier_run_are_no_data_of_the_next(tmp_path):
    (tmp_path / "mail.jsonl").write_bytes(LINES)
    source = read("mail.jsonl", bad_rows="skip", rejects_path="mail.rejected.jsonl")
    pairs(source)
    assert source.rejects.path.exists()
    assert read("*.jsonl").description == "mail.jsonl"
    assert read("*.rejected.jsonl", text="row", label="reason").description == "mail.rejected.jsonl"
