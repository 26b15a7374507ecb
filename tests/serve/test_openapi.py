"""The description of the service is valid, its examples work, and the service does as it says.

Schemathesis reads the description and sends what fits it and what does not, by a fixed seed.
"""

import json
import re
import subprocess
import sys

import jsonschema_rs
import msgspec
import pytest

from serve.wire import running
from textodds.serve.protocol import messages, tensor_messages
from textodds.serve.routes import ENDPOINTS

NAMED = {
    "/v1/classify",
    "/v1/classify/batch",
    "/v1/explain",
    "/v1/explain/flip",
    "/v1/learn",
    "/v1/learn/copies",
    "/v1/compare",
    "/v1/compare/batch",
    "/v1/suggest",
    "/v1/words",
}
NAMED |= {"/v1/evaluate", "/v1/reports/{key}"}
NAMED |= {"/v2/models/{name}/infer", "/v2/models/{name}/versions/{version}/infer"}


@pytest.fixture(scope="module")
def service(trained, tmp_path_factory):
    with running(trained, "--journal", str(tmp_path_factory.mktemp("openapi") / "journal")) as found:
        yield found


@pytest.fixture
def client(service):
    found = service.client()
    yield found
    found.close()


@pytest.fixture(scope="module")
def told(service):
    client = service.client()
    found = client.get("/openapi.json").json()
    client.close()
    return found


def schema_of(told, schema):
    """A schema that can be used by itself."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "components": told["components"],
    }


def operations(told):
    return [
        (path, method, operation)
        for path, item in told["paths"].items()
        for method, operation in item.items()
    ]


def test_it_is_openapi_3_1_and_every_schema_is_valid(told):
    assert told["openapi"].startswith("3.1.")
    assert set(told["info"]) >= {"title", "version", "description"}
    for schema in told["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema_of(told, schema))
    for _, _, operation in operations(told):
        assert operation["summary"]
        for parameter in operation.get("parameters", ()):
            assert parameter["in"] in ("path", "query")
            jsonschema_rs.meta.validate(parameter["schema"])


def test_every_reference_leads_somewhere(told):
    def references(value):
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for part in value.values():
                yield from references(part)
        elif isinstance(value, list):
            for part in value:
                yield from references(part)

    for reference in set(references(told)):
        place = told
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_names_of_operations_are_their_own(told):
    names = [operation["operationId"] for _, _, operation in operations(told)]
    assert len(set(names)) == len(names)


def test_every_endpoint_is_described(told):
    described = {(path, method.upper()) for path, method, _ in operations(told)}
    there = {(endpoint.path, endpoint.method) for endpoint in ENDPOINTS}
    assert there - described == {("/openapi.json", "GET"), ("/page/{name}", "GET")}
    assert described <= there


def test_examples_fit_their_schemas_and_are_answered(told, client):
    answered, version = 0, client.get("/healthz").json()["version"].partition(".")[0]
    for path, method, operation in operations(told):
        if method != "post" or path == "/v1/compare/batch":  # which takes a service with `--compare`
            continue
        for media, content in operation.get("requestBody", {"content": {}})["content"].items():
            if "example" not in content:
                continue
            example = content["example"]
            jsonschema_rs.validate(schema_of(told, content["schema"]), example)
            body = json.dumps(example).encode() if media == "application/json" else example.encode()
            place = path.replace("{name}", "mail").replace("{version}", version)
            answer = client.send("POST", place, body, content_type=media)
            assert answer.status == 200, (path, answer.body)
            gives = operation["responses"]["200"]["content"]["application/json"]["schema"]
            jsonschema_rs.validate(schema_of(told, gives), answer.json())
            answered += 1
    assert answered == 15


def test_refusals_are_described_as_they_are(told, client):
    for status, sent in (("400", b"{"), ("422", b"{}")):
        answer = client.send("POST", "/v1/classify", sent, content_type="application/json")
        response = told["components"]["responses"][status]["content"]["application/problem+json"]["schema"]
        jsonschema_rs.validate(schema_of(told, response), answer.json())
        msgspec.json.decode(answer.body, type=messages.ProblemDetails)
        answer = client.send("POST", "/v2/models/mail/infer", sent, content_type="application/json")
        assert answer.status == int(status)
        assert told["paths"]["/v2/models/{name}/infer"]["post"]["responses"][status] == {
            "$ref": f"#/components/responses/v2-{status}"
        }
        response = told["components"]["responses"][f"v2-{status}"]["content"]["application/json"]["schema"]
        jsonschema_rs.validate(schema_of(told, response), answer.json())
        msgspec.json.decode(answer.body, type=tensor_messages.InferenceError, strict=True)


def test_what_is_checked_is_what_is_described(told, client):
    """A field that has a bound in the description is refused just beyond it, and taken at it."""
    deciding = told["components"]["schemas"]["ClassifyRequest"]["properties"]
    assert deciding["costs"]["maxItems"] == 10_000
    query = {p["name"]: p["schema"] for p in told["paths"]["/v1/words"]["get"]["parameters"]}
    assert (query["limit"]["minimum"], query["limit"]["maximum"]) == (1, 1000)
    for limit, status in ((0, 422), (1, 200), (1000, 200), (1001, 422)):
        assert client.get(f"/v1/words?label=spam&limit={limit}").status == status
    ids = told["components"]["schemas"]["Forgotten"]["properties"]["id"]
    for length in (ids["minLength"], ids["maxLength"]):
        assert client.post("/v1/forget", {"documents": [{"id": "x" * length}]}).status == 200
    for length in (ids["minLength"] - 1, ids["maxLength"] + 1):
        assert client.post("/v1/forget", {"documents": [{"id": "x" * length}]}).status == 422


def schemathesis(service, tmp_path, *options):
    """What schemathesis finds."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.address}/openapi.json"]
    command += ["--seed", "20261116", "--generation-database", "none", "--no-color", "--no-shrink", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=900, check=False)
    short = "\n".join(line[:300] for line in done.stdout.splitlines())
    return done.returncode, short + done.stderr


@pytest.mark.parametrize("examples", [10, pytest.param(25, marks=pytest.mark.long)])
def test_whatever_is_sent_the_answer_is_one_that_is_described(service, tmp_path, examples):
    status, found = schemathesis(
        service,
        tmp_path,
        *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(examples)),
        *("--exclude-path", "/v1/evaluate", "--exclude-path", "/v1/labelling/files"),
    )
    assert status == 0, found
    assert int(re.search(r"(\d+) generated", found).group(1)) > 300
    client = service.client()
    assert client.get("/readyz").status == 200
    client.close()


def test_files_of_any_kind_are_answered_as_described(service, tmp_path):
    """Fewer, since each is measured in a process of its own."""
    status, found = schemathesis(
        service,
        tmp_path,
        *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
        *(
            "--phases",
            "fuzzing",
            "--max-examples",
            "4",
            "--include-path-regex",
            "/v1/(evaluate|labelling/files)$",
        ),
    )
    assert status == 0, found


def test_what_fits_the_description_is_taken(service, tmp_path):
    """Where no class need be named: a description cannot say which classes a model has."""
    named = [part for path in sorted(NAMED) for part in ("--exclude-path", path)]
    named += ["--exclude-path-regex", "^/v1/labelling/"]  # whose texts and acts have to be there
    status, found = schemathesis(
        service,
        tmp_path,
        *("--checks", "positive_data_acceptance", "--mode", "positive", *named),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", "20"),
    )
    assert status == 0, found
