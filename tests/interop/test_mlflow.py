"""Models as MLflow models: saved, logged, registered and loaded by MLflow itself, with the same answers."""

import json
import os
import pickletools
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import textodds
from textodds.errors import InputError, Unsupported
from textodds.interop import mlflow as flavour

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # MLflow warns of its own type hints when it is imported
    import mlflow
    import mlflow.pyfunc
    from mlflow.models import Model, infer_signature
    from mlflow.pyfunc.scoring_server import invocations

TEXTS = ["win a free phone", "free prize inside", "see you at six", "are you at home"]
LABELS = ["spam", "spam", "ham", "ham"]
ASKED = ["a free phone", "at home", "", "unheard of"]
ROWS = [
    {"age": 20 + i % 40, "job": "clerk" if i % 3 else "cook", "note": "free cash" if i % 2 else "see you"}
    for i in range(60)
]
KINDS = ["old" if i % 40 > 20 else "young" for i in range(60)]


@pytest.fixture(scope="module")
def model():
    return textodds.train(TEXTS, LABELS, learner="multinomial")


@pytest.fixture(scope="module")
def table():
    return textodds.train(ROWS, KINDS, columns={"note": "text"}, learner="mixed")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """A tracking store in a folder, and nothing written elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(tmp_path.joinpath("runs").as_uri())
    yield tmp_path
    mlflow.set_tracking_uri(before)


def saved(model, folder, **options):
    """A model that was saved, as MLflow loads it."""
    textodds.mlflow.save_model(model, folder, **options)
    return mlflow.pyfunc.load_model(str(folder))


def test_the_artefact_is_the_model_file_and_nothing_is_pickled(model, tmp_path):
    saved(model, tmp_path / "mail")
    files = {path.relative_to(tmp_path / "mail").as_posix() for path in (tmp_path / "mail").rglob("*.*")}
    assert files == {
        "conda.yaml",
        "data/model.textodds",
        "input_example.json",
        "python_env.yaml",
        "requirements.txt",
        "serving_input_example.json",
    }
    for path in (tmp_path / "mail").rglob("*.*"):
        assert not zipfile.is_zipfile(path)
        with pytest.raises(ValueError):  # noqa: PT011
            list(pickletools.genops(path.read_bytes()))
    model.save(tmp_path / "m.textodds")
    assert (tmp_path / "mail/data/model.textodds").read_bytes() == (tmp_path / "m.textodds").read_bytes()
    about = Model.load(str(tmp_path / "mail"))
    assert about.flavors["textodds"]["textodds_version"] == textodds.__version__
    assert about.flavors["textodds"]["data"] == about.flavors["python_function"]["data"]
    assert about.flavors["python_function"]["loader_module"] == "textodds.interop.mlflow"


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        np.array(ASKED),
        np.array(ASKED, object),
        np.array(ASKED)[:, None],
        pd.Series(ASKED, index=[4, 3, 2, 1]),
        pd.DataFrame({"text": ASKED}),
        pd.DataFrame({"body": ASKED}),
    ],
    ids=["list", "array", "objects", "column", "series", "frame", "any name"],
)
def test_texts_are_answered_as_the_model_answers_them_however_they_come(model, tmp_path, asked):
    found = saved(model, tmp_path / "mail")
    for predict in (found.predict, flavour.PyfuncModel(model).predict):  # with MLflow's checks, and without
        assert np.asarray(predict(asked)).tolist() == model.predict(ASKED).tolist()
        proba = predict(asked, params={"proba": True})
        assert proba.columns.tolist() == list(model.class_names)
        assert np.array_equal(proba.to_numpy(), model.predict_proba(ASKED))
    if isinstance(asked, pd.Series):
        assert flavour.PyfuncModel(model).predict(asked, {"proba": True}).index.tolist() == [4, 3, 2, 1]


def test_rows_of_a_table_are_answered_as_the_model_answers_them(table, tmp_path):
    found, frame = saved(table, tmp_path / "people"), pd.DataFrame(ROWS[:9])
    expected = table.predict_proba(ROWS[:9])
    for asked in (frame, ROWS[:9], frame.astype({"age": float}), frame[["note", "job", "age"]]):
        assert np.asarray(found.predict(asked)).tolist() == table.predict(ROWS[:9]).tolist()
        assert np.array_equal(found.predict(asked, params={"proba": True}).to_numpy(), expected)
    missing = [{"job": "cook"}, {"age": None, "note": "free"}]
    expected = table.predict_proba(
        [{"age": None, "note": None, **row} | {"job": row.get("job")} for row in missing]
    )
    assert np.array_equal(found.predict(pd.DataFrame(missing), params={"proba": True}).to_numpy(), expected)


def test_columns_of_texts_are_columns(tmp_path):
    rows = [
        {"subject": text, "body": "hello you", "label": label}
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    model = textodds.train(rows, text=["subject", "body"], label="label", learner="multinomial")
    frame = pd.DataFrame({"subject": ASKED, "body": ["you"] * 4})
    found = saved(model, tmp_path / "mail")
    assert found.predict(frame).tolist() == model.predict(frame).tolist()
    assert found.metadata.get_input_schema().input_names() == ["subject", "body"]


def test_labels_keep_their_type(tmp_path):
    for at, (labels, kind) in enumerate(([[1, 1, 0, 0], "long"], [[True, True, False, False], "boolean"])):
        model = textodds.train(TEXTS, labels, learner="multinomial")
        found = saved(model, tmp_path / str(at))
        assert found.predict(ASKED).tolist() == model.predict(ASKED).tolist()
        assert [each.type.name for each in found.metadata.get_output_schema()] == [kind]


def test_the_signature_says_what_the_model_takes_and_which_parameters_there_are(model, table, tmp_path):
    saved(model, tmp_path / "mail")
    about = Model.load(str(tmp_path / "mail"))
    assert [each.type.name for each in about.signature.inputs] == ["string"]
    assert [(each.name, each.default) for each in about.signature.params] == [("proba", False)]
    assert about.load_input_example(str(tmp_path / "mail")) == ["an example of a text"]
    saved(table, tmp_path / "people")
    about = Model.load(str(tmp_path / "people"))
    assert set(about.signature.inputs.input_names()) == {"age", "job", "note"}
    assert not any(each.required for each in about.signature.inputs)
    given = infer_signature(pd.DataFrame({"text": TEXTS}), np.array(LABELS))
    found = saved(model, tmp_path / "own", signature=given, input_example=[{"text": "a"}])
    assert found.metadata.signature == given


def test_requirements_are_this_version_unless_they_are_given(model, tmp_path):
    mine = f"textodds[mlflow]=={textodds.__version__}"
    for name, options, wanted in (
        ("usual", {}, {mine}),
        ("more", {"extra_pip_requirements": ["pyarrow"]}, {mine, "pyarrow"}),
        ("given", {"pip_requirements": ["textodds"]}, {"textodds"}),
    ):
        textodds.mlflow.save_model(model, tmp_path / name, **options)
        found = (tmp_path / name / "requirements.txt").read_text().split()
        assert {line for line in found if not line.startswith("mlflow")} == wanted


def test_documents_are_left_out_on_request(model, tmp_path):
    textodds.mlflow.save_model(model, tmp_path / "mail", documents=False)
    found = textodds.mlflow.load_model(tmp_path / "mail")
    assert model.has_documents
    assert not found.has_documents
    assert np.array_equal(found.predict_proba(ASKED), model.predict_proba(ASKED))


def test_a_model_is_logged_registered_and_loaded_by_every_uri(model, store):
    with mlflow.start_run() as run:
        logged = textodds.mlflow.log_model(
            model, "mail", registered_model_name="mail", tags={"stage": "test"}, metadata={"by": "us"}
        )
    uris = (logged.model_uri, f"runs:/{run.info.run_id}/mail", "models:/mail/1")
    for uri in uris:
        found = textodds.mlflow.load_model(uri)
        assert np.array_equal(found.predict_proba(ASKED), model.predict_proba(ASKED))
        assert mlflow.pyfunc.load_model(uri).predict(ASKED).tolist() == model.predict(ASKED).tolist()
    assert "textodds" in logged.flavors
    assert logged.metadata == {"by": "us"}
    assert mlflow.get_logged_model(logged.model_id).tags["stage"] == "test"
    (store / "kept").mkdir()
    textodds.mlflow.load_model("models:/mail/1", dst_path=store / "kept")
    assert list((store / "kept").rglob("model.textodds"))
    learned = textodds.mlflow.load_model("models:/mail/1")
    learned.learn("unheard of", "ham")  # it is a model as any other
    assert mlflow.pyfunc.load_model("models:/mail/1").get_raw_model().class_documents == model.class_documents


def scored(found, body, kind="application/json"):
    """What `mlflow models serve` answers to the body of a request."""
    sent = body if isinstance(body, str) else json.dumps(body)
    answer = invocations(sent, kind, found, found.metadata.get_input_schema())
    assert answer.status == 200
    return json.loads(answer.response)["predictions"]


def test_the_scoring_server_answers_with_it(model, table, tmp_path):
    found, labels = saved(model, tmp_path / "mail"), model.predict(ASKED).tolist()
    columns = {"columns": ["text"], "data": [[text] for text in ASKED]}
    assert scored(found, {"inputs": ASKED}) == labels
    assert scored(found, {"dataframe_split": columns}) == labels
    assert scored(found, "text\na free phone\nat home\n", "text/csv") == labels[:2]
    (row, *_) = scored(found, {"inputs": ASKED, "params": {"proba": True}})
    assert row == dict(zip(model.class_names, model.predict_proba(ASKED)[0].tolist(), strict=True))
    found = saved(table, tmp_path / "people")
    assert scored(found, {"dataframe_records": ROWS[:5]}) == table.predict(ROWS[:5]).tolist()


@pytest.mark.slow
def test_the_command_of_mlflow_predicts_with_it(model, tmp_path):
    textodds.mlflow.save_model(model, tmp_path / "mail")
    (tmp_path / "asked.json").write_text(json.dumps({"inputs": ASKED}))
    command = [sys.executable, "-m", "mlflow", "models", "predict", "-m", str(tmp_path / "mail")]
    command += [
        "-i",
        str(tmp_path / "asked.json"),
        "-o",
        str(tmp_path / "out.json"),
        "--env-manager",
        "local",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["predictions"] == model.predict(ASKED).tolist()


def test_what_cannot_be_answered_says_why(model, tmp_path):
    wrapped = flavour.PyfuncModel(model)
    with pytest.raises(InputError, match="the frame has 2 columns: a, b"):
        wrapped.predict(pd.DataFrame({"a": ASKED, "b": ASKED}))
    assert (
        wrapped.predict(pd.DataFrame({"a": ASKED, "text": ASKED})).tolist() == model.predict(ASKED).tolist()
    )
    with pytest.raises(InputError, match=r"no parameter `prob`; did you mean `proba`\?"):
        wrapped.predict(ASKED, params={"prob": True})
    with pytest.raises(InputError, match="`proba` must be true or false, got 'yes'"):
        wrapped.predict(ASKED, params={"proba": "yes"})
    with pytest.raises(InputError, match="text 1 is of type `float`"):
        wrapped.predict(pd.DataFrame({"text": ["a", np.nan]}))
    with pytest.raises(InputError, match=r"saves what `textodds\.train` returns, got MultinomialNB"):
        textodds.mlflow.save_model(textodds.MultinomialNB(), tmp_path / "x")
    with pytest.raises(InputError, match="got str"):
        textodds.mlflow.log_model("mail.textodds")
    assert not (tmp_path / "x").exists()


def test_a_model_of_another_flavour_is_told_from_ours(tmp_path):
    class Echo(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input: list[str], params=None) -> list[str]:
            return model_input

    mlflow.pyfunc.save_model(str(tmp_path / "echo"), python_model=Echo(), pip_requirements=[])
    with pytest.raises(InputError, match="not a model of textodds; its flavours are python_function"):
        textodds.mlflow.load_model(tmp_path / "echo")


def test_without_mlflow_it_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    for ask in (
        lambda: textodds.mlflow.save_model(model, tmp_path / "x"),
        lambda: textodds.mlflow.log_model(model),
        lambda: textodds.mlflow.load_model(tmp_path / "x"),
    ):
        with pytest.raises(Unsupported, match="an MLflow model needs mlflow") as caught:
            ask()
        assert caught.value.hint == "pip install 'textodds[mlflow]'"


def test_several_labels_a_text_are_saved_loaded_and_predicted_as_lists(tmp_path):
    sets = [["offer", "phone"], ["offer"], ["date"], []]
    model = textodds.train(TEXTS, sets, learner="multinomial", goal="cost=1:2")
    loaded = saved(model, tmp_path / "tags")
    again = textodds.mlflow.load_model(tmp_path / "tags")
    assert again.predict(ASKED) == model.predict(ASKED)
    assert again.goal == model.goal
    assert loaded.predict(ASKED) == [list(labels) for labels in model.predict(ASKED)]
    found = loaded.predict(pd.DataFrame({"anything": ASKED}), params={"proba": True})
    assert found.columns.tolist() == ["date", "offer", "phone"]
    np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(ASKED))
    assert "array" in str(loaded.metadata.signature.outputs).lower()
    with mlflow.start_run():
        logged = textodds.mlflow.log_model(model, "tags")
    assert textodds.mlflow.load_model(logged.model_uri).predict(ASKED) == model.predict(ASKED)
    said = invocations(
        json.dumps({"inputs": ASKED}), "application/json", loaded, loaded.metadata.get_input_schema()
    )
    assert json.loads(said.response)["predictions"] == loaded.predict(ASKED)
