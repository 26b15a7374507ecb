"""Firefox by its own remote protocol, Marionette, which needs neither a driver nor a package."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

PATIENCE = 60.0  # seconds: other tests may want the machine too
PREFERENCES = {
    "marionette.port": 0,  # any that is free; the profile then says which
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.legacyUserProfileCustomizations.stylesheets": True,
}
NARROW = ":root { min-width: 0 !important; }"  # lets a window be as narrow as a phone


class Firefox:
    """A headless Firefox with a profile of its own."""

    def __init__(self, program: str, profile: Path, preferences: dict[str, Any] | None = None) -> None:
        lines = (
            f"user_pref({json.dumps(k)}, {json.dumps(v)});\n"
            for k, v in {**PREFERENCES, **(preferences or {})}.items()
        )
        (profile / "user.js").write_text("".join(lines))
        (profile / "chrome").mkdir()
        (profile / "chrome" / "userChrome.css").write_text(NARROW)
        command = [program, "--marionette", "--headless", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._number = 0
        self._socket = socket.create_connection(("127.0.0.1", self._port(profile)), PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._read()  # its greeting
        self("WebDriver:NewSession", capabilities={"alwaysMatch": {"unhandledPromptBehavior": "dismiss"}})

    def _port(self, profile: Path) -> int:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, "Firefox has ended"
            port = profile / "MarionetteActivePort"
            if port.exists() and port.read_text().strip():
                return int(port.read_text())
            time.sleep(0.1)
        raise TimeoutError("Firefox does not answer")

    def __call__(self, command: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol."""
        self._number += 1
        sent = json.dumps([0, self._number, command, parameters])
        self._socket.sendall(f"{len(sent.encode())}:{sent}".encode())
        _, _, error, answer = self._read()
        if error is not None:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return answer

    def _read(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            byte = self._stream.read(1)
            assert byte, "Firefox has closed the connection"
            size += byte
        return json.loads(self._stream.read(int(size[:-1])))

    def go(self, address: str) -> None:
        """Open a page."""
        self("WebDriver:Navigate", url="about:blank")
        self("WebDriver:Navigate", url=address)

    def run(self, script: str, *given: Any) -> Any:
        """What a script returns, run beside the page's own."""
        return self("WebDriver:ExecuteScript", script=script, args=list(given))["value"]

    def axe(self) -> list[Any]:
        """What axe-core holds against the page as it stands."""
        script = f"{AXE_SCRIPT};axe.run().then((found) => arguments[0](found), (e) => arguments[0](`${{e}}`))"
        found = self("WebDriver:ExecuteAsyncScript", script=script, args=[])["value"]
        assert len(found["passes"]) > 10  # it has looked
        return [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found["violations"]]

    def press(self, keys: str) -> None:
        """Press keys where the page has its focus."""
        element = self("WebDriver:GetActiveElement")["value"]
        self("WebDriver:ElementSendKeys", id=next(iter(element.values())), text=keys)

    def resize(self, width: int, height: int) -> None:
        """Give the window a size, in pixels of the screen."""
        self("WebDriver:SetWindowRect", width=width, height=height)

    def wait(self, script: str, *given: Any) -> Any:
        """What a script returns once that is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script, *given)):
            assert time.monotonic() < end, f"never true: {script}\n{self.text('body')[:2000]}"
            time.sleep(0.05)
        return found

    def text(self, selector: str) -> str:
        """The text of an element as it is seen."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def sees(self, selector: str, words: str) -> None:
        """Wait until an element has some words."""
        self.wait(
            "return document.querySelector(arguments[0])?.innerText.includes(arguments[1])", selector, words
        )

    def _element(self, selector: str) -> str:
        found = self("WebDriver:FindElement", using="css selector", value=selector)["value"]
        return str(next(iter(found.values())))

    def click(self, selector: str) -> None:
        """Press an element."""
        self("WebDriver:ElementClick", id=self._element(selector))

    def click_button(self, name: str) -> None:
        """Press the button of a name, once it is there."""
        script = "return [...document.querySelectorAll('button')].find((b) => b.innerText === arguments[0])"
        found = self.wait(script, name)
        self("WebDriver:ElementClick", id=next(iter(found.values())))

    def type(self, selector: str, text: str) -> None:
        """Write in a field, in the place of what it has, or choose a file by its path."""
        element = self._element(selector)
        if not self.run("return document.querySelector(arguments[0]).type === 'file'", selector):
            self("WebDriver:ElementClear", id=element)
        self("WebDriver:ElementSendKeys", id=element, text=text)

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
