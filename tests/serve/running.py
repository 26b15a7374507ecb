"""A real service in a process of its own, and a client for it that keeps its connection."""

from __future__ import annotations

import http.client
import json
import signal
import time
from pathlib import Path
from typing import Any

from forked import start


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks one service, over one connection."""

    def __init__(self, port: int, token: str | None = None, timeout: float = 120) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._token = token

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self._token is not None:
            named.setdefault("authorization", f"Bearer {self._token}")
        self._connection.request(method, path, body, named)
        response = self._connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        content = b"" if body is None else json.dumps(body).encode()
        return self.send("POST", path, content, content_type="application/json")

    def close(self) -> None:
        self._connection.close()


def settled(client: Client, seconds: float = 120) -> str:
    """The version of the full solution, once there is one of all corrections."""
    end = time.monotonic() + seconds
    while (version := str(client.post("/v1/classify", {"text": ""}).json()["version"])).endswith("~"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return version


class Running:
    """`textodds serve` in a process of its own, on a port of its own."""

    def __init__(self, model: Path, *options: str, env: dict[str, str] | None = None) -> None:
        self.model = model
        command = ("serve", str(model), "--port", "0", "--json", *options)
        self.process = start(*command, env={"OPENBLAS_NUM_THREADS": "1", **(env or {})})
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the service did not start: {self.process.communicate()[1]}")
        self.told = json.loads(line)
        self.port = int(self.told["address"].rsplit(":", 1)[1].strip("/"))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = None, timeout: float = 120) -> Client:
        return Client(self.port, token, timeout)

    def kill(self) -> None:
        """End it as a loss of power would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> tuple[int, str]:
        """End it in good order: its exit status and what it said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said
