"""What the service counts is what was asked."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from serve.wire import running


@pytest.fixture
def service(trained, tmp_path):
    with running(trained, "--journal", str(tmp_path / "journal")) as found:
        yield found


def measured(client):
    """Every number by its name and labels."""
    answer = client.get("/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def requests(found, endpoint, status):
    return found.get(("textodds_requests_total", ("endpoint", endpoint), ("status", str(status))), 0)


def test_requests_are_counted_by_endpoint_and_status(service):
    client = service.client()
    for _ in range(3):
        client.post("/v1/classify", {"text": "free"})
    client.post("/v1/classify", {"txt": "free"})
    client.send("POST", "/v1/classify", b"{", content_type="application/json")
    client.post("/v1/classify/batch", {"texts": ["a", "b"]})
    client.get("/healthz")
    found = measured(client)
    assert requests(found, "/v1/classify", 200) == 3
    assert requests(found, "/v1/classify", 422) == 1
    assert requests(found, "/v1/classify", 400) == 1
    assert requests(found, "/v1/classify/batch", 200) == 1
    assert requests(found, "/healthz", 200) == 1
    assert found[("textodds_texts_total",)] == 5
    assert requests(measured(client), "/metrics", 200) == 1


def test_seconds_are_a_histogram_that_adds_up(service):
    client = service.client()
    for _ in range(7):
        client.post("/v1/explain", {"text": "free phone"})
    found = measured(client)
    name, endpoint = "textodds_request_seconds", ("endpoint", "/v1/explain")
    buckets = {
        float(dict(key[1:])["le"]): value
        for key, value in found.items()
        if key[0] == f"{name}_bucket" and endpoint in key
    }
    assert [buckets[bound] for bound in sorted(buckets)] == sorted(buckets.values())
    assert buckets[float("inf")] == found[(f"{name}_count", endpoint)] == 7
    assert 0 < found[(f"{name}_sum", endpoint)] < 60


def test_learning_is_counted(service):
    client = service.client()
    documents = [{"id": str(n), "text": "free", "label": "ham"} for n in range(5)]
    client.post("/v1/learn", {"documents": documents})
    client.post("/v1/learn", {"documents": documents})
    client.post("/v1/forget", {"documents": [{"id": "0"}]})
    found = measured(client)
    assert found[("textodds_journal_entries",)] == 6
    assert found[("textodds_journal_commits_total",)] == 2
    assert found[("textodds_unfolded",)] == 6
    client.post("/v1/classify", {"text": "free"})
    client.post("/v1/snapshot")
    found = measured(client)
    assert found[("textodds_unfolded",)] == 0
    assert found[("textodds_snapshots_total",)] == 1
    assert found[("textodds_snapshots_failed_total",)] == 0
    assert found[("textodds_classes",)] == 2
    assert found[("textodds_words",)] == client.get("/v1/model").json()["words"]


def test_strangers_cannot_make_names_of_metrics(service):
    client = service.client()
    before = set(measured(client))
    for n in range(50):
        client.get(f"/nowhere/{n}")
        client.get(f"/v1/reports/{n}")
        client.send("DELETE", f"/v1/model?{n}")
    assert len(set(measured(client)) - before) < 50


def test_no_request_stays_under_way(service):
    client = service.client()
    client.post("/v1/classify", {"txt": ""})
    client.send("POST", "/v1/classify", b"{")
    assert measured(client)[("textodds_requests_under_way",)] == 1  # this one
