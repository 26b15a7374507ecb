"""A model from nothing: blank, taught, taught otherwise, and blank again; always what training gives."""

import random
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textodds
from serve.browsing import mail
from serve.running import Running, settled
from textodds.errors import Conflict
from textodds.serve.blank import SMOOTHING, NothingLearned, blank_model, is_blank
from textodds.serve.records.journal import Change, Journal
from textodds.serve.settings import Settings
from textodds.serve.updates.fold import new_model
from textodds.serve.updates.live_model import Live

LEARNER = f"multinomial:alpha={SMOOTHING}"
PROBES = [text for _, text in mail(12, seed=99)]


@contextmanager
def live_in(tmp_path):
    journal = Journal(":memory:")
    given = Settings(tmp_path / "new.textodds", tmp_path / "new.journal", new=True)
    with closing(journal):
        yield journal, Live(given, journal, new_model())


def change(journal, live, changes):
    before = journal.last
    journal.append([Change(*each) for each in changes])
    live.take(journal.after(before))


def trained(documents):
    return textodds.train(list(documents), list(documents.values()), learner=LEARNER)


def same(model, expected):
    assert model.class_names == expected.class_names
    np.testing.assert_array_equal(model.predict_proba(PROBES), expected.predict_proba(PROBES))
    assert (model.calibration is None) == (expected.calibration is None)


def test_a_blank_model_has_no_class_and_rests_on_nothing(tmp_path):
    model = blank_model()
    assert is_blank(model)
    assert model.basis.n_documents == 0
    with live_in(tmp_path) as (_, live):
        assert is_blank(live.fold().model)
        with pytest.raises(NothingLearned):
            live.save()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), st.booleans()), max_size=30))
def test_whatever_is_learned_and_forgotten_the_model_is_that_of_training(tmp_path_factory, steps):
    with live_in(tmp_path_factory.mktemp("new")) as (journal, live):
        _take_steps(journal, live, steps)


def _take_steps(journal, live, steps):
    texts, classes = [text for _, text in mail(8, seed=3)], ("ham", "spam", "work")
    known: dict[str, str] = {}
    for place, k, solves in steps:
        text = texts[place]
        if text in known:
            change(journal, live, [(-1, f"t{place}", known.pop(text), text)])
        else:
            known[text] = classes[k]
            change(journal, live, [(1, f"t{place}", classes[k], text)])
        found = live.fold()
        assert is_blank(found.model) == (not known)
        if known:
            np.testing.assert_allclose(
                found.model.predict_proba(PROBES), trained(known).predict_proba(PROBES), rtol=1e-12
            )
        if solves:
            found = live.solve()
            assert is_blank(found.model) == (not known)
            if known:
                same(found.model, trained(known))


def test_beyond_a_hundred_labels_it_is_calibrated_as_training_calibrates(tmp_path):
    with live_in(tmp_path) as (journal, live):
        _label_many(journal, live)


def _label_many(journal, live):
    rows = {text: label for label, text in mail(180, seed=5)}
    draw = random.Random(1)
    for at, (text, label) in enumerate(rows.items()):
        change(journal, live, [(1, f"t{at}", label, text)])
        live.fold()
    for at, text in draw.sample(list(enumerate(rows)), 30):  # thirty take another label, ten none
        before = rows[text]
        rows[text] = draw.choice(("ham", "spam", "work"))
        change(journal, live, [(-1, f"t{at}", before, text), (1, f"t{at}", rows[text], text)])
    for at, text in draw.sample(list(enumerate(rows)), 10):
        change(journal, live, [(-1, f"t{at}", rows.pop(text), text)])
    expected = trained(rows)
    assert expected.calibration is not None
    same(live.solve().model, expected)


def test_it_is_saved_as_the_model_file_and_goes_on_after_a_kill(tmp_path, serve, client_of):
    path = tmp_path / "new.textodds"
    service = serve("--new", path=path)
    client = client_of(service)
    assert client.post("/v1/classify", {"text": "x"}).json()["code"] == "model.new"
    assert client.get("/v1/model").json()["classes"] == []
    rows = mail(130, seed=8)
    for at, (label, text) in enumerate(rows):
        document = {"id": f"d{at}", "text": text, "label": label}
        assert client.post("/v1/learn", {"documents": [document], "new_labels": True}).status == 200
    service.kill()
    assert not path.exists()
    service = serve("--new", path=path)
    client = client_of(service)
    settled(client)
    expected = textodds.train([text for _, text in rows], [label for label, _ in rows], learner=LEARNER)
    for text in PROBES[:4]:
        found = client.post("/v1/classify", {"text": text}).json()["probabilities"]
        assert found == expected(text).probabilities
    assert service.stop()[0] == 0
    saved = textodds.load(path)
    np.testing.assert_array_equal(saved.predict_proba(PROBES), expected.predict_proba(PROBES))
    plain = serve(path=path)  # as any other file
    found = client_of(plain).post("/v1/classify", {"text": PROBES[0]}).json()
    assert found["probabilities"] == expected(PROBES[0]).probabilities


def test_a_model_that_was_not_begun_so_is_not_written_over(model, serve):
    before = model.read_bytes()
    with pytest.raises(RuntimeError, match="was not begun with `--new`"):
        serve("--new")
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--new", "--read-only"), "cannot be combined"), (("--classes", "a,b"), "of a new model")],
)
def test_options_that_do_not_belong_together_are_refused(tmp_path, options, said):
    with pytest.raises(RuntimeError, match=said):
        Running(tmp_path / "new.textodds", *options)


def test_nothing_learned_is_a_conflict():
    assert issubclass(NothingLearned, Conflict)
