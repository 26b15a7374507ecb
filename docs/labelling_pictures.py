"""Makes the stills of docs/serve.md, a labelling session: `python docs/labelling_pictures.py [FOLDER]`.

Needs Chromium and the extra `dev`. The messages are made up here.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
SIZE = {"width": 1000, "height": 640}
WORDS = {
    "ham": "home lunch noon mum dinner film station milk later tired bus homework cake rain sister keys",
    "spam": "free prize cash winner claim urgent offer entry phone credit bonus reply voucher text weekly",
}
PHRASES = (
    "{0} at {1}, call me about the {2}",
    "Your {0} is here: {1} and {2} now",
    "Hi, have you seen the {0}? The {1} was by the {2}",
    "Call now for {0}, {1} or {2} tonight",
    "Dear customer, {0} {1}, see {2}",
    "Sorry, no {0} today, only {1} {2}",
    "{0}! {1}! Do not miss the {2} on Friday",
    "I will send you the {0} after {1}, and the {2}",
)


def messages(n: int = 240) -> dict[str, str]:
    """Labels by text; one word in eight is of the other class."""
    draw, found = random.Random(4), dict[str, str]()
    while len(found) < n:
        label, other = draw.choice((("ham", "spam"), ("ham", "spam"), ("spam", "ham")))
        words = [draw.choice(WORDS[other if draw.random() < 1 / 8 else label].split()) for _ in range(6)]
        text = f"{draw.choice(PHRASES).format(*words[:3])}. {draw.choice(PHRASES).format(*words[3:])}"
        found[text[0].upper() + text[1:]] = label
    return found


def label(page: Page, truth: dict[str, str], n: int) -> None:
    """Label texts by keyboard."""
    for _ in range(n):
        text = page.locator("#asked").text_content() or ""
        page.keyboard.press("1" if truth[text] == "ham" else "2")
        page.wait_for_function("(text) => document.querySelector('#asked')?.textContent !== text", arg=text)


def stills(page: Page, address: str, folder: Path) -> None:
    """A session, with a picture at each step."""
    truth, number = messages(), iter(range(1, 9))

    def take() -> None:
        page.wait_for_timeout(900)
        page.screenshot(path=folder / f"labelling-{next(number)}.png")

    page.goto(address)
    for name in ("ham", "spam"):
        page.get_by_label("A class", exact=True).fill(name)
        page.get_by_role("button", name="Add a class").click()
        page.locator(".pill", has_text=name).wait_for()
    take()
    content = "text\n" + "".join(f'"{text}"\n' for text in truth)
    page.locator("#label-file").set_input_files(
        {"name": "messages.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.locator("#asked").wait_for()
    take()
    label(page, truth, 6)
    take()
    label(page, truth, 34)
    take()
    page.get_by_role("button", name="Check the precision of spam").click()
    page.get_by_text("Are these texts").wait_for()
    page.locator("#labelling").focus()
    label(page, truth, 4)
    take()


def main(folder: str = str(PICTURES)) -> None:
    """Serve a new model, label, and write the pictures."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        model = str(Path(place, "new.textodds"))
        command = [sys.executable, "-m", "textodds", "serve", model, "--new", "--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as service:
            assert service.stdout is not None
            address = json.loads(service.stdout.readline())["address"]
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            stills(browser.new_page(viewport=SIZE, reduced_motion="reduce"), address, Path(folder))  # type: ignore[arg-type]
            browser.close()
            service.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
