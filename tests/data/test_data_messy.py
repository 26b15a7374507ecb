"""Files as people have them, from `tests/messy`, read in Python."""

import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from unbatched import pairs

import textodds
from pairs import together
from textodds.data import encoding, read
from textodds.data.label_sets import labels_in
from textodds.data.mail import text_of_html
from textodds.errors import BadFile, BadRow, InputError, LabelsRead, MissingColumn, Unsupported

MESSY = Path(__file__).parents[1] / "messy"
GERMAN = [
    ("schöne Grüße aus Köln", "ham"),
    ("gratis Prämie, jetzt für Sie", "spam"),
    ("bis später im Café", "ham"),
    ("Prämie wählen, gratis", "spam"),
]


@pytest.mark.parametrize(
    ("name", "given"), [("cp1252", "windows-1252"), ("cp1252", "latin-1"), ("utf16", "utf-16")]
)
def test_a_file_is_read_in_the_encoding_that_is_said(name, given):
    assert pairs(read(MESSY / f"{name}.csv", encoding=given)) == GERMAN


def test_every_format_of_text_is_transcoded(tmp_path):
    for name, text in {
        "a.jsonl": '{"text": "Grüße", "label": "x"}\n',
        "a.json": '[{"text": "Grüße", "label": "x"}]',
        "a.tsv": "text\tlabel\nGrüße\tx\n",
        "a.txt": "__label__x Grüße\n",
        "folder/x/1.txt": "Grüße",
    }.items():
        (path := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-16")
        assert pairs(read(tmp_path / name.split("/")[0], encoding="utf-16")) == [("Grüße", "x")], name


def test_pieces_may_end_within_a_character(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "PIECE", 1)
    assert pairs(read(MESSY / "utf16.csv", encoding="utf-16")) == GERMAN


def test_bytes_that_are_not_in_the_encoding_are_told_with_line_and_byte():
    with pytest.raises(BadFile, match=r"cp1252\.csv`, line 2: byte 15 of the file is not shift_jis"):
        pairs(read(MESSY / "cp1252.csv", encoding="shift-jis"))


@together
@pytest.mark.parametrize(
    ("written", "likely"),
    [
        ("Привет, как дела? Это письмо о заказе", "cp1251"),
        ("Привет, как дела? Это письмо о заказе", "koi8-r"),
        ("Dzień dobry, proszę o kontakt, łąka i źdźbło", "cp1250"),
        ("Καλημέρα, πώς είστε;", "cp1253"),
        ("こんにちは、これは無料の電話です。", "shift-jis"),
        ("안녕하세요 무료 전화입니다", "euc-kr"),
        ("crème brûlée et café, à bientôt", "mac-roman"),
        ("hello there, Grüße", "utf-16-le"),
    ],
)
def test_the_likely_encoding_is_proposed(written, likely):
    proposed = encoding.proposal(written.encode(likely))
    assert proposed.startswith(f"it may be in {likely}, in which it reads `")
    assert f"`--encoding {likely}`" in proposed


@pytest.mark.parametrize("raw", [b"\x80\x81\x82\xff\xfe", "Grüße über Köln ".encode() * 9 + b"\xe9"])
def test_no_encoding_is_proposed_for_bytes_that_are_none(raw):
    assert encoding.proposal(raw) is None


def test_an_encoding_that_there_is_not_is_refused_at_once():
    with pytest.raises(InputError, match="unknown encoding `cp125x`"):
        read(MESSY / "cp1252.csv", encoding="cp125x")
    with pytest.raises(InputError, match="unknown encoding `rot13`"):
        read(MESSY / "cp1252.csv", encoding="rot13")
    with pytest.raises(InputError, match="`encoding` does not apply: the source is not a file"):
        read(["a"], ["x"], encoding="cp1252")


def test_a_field_within_a_field_is_read_by_its_path():
    source = read(MESSY / "nested.jsonl", text="ticket.body", label="meta.kind")
    assert pairs(source) == [
        ("claim your free prize", "spam"),
        ("see you at noon", "ham"),
        ("a field whose own name has a dot", "ham"),
    ]
    joined = read(MESSY / "nested.jsonl", text="ticket.subject+ticket.body", label="meta.kind")
    assert pairs(joined)[0] == ("prize\nclaim your free prize", "spam")


def test_structs_of_parquet_and_dicts_in_dicts_have_paths_too(tmp_path):
    rows = [
        {"ticket": {"body": "a", "more": {"kind": "x"}}, "flat.name": "p"},
        {"ticket": {"body": None, "more": None}, "flat.name": "q"},
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    for source in (rows, tmp_path / "t.parquet"):
        assert pairs(read(source, text="ticket.body", label="flat.name", bad_rows="skip")) == [("a", "p")]
        assert pairs(read(source, text="flat.name", label="ticket.more.kind", bad_rows="skip")) == [
            ("p", "x")
        ]
        with pytest.raises(MissingColumn):
            pairs(read(source, text="ticket.nothing", label="flat.name"))


def test_a_model_remembers_the_path_of_its_text():
    model = textodds.train(
        MESSY / "nested.jsonl", text="ticket.body", label="meta.kind", learner="multinomial"
    )
    assert model.evaluate(MESSY / "nested.jsonl").n == 3


def test_a_json_list_is_read_in_pieces_of_any_size(tmp_path, monkeypatch):
    rows = [{"text": f"text é {k}\n", "label": str(k % 2), "n": [k, {"x": "]},"}]} for k in range(300)]
    import json

    from textodds.data import files

    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    wanted = [(row["text"], row["label"]) for row in rows]
    assert pairs(read(path)) == wanted
    monkeypatch.setattr(files, "BUFFER", 7)
    assert pairs(read(path)) == wanted


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('[{"text": "a", "label": "x"} {}]', "line 1: not JSON: Expecting ',' delimiter"),
        ('[{"text": "a", "label": "x"},\n{"text": x}]', "line 2: not JSON: Expecting value"),
        ('[{"text": "a", "label": "x"}', "line 1: not JSON: the list is never closed"),
        ('[{"text": "a", "label": "x"}]\n7', "line 2: not JSON: Extra data behind the list"),
    ],
)
def test_a_list_that_is_not_json_is_told_by_its_line(tmp_path, written, reason):
    (tmp_path / "b.json").write_text(written)
    with pytest.raises(BadFile, match=r"b\.json`, ") as caught:
        pairs(read(tmp_path / "b.json"))
    assert reason in caught.value.problem


def test_a_bad_row_of_a_list_can_be_skipped(tmp_path):
    (tmp_path / "b.json").write_bytes(b'[{"text": "a", "label": "x"},\n 3,\n{"text": "\xff", "label": "x"}]')
    source = read(tmp_path / "b.json", bad_rows="skip")
    assert pairs(source) == [("a", "x")]
    assert source.rejects.reasons == {
        "a JSON number, not an object": 1,
        "invalid UTF-8 at byte 0 of the text": 1,
    }


def test_messages_of_mbox_files_are_labelled_by_the_files():
    source = read([MESSY / "ham.mbox", MESSY / "spam.mbox"])
    assert pairs(source) == [
        ("Grüße from home\nSee you at six.\n\nFrom there we walk.", "ham"),
        ("lunch\nIn the café at noon?", "ham"),
        ("free prize\nClaim your free prize!\nCall\nnow", "spam"),
        ("win\nwin a free phone", "spam"),
    ]
    ham = MESSY / "ham.mbox"
    assert pairs(read(ham, text="subject", label="from"))[0] == ("Grüße from home", "Ann <ann@example.org>")
    dates = read(ham, text="date", labelled=False)
    assert [text for batch in dates for text in batch.texts] == ["2024-05-06T10:00:00+02:00", ""]


def test_messages_of_a_folder_are_labelled_by_the_folders_and_damage_is_no_failure():
    wanted = [
        ("six\nsee you at six", "ham"),
        ("noon\nlunch at noon\n\nFrom here it is not far.", "ham"),
        ("prize\nclaim your free prize", "spam"),
    ]
    found = pairs(read(MESSY / "folder"))
    assert found[:3] == wanted
    assert found[3][1] == "spam"
    assert found[3][0].endswith("free prize")
    assert pairs(read(sorted((MESSY / "folder").glob("*/*.eml")))) == found
    assert pairs(read(MESSY / "folder", text="body"))[0] == ("see you at six", "ham")


def test_a_maildir_is_read_and_named_by_its_folder(tmp_path):
    for box in ("ham", "spam"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / "mail" / box / part).mkdir(parents=True)
        shutil.copy(MESSY / "folder" / box / "1.eml", tmp_path / "mail" / box / "cur" / "17.host:2,S")
        (tmp_path / "mail" / box / "tmp" / "half").write_text("not yet delivered")
    wanted = [("six\nsee you at six", "ham"), ("prize\nclaim your free prize", "spam")]
    assert pairs(read(tmp_path / "mail")) == wanted
    assert pairs(read([tmp_path / "mail" / "ham", tmp_path / "mail" / "spam"])) == wanted


def test_files_without_a_telling_name_are_mail_on_request(tmp_path):
    (tmp_path / "ham").mkdir()
    shutil.copy(MESSY / "folder" / "ham" / "1.eml", tmp_path / "ham" / "0001")
    assert pairs(read(tmp_path, format="mail")) == [("six\nsee you at six", "ham")]


def test_a_file_that_is_no_mbox_is_told(tmp_path):
    (tmp_path / "a.mbox").write_text("text,label\n")
    with pytest.raises(BadFile, match="is not an mbox file"):
        pairs(read(tmp_path / "a.mbox"))


def test_html_without_end_is_read_as_far_as_it_goes():
    assert text_of_html("a &lt; b <p>c <b>d <!-- x --> e") == "a < b\nc d e"


def test_a_sheet_is_read_as_it_is_shown():
    pytest.importorskip("python_calamine")
    path = MESSY / "mail.xlsx"
    assert pairs(read(path)) == [
        ("claim your free prize", "spam"), ("see you at six", "ham"), ("42", "ham"),
    ]  # fmt: skip
    assert pairs(read(path, text="day"))[0] == ("2024-05-01", "spam")
    assert pairs(read(path, text="text", label="size", bad_rows="skip")) == [
        ("claim your free prize", "2.5"), ("see you at six", "3"),
    ]  # fmt: skip
    for sheet in ("Notes", 2, "2"):
        assert pairs(read(path, sheet=sheet)) == [("another sheet", "note")]
    assert len(pairs(read(path, header=False, text="1", label="2"))) == 4
    kinds = {column.name: column.kind for column in read(path, columns={}).schema.columns}
    assert (kinds["size"], kinds["day"]) == ("number", "ignore")


def test_what_is_wrong_with_a_sheet_is_told(tmp_path):
    pytest.importorskip("python_calamine")
    path = MESSY / "mail.xlsx"
    with pytest.raises(InputError, match="has no sheet `Note`; did you mean `Notes`") as caught:
        pairs(read(path, sheet="Note"))
    assert caught.value.hint == "its sheets are `Mails`, `Notes`"
    with pytest.raises(BadRow, match=r"mail\.xlsx, row 5: label is empty"):
        pairs(read(path, label="size"))
    with pytest.raises(InputError, match="`encoding` is for files of text"):
        read(path, encoding="cp1252")
    (tmp_path / "a.xlsx").write_text("text,label\n")
    with pytest.raises(BadFile, match="cannot be read as a spreadsheet"):
        pairs(read(tmp_path / "a.xlsx"))
    shutil.copy(path, tmp_path / "mail.data")
    with pytest.raises(BadFile, match="is a spreadsheet") as caught:
        pairs(read(tmp_path / "mail.data"))
    assert "--format excel" in caught.value.hint
    assert len(pairs(read(tmp_path / "mail.data", format="excel"))) == 3


def test_without_the_extra_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(Unsupported, match="needs python-calamine, which is not installed") as caught:
        pairs(read(MESSY / "mail.xlsx"))
    assert caught.value.hint == "pip install 'textodds[excel]'"


def test_a_dict_of_columns_is_data():
    data = {"text": ["free prize", "see you"], "label": ["spam", "ham"]}
    assert pairs(read(data)) == [("free prize", "spam"), ("see you", "ham")]
    assert textodds.train(data, learner="multinomial")("free").label == "spam"


def test_data_sets_of_hugging_face_are_data_and_classes_have_names():
    datasets = pytest.importorskip("datasets")
    label = datasets.ClassLabel(names=["ham", "spam"])
    features = datasets.Features({"text": datasets.Value("string"), "label": label})
    columns = {"text": ["see you", "free prize", "lunch", "what"], "label": [0, 1, 0, -1]}
    data = datasets.Dataset.from_dict(columns, features=features)
    wanted = [("see you", "ham"), ("free prize", "spam"), ("lunch", "ham")]
    assert pairs(read(data, bad_rows="skip")) == wanted
    assert pairs(read(data.select([1, 0]))) == wanted[1::-1]
    assert pairs(read(data.to_iterable_dataset(), bad_rows="skip")) == wanted
    splits = datasets.DatasetDict(train=data.select([0, 1, 2]), test=data.select([1]))
    model = textodds.train(splits, learner="multinomial")
    assert model.info["source"] == "the split `train`, a datasets Dataset of 3 rows"
    assert model.evaluate(splits).n == 1
    with pytest.raises(InputError, match="has no split `train`; its splits are a, b"):
        textodds.train(datasets.DatasetDict(a=data, b=data))


def test_several_labels_in_a_field_are_taken_apart_and_what_was_odd_is_reported():
    with pytest.warns(LabelsRead) as told:
        model = textodds.train(MESSY / "labels.csv", label="Tags", label_separator=",")
    assert [str(each.message) for each in told] == [
        "1 row has a label twice: it counts once",
        "1 row has an empty label beside others: it is left out",
    ]
    assert model.class_documents == {"Billing": 4.0, "delivery": 4.0, "praise": 1.0, "urgent": 2.0}
    assert model.n_texts == 8
    texts = ["thanks", "the refund is late"]
    assert [len(labels) for labels in model.with_thresholds(0.0).predict(texts)] == [4, 4]
    found = [labels_in(name) for _, name in pairs(model.read(MESSY / "labels.csv", labelled=True))]
    assert found[0] == ("Billing", "urgent")
    assert found[2] == ()
    assert found[6] == ("delivery", "praise")
