"""The core of the page in Firefox: a text, its why, costs, a correction, a file that is read and judged."""

import os
import shutil

import pytest

import textodds
from serve.browsing import as_shown, mail
from serve.marionette import Firefox

pytestmark = pytest.mark.long


@pytest.fixture
def firefox(tmp_path):
    """A browser. Where there is none the test is skipped, but under CI=true it fails."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent("there is no Firefox: neither firefox-esr nor firefox")
    (tmp_path / "profile").mkdir()
    found = Firefox(program, tmp_path / "profile")
    yield found
    found.close()


def test_the_core_of_the_page_works_in_firefox(firefox, serve, model, tmp_path):
    service, known = serve(), textodds.load(model)
    firefox.go(f"{service.address}/")
    firefox.sees("#first", "Classes: ham, spam")
    firefox.wait("return document.querySelectorAll('.example').length >= 2")
    firefox.wait("return document.querySelector('#text').value")  # one is answered already
    text = "win a free phone, home at noon"
    firefox.type("#text", text)
    said = known(text)
    firefox.sees(".verdict", said.label)
    firefox.wait(
        "return new RegExp(arguments[0]).test(document.querySelector('.verdict').innerText)",
        as_shown(said.probability).pattern.replace("(?<![\\d.])", ""),
    )
    firefox.sees("#why", f"Why {said.label}")
    assert firefox.run("return document.querySelectorAll('.reading .word').length") >= 6
    firefox.click("#costs-panel > summary")
    silence = (
        "const it = document.querySelector('#silence'); it.value = 1; it.dispatchEvent(new Event('input'));"
    )
    firefox.run(silence)
    firefox.sees(".verdict", "No answer")
    firefox.click("#costs-reset")
    firefox.sees(".verdict", said.label)
    firefox.click("#correct > button")
    wrong = "ham" if said.label == "spam" else "spam"
    firefox.click(f"#right-label button[data-label={wrong}]")
    firefox.sees("#outcome", f"Learned: {wrong}")
    firefox.click("#outcome > .tinted > button")
    firefox.sees("#outcome", "Forgotten")


def test_files_are_read_and_judged_in_firefox(firefox, mail_service, mail_file, tmp_path):
    rows = mail(120, seed=5)
    content = "label;text\n" + "".join(f"{label};{text} Grüße\n" for label, text in rows)
    (tmp_path / "a.csv").write_bytes(content.encode("latin-1"))
    predicted = textodds.load(mail_file).predict([f"{text} Grüße" for _, text in rows])
    firefox.go(f"{mail_service.address}/#files")
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
