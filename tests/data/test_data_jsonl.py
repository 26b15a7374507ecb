import gzip
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unbatched import pairs, read_pairs, rows

from textodds.data import jsonl, read, row_parts
from textodds.errors import BadFile, BadRow, MissingColumn


def written(path, *lines):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
    return path


GOOD = '{"text": "win a phone", "label": "spam"}'


@pytest.fixture
def mail(tmp_path):
    return tmp_path / "mail.jsonl"


def test_objects_are_rows_whatever_the_order_of_their_keys(mail):
    written(mail, GOOD, '{"label": "ham", "id": 7, "text": "see you"}')
    assert read_pairs(mail) == [("win a phone", "spam"), ("see you", "ham")]


def test_keys_can_be_named(mail):
    written(mail, '{"a": "x", "b": 3, "c": 0.5}')
    assert rows(read(mail, text="a", label="b", weight="c")) == [("x", "3", 0.5)]


def test_blank_lines_are_skipped_and_still_count_as_lines(mail):
    written(mail, "", GOOD, " \t", "nonsense")
    with pytest.raises(BadRow, match=r"mail\.jsonl, line 4"):
        read_pairs(mail)


def test_crlf_is_a_line_end_and_a_bom_is_dropped(mail):
    mail.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n" + GOOD.encode() + b"\r\n")
    assert read_pairs(mail) == [("win a phone", "spam")] * 2


def test_the_last_line_needs_no_line_end(mail):
    mail.write_text(GOOD)
    assert len(read_pairs(mail)) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name enclosed in double quotes"),
        (GOOD + GOOD, "Extra data at column 41"),
        ('["a"]', "a JSON list, not an object"),
        ("null", "a JSON null, not an object"),
        ('{"text": null, "label": "x"}', "text is null"),
        ('{"label": "x"}', "text is null"),
        ('{"text": 5, "label": "x"}', r"text is 5 \(int\), not text"),
        ('{"text": "a"}', "label is empty"),
        ('{"text": "a", "label": null}', "label is empty"),
        ('{"text": "a", "label": ""}', "label is empty"),
        ('{"text": "a", "label": ["x"]}', r"label is \['x'\]"),
        ('{"text": "a\0b", "label": "x"}', "Invalid control character"),
        (r'{"text": "\ud800", "label": "x"}', "half a surrogate pair"),
        (b'{"text": "ab\xff", "label": "x"}', "invalid UTF-8 at byte 2 of the text"),
        (b'{"text": "a", "label": "\xffx"}', "invalid UTF-8 at byte 0 of the label"),
        (b'{"text": "a", "label": "x", "id": "\xff"}', "invalid UTF-8 at byte 35 of the line"),
        (b'{"text": "\xff', "invalid UTF-8 at byte 10 of the line"),
        ('{"text": ' + "[" * 100_000, "recursion"),
        ('{"text": "a", "label": ' + "1" * 5000 + "}", "digits"),
    ],
)
def test_a_bad_line_stops_the_run_with_file_line_and_reason(mail, line, reason):
    written(mail, GOOD, line)
    with pytest.raises(BadRow, match=reason) as caught:
        read_pairs(mail)
    assert (caught.value.where, caught.value.line) == (str(mail), 2)


def test_nul_written_as_an_escape_is_kept(mail):
    written(mail, r'{"text": "a\u0000b", "label": "x"}')
    assert read_pairs(mail) == [("a\0b", "x")]


def test_the_first_of_several_bad_lines_is_the_one_named(mail):
    written(mail, GOOD, '{"text": null, "label": "x"}', "nonsense")
    with pytest.raises(BadRow, match="line 2: text is null"):
        read_pairs(mail)


def test_an_empty_file_gives_no_batch(mail):
    mail.write_bytes(b"")
    assert list(read(mail)) == []


def test_columns_are_those_of_the_first_object(mail):
    written(mail, '{"body": "a", "kind": "x"}')
    with pytest.raises(MissingColumn, match="its columns are `body`, `kind`"):
        read_pairs(mail)


def test_without_labels_the_batches_have_none(mail):
    written(mail, '{"text": "a"}', '{"text": "b", "label": null}')
    assert read_pairs(mail, labelled=False) == [("a", None), ("b", None)]


def test_a_gzip_stream_that_is_cut_off_is_told_with_the_rows_before(mail):
    lines = [json.dumps({"text": f"text {n * 7919 % 10_007}", "label": "x"}) for n in range(5000)]
    packed = gzip.compress("\n".join(lines).encode())
    mail.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(
        BadFile, match=r"ends in the middle of its gzip stream after row [1-9][\d,]+; it was cut off"
    ):
        read_pairs(mail, bad_rows="skip")


def test_a_damaged_gzip_stream_is_told(mail):
    packed = bytearray(gzip.compress(GOOD.encode() * 100))
    packed[12:20] = b"\xff" * 8
    mail.write_bytes(packed)
    with pytest.raises(BadFile, match=r"mail\.jsonl` cannot be read"):
        read_pairs(mail)


def test_a_file_without_line_ends_is_told_before_it_fills_the_memory(mail, monkeypatch):
    monkeypatch.setattr(jsonl, "RECORD_BYTES", 100)
    written(mail, GOOD, "x" * 101)
    with pytest.raises(BadFile, match=r"line 2 of .*mail\.jsonl` is longer than 1 GiB"):
        read_pairs(mail, bad_rows="skip")


def test_utf16_is_told_rather_than_every_row_rejected(mail):
    mail.write_text(GOOD, encoding="utf-16")
    with pytest.raises(BadFile, match="is in UTF-16") as caught:
        read_pairs(mail)
    assert "--encoding utf-16" in caught.value.hint


texts = st.text(st.characters(codec="utf-8"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(texts, texts.filter(bool)), min_size=1),
    st.booleans(),
    st.integers(1, 5),
    st.integers(1, 40),
)
def test_any_text_reads_back_gzipped_or_plain_in_batches_of_any_size(
    mail, documents, ascii_only, n_rows, n_bytes
):
    lines = [json.dumps({"text": t, "label": y}, ensure_ascii=ascii_only) for t, y in documents]
    content = "\n".join(lines).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_parts, "BATCH_ROWS", n_rows)
        patch.setattr(row_parts, "BATCH_BYTES", n_bytes)
        for packed in (content, gzip.compress(content)):
            mail.write_bytes(packed)
            batches = list(read(mail))
            assert max(map(len, batches)) <= n_rows
            assert pairs(batches) == documents


@pytest.mark.parametrize("indent", [None, 1])
def test_an_object_of_a_list_is_parsed_once_whatever_its_letters(tmp_path, monkeypatch, indent):
    rows = [{"text": f"naïve {i} phone", "label": "ham"} for i in range(300)]
    path = tmp_path / "mail.json"
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=indent), encoding="utf-8")
    parsed = []

    def parse(text, at=0):
        parsed.append(at)
        return json.JSONDecoder().raw_decode(text, at)

    monkeypatch.setattr("textodds.data.jsonl._parse", parse)
    assert [text for batch in read(path) for text in batch.texts] == [row["text"] for row in rows]
    assert len(parsed) == 300


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(0, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
LABELS = st.text(max_size=3) | st.integers(-3, 3) | st.booleans() | VALUES
OBJECTS = st.fixed_dictionaries(
    {"text": st.text(max_size=8) | VALUES, "label": LABELS, "w": st.floats(0, 3) | st.integers(-1, 2)},
    optional={"id": VALUES},
)


@st.composite
def spoiled_lines(draw):
    """Lines of JSON, some with a byte more, less or other."""
    lines = [GOOD[:-1].encode() + b', "w": 2}']
    for item in draw(st.lists(OBJECTS, max_size=8)):
        line = bytearray(json.dumps(item, ensure_ascii=draw(st.booleans())).encode(errors="replace"))
        if draw(st.booleans()):
            at = draw(st.integers(0, len(line) - 1))
            line[at : at + draw(st.integers(0, 2))] = draw(
                st.sampled_from([b"", b'"', b"\\", b"0", b"-", b" ", b"\xff", b"\t", b"e", b",", b"]"])
            )
        lines.append(bytes(line).replace(b"\n", b" "))
    return b"\n".join(lines)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120)
@given(spoiled_lines(), st.integers(1, 4), st.sampled_from([None, "w"]))
def test_the_kernel_reads_as_python_does_whatever_the_lines(mail, content, n_rows, weight):
    mail.write_bytes(content + b"\n")
    found = []
    for is_plain in (jsonl._is_plain, lambda request: False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonl, "_is_plain", is_plain)
            patch.setattr(row_parts, "BATCH_ROWS", n_rows)
            source = read(mail, weight=weight, bad_rows="skip")
            listed = rows(source)
            found.append((listed, source.rejects.count, source.rejects.reasons, source.label_type))
    assert found[0] == found[1]


def test_rows_of_a_pipe_are_handed_on_as_they_come(tmp_path):
    pipe = tmp_path / "mail.jsonl"
    os.mkfifo(pipe)
    writing = os.open(pipe, os.O_RDWR)
    try:
        os.write(writing, f"{GOOD}\n".encode())
        stream = iter(read(pipe, text="text", label="label"))
        assert pairs([next(stream)]) == [("win a phone", "spam")]
        os.write(writing, f"{GOOD[:9]}".encode())
        os.write(writing, f"{GOOD[9:]}\n".encode())
        assert pairs([next(stream)]) == [("win a phone", "spam")]
        stream.close()
    finally:
        os.close(writing)
