"""The reference of the service names all that there is."""

import re
from pathlib import Path

from textodds.serve.routes import ENDPOINTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")


def test_every_endpoint_is_in_the_reference_with_its_method_and_what_it_needs():
    for endpoint in ENDPOINTS:
        if endpoint.path == "/page/{name}":
            assert "`/page/{name}`" in PAGE
            continue
        (line,) = (line for line in PAGE.splitlines() if f"| `{endpoint.path}` |" in line)
        assert line.startswith(f"| {endpoint.method} |")
        assert line.rstrip().endswith(f"| {endpoint.needs} |")


def test_every_code_of_the_service_is_in_the_reference():
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src/textodds/serve").glob("*.py"))
    codes = set(re.findall(r'(?:unavailable|too_large)\(\s*"([\w.-]+)"', source))
    codes |= set(re.findall(r'HTTPStatus\.\w+,\s*"([\w.-]+)"', source))
    codes |= set(re.findall(r'Problem\(\s*status,\s*"([\w.-]+)"', source))
    codes |= set(re.findall(r'\.code = "([\w.-]+)"', source))
    assert len(codes) >= 15
    limits = {"body", "upload", "text", "batch"}
    assert {code for code in codes - limits if f"`{code}`" not in PAGE} == set()
    assert {code for code in codes & limits if f"`limit.{code}`" not in PAGE} == set()
