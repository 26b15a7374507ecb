import gzip

import pytest
from unbatched import pairs, read_pairs

from textodds.data import read
from textodds.errors import BadFile, BadRow, InputError


def write(folder, documents):
    for name, content in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def mail(tmp_path):
    folder = tmp_path / "mail"
    write(folder, {"spam/2.txt": "win", "spam/1.txt": "buy", "ham/deep/er/1": "see you", "ham/a.txt": ""})
    return folder


def test_every_file_below_a_class_is_a_document_in_sorted_order(mail):
    assert read_pairs(mail) == [("", "ham"), ("see you", "ham"), ("buy", "spam"), ("win", "spam")]


def test_a_folder_can_be_read_again_and_has_a_size(mail):
    source = read(mail)
    assert source.size == len("winbuysee you")
    assert pairs(source) == pairs(source)
    assert source.bytes_read == source.size


def test_without_labels_files_are_read_wherever_they_lie(mail):
    write(mail, {"loose.txt": "loose"})
    assert ("loose", None) in read_pairs(mail, labelled=False)


def test_a_file_beside_the_classes_is_a_bad_row(mail):
    write(mail, {"README": "read me"})
    with pytest.raises(BadRow, match=r"README: is outside the class folders"):
        read_pairs(mail)


def test_names_that_begin_with_a_dot_are_passed_over(mail):
    before = read_pairs(mail)
    write(mail, {".git/config": "x", "spam/.DS_Store": b"\xff", ".hidden": "x"})
    assert read_pairs(mail) == before


def test_a_file_that_is_not_utf8_is_a_bad_row_with_its_path_and_offset(mail):
    write(mail, {"spam/0.txt": b"caf\xe9"})
    with pytest.raises(BadRow, match=r"spam.0\.txt: invalid UTF-8 at byte 3 of the text") as caught:
        read_pairs(mail)
    assert caught.value.line is None
    source = read(mail, bad_rows="skip")
    assert len(pairs(source)) == 4
    assert source.rejects.count == 1


def test_a_bom_is_dropped_and_a_gzipped_document_unpacked(mail):
    write(mail, {"ham/0": b"\xef\xbb\xbfhello", "ham/1.gz": gzip.compress(b"packed")})
    assert {("hello", "ham"), ("packed", "ham")} <= set(read_pairs(mail))


def test_links_to_folders_are_not_entered(mail):
    (mail / "spam" / "loop").symlink_to(mail)
    assert len(read_pairs(mail)) == 4


def test_a_folder_without_classes_is_told(tmp_path):
    write(tmp_path / "flat", {"a.csv": "text,label\n"})
    with pytest.raises(BadFile, match="has no sub-folders, of which there should be one per class") as caught:
        read_pairs(tmp_path / "flat")
    assert "flat/*.csv" in caught.value.hint


def test_an_empty_class_gives_no_batch(tmp_path):
    (tmp_path / "mail" / "spam").mkdir(parents=True)
    assert list(read(tmp_path / "mail")) == []


def test_columns_and_dialects_make_no_sense_for_a_folder(mail):
    with pytest.raises(InputError, match="`label` names a column"):
        read(mail, label="kind")
    with pytest.raises(InputError, match="`header` is for CSV, TSV and Excel"):
        read(mail, header=False)
