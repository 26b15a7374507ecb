"""The page in Firefox, on a desktop and dark on a phone: each view, and what it does on a slow network."""

import os
import shutil

import pytest

import textodds
from serve.browsing import as_shown, mail, train
from serve.marionette import Firefox
from serve.slow import slow_network

pytestmark = pytest.mark.long

DARK = {"layout.css.prefers-color-scheme.content-override": 0}
ROWS = mail(40, seed=11)
TRUTH = {text: label for label, text in ROWS}
KEYS = {"ham": "1", "spam": "2", "work": "3"}


@pytest.fixture(scope="module", params=["desktop", "dark, phone"])
def firefox(request, tmp_path_factory):
    """A browser. Where there is none the test is skipped, but under CI=true it fails."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent("there is no Firefox: neither firefox-esr nor firefox")
    is_phone = request.param != "desktop"
    found = Firefox(program, tmp_path_factory.mktemp("profile"), DARK if is_phone else {})
    found.resize(*((390, 844) if is_phone else (1280, 900)))
    is_dark = "matchMedia('(prefers-color-scheme: dark)').matches"
    found.wait(f"return (innerWidth <= 390) === arguments[0] && {is_dark} === arguments[0]", is_phone)
    yield found
    found.close()


def fits(firefox):
    """Whether nothing stands out to the right of the window."""
    return firefox.run("return document.documentElement.scrollWidth <= innerWidth")


def shows(firefox, selector, p):
    """Wait until an element has a probability."""
    pattern = as_shown(p).pattern.replace("(?<![\\d.])", "")
    script = "return new RegExp(arguments[1]).test(document.querySelector(arguments[0]).innerText)"
    firefox.wait(script, selector, pattern)


def test_an_example_is_answered_and_a_text_is_too(firefox, serve, model):
    service, known = serve(), textodds.load(model)
    firefox.go(f"{service.address}/")
    firefox.sees("#first", "Classes: ham, spam")
    firefox.wait("return document.querySelectorAll('.example').length >= 2")
    firefox.wait("return document.querySelector('#text').value")  # one is answered already
    text = "win a free phone, home at noon"
    firefox.type("#text", text)
    said = known(text)
    firefox.sees(".verdict", said.label)
    shows(firefox, ".verdict", said.probability)
    firefox.sees("#why", f"Why {said.label}")
    firefox.wait("return document.querySelectorAll('.reading .word').length >= 6")
    firefox.click("#costs-panel > summary")
    silence = (
        "const it = document.querySelector('#silence'); it.value = 1; it.dispatchEvent(new Event('input'));"
    )
    firefox.run(silence)
    firefox.sees(".verdict", "No answer")
    firefox.click("#share-panel > summary")
    assert firefox.axe() == []
    assert fits(firefox)
    firefox.click("#costs-reset")
    firefox.sees(".verdict", said.label)
    link = firefox.wait("return document.querySelector('#share-panel pre')?.textContent")
    firefox.go(link)
    firefox.wait("return document.querySelector('#text').value === arguments[0]", text)


def test_a_text_is_corrected_and_forgotten(firefox, serve, model):
    service, text = serve(), "win a free phone, home at noon"
    firefox.go(f"{service.address}/#try?text={text.replace(' ', '%20')}")
    said = textodds.load(model)(text)
    firefox.sees(".verdict", said.label)
    firefox.click("#correct > button")
    wrong = "ham" if said.label == "spam" else "spam"
    firefox.click(f"#right-label button[data-label={wrong}]")
    firefox.sees("#outcome", f"Learned: {wrong}")
    firefox.click("#outcome > .tinted > button:last-child")
    firefox.sees("#outcome", "Forgotten")
    shows(firefox, ".verdict", said.probability)


def test_files_are_read_judged_and_compared(firefox, serve, mail_file, tmp_path):
    other = train(tmp_path / "other.textodds", mail(90, seed=2))
    service = serve("--read-only", "--compare", str(other), path=mail_file)
    rows = mail(120, seed=5)
    content = "label;text\n" + "".join(f"{label};{text} Grüße\n" for label, text in rows)
    (tmp_path / "a.csv").write_bytes(content.encode("latin-1"))
    texts = [f"{text} Grüße" for _, text in rows]
    predicted = textodds.load(mail_file).predict(texts)
    firefox.go(f"{service.address}/#files")
    firefox.wait("return document.querySelector('#files-file')")
    firefox.type("#files-file", str(tmp_path / "a.csv"))
    firefox.wait("return document.querySelector('#files-encoding')?.value === 'windows-1252'")
    firefox.sees("#files-source", "Grüße")
    firefox.click("#files-source button.main")
    firefox.sees("#files-result", "120")
    right = sum(label == answer for (label, _), answer in zip(rows, predicted, strict=True))
    firefox.sees("#files-measured", "Truth and answer")
    squares = firefox.run(
        "return [...document.querySelectorAll('#files-measured td.hit')].map((one) => one.innerText)"
    )
    assert sum(int(n) for n in squares) == right
    firefox.sees("#files-measured", "accuracy")
    firefox.click("#files-measured td.miss button")
    firefox.wait("return document.querySelector('.mistakes li')")
    firefox.click_button("Compare with other.textodds")
    differ = int((textodds.load(other).predict(texts) != predicted).sum())
    firefox.sees("#view-files", "Compared with other.textodds")
    firefox.sees("#view-files", f"answers that differ\n{differ}")
    assert firefox.axe() == []
    assert fits(firefox)


def test_the_model_is_shown(firefox, mail_service):
    firefox.go(f"{mail_service.address}/#model")
    firefox.sees("#view-model", "Words that tell most")
    assert firefox.axe() == []
    assert fits(firefox)


def test_texts_are_labelled_by_keyboard_and_undone(firefox, serve, tmp_path, client_of):
    service = serve("--new", "--classes", "ham,spam,work", path=tmp_path / "new.textodds")
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{text}\n" for text in TRUTH))
    firefox.go(f"{service.address}/")
    firefox.sees("body", "This model has learned nothing yet")
    firefox.type("#label-file", str(tmp_path / "a.csv"))
    asked = "return document.querySelector('#asked')?.textContent"
    given = []
    for n in range(1, 15):
        text = firefox.wait(asked)
        firefox.press(KEYS[TRUTH[text]])
        given.append((text, TRUTH[text]))
        firefox.sees("#label-count", f"{n} label")
        firefox.wait(f"{asked} !== arguments[0]", text)
    firefox.sees(".telling", "for ")
    assert firefox.axe() == []
    assert fits(firefox)
    text = firefox.wait(asked)
    firefox.press("u")
    firefox.sees("#label-count", "13 labels")
    firefox.wait(f"{asked} === arguments[0]", given[-1][0])  # it is asked about again
    firefox.go(f"{service.address}/#label")  # what a reload shows
    firefox.sees("#label-count", "13 labels")
    acts = client_of(service).get("/v1/labelling/labels.jsonl").body.decode().splitlines()
    assert len(acts) == 13


def test_a_slow_network_shows_a_skeleton_and_loses_no_label(
    firefox, serve, mail_service, tmp_path, client_of
):
    with slow_network(mail_service.port) as address:
        firefox.go("about:blank")
        firefox.run("location = arguments[0]", f"{address}/")  # and not waited for
        firefox.wait("return document.querySelector('#skeleton')?.getClientRects().length")
        firefox.wait("return document.querySelector('.verdict')?.getClientRects().length")
        assert firefox.run("return document.querySelector('#skeleton')") is None
    service = serve("--new", "--classes", "ham,spam,work", path=tmp_path / "new.textodds")
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"{text}\n" for text in TRUTH))
    with slow_network(service.port) as address:
        firefox.go(f"{address}/")
        firefox.sees("body", "This model has learned nothing yet")
        firefox.type("#label-file", str(tmp_path / "a.csv"))
        asked = "return document.querySelector('#asked')?.textContent"
        given = {}
        for key, label in (("1", "ham"), ("2", "spam"), ("3", "work")):
            text = firefox.wait(asked)
            firefox.press(key * 3)  # what is pressed before the next text shows is not taken for that one
            firefox.wait(f"{asked} !== arguments[0]", text)
            given[text] = label
    found = client_of(service).get("/v1/labelling/history").json()["acts"]
    assert {act["text"]: act["label"] for act in found if act["kind"] == "label"} == given
