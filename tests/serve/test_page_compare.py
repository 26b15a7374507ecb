"""The page: a file answered by another model too: what changed, where, and for whom."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import textodds
from serve.browsing import as_shown, mail, train
from serve.test_page_files import classify, facts
from serve.test_page_judged import LABELS, TEXTS, table
from textodds.judge.evaluation import mcnemar

pytestmark = pytest.mark.long


def test_what_changed_is_read_counted_and_sliced(visit, serve, tmp_path, mail_file):
    other = train(tmp_path / "other.textodds", mail(90, seed=2))
    page = visit(serve("--read-only", "--compare", str(other), path=mail_file), "files")
    classify(page, "a.csv", table())
    page.get_by_role("button", name="Compare with other.textodds").click()
    region = page.get_by_role("region", name="Compared with other.textodds")
    before, now = textodds.load(other).predict(TEXTS), textodds.load(mail_file).predict(TEXTS)
    expect(region).to_be_visible()
    differ = before != now
    assert differ.any()
    shown = facts(region)
    assert shown["answers that differ"] == str(differ.sum())
    assert as_shown((before == LABELS).mean()).fullmatch(shown["accuracy of other.textodds"])
    assert as_shown((now == LABELS).mean()).fullmatch(shown["accuracy of mail.textodds"])
    only = ((before == LABELS) & (now != LABELS)).sum(), ((before != LABELS) & (now == LABELS)).sum()
    assert float(shown["p-value (McNemar)"]) == pytest.approx(mcnemar(*map(int, only)), rel=0.06)
    first = int(np.flatnonzero(differ)[0])
    pair = (before == before[first]) & (now == now[first])
    region.get_by_role("button", name=f"{pair.sum()}: read {before[first]} became {now[first]}").click()
    rows = region.get_by_role("list", name="Rows").get_by_role("listitem")
    expect(rows).to_have_count(min(30, int(pair.sum())))
    expect(rows.first).to_contain_text(TEXTS[first])
    region.get_by_label("Differences by").select_option("source")
    web = region.get_by_role("row", name=re.compile("^web"))
    expect(web.get_by_role("cell").nth(1)).to_have_text(as_shown(differ[::3].mean()))
    page.get_by_role("link", name="Model").click()
    difference = page.get_by_role("region", name="Compared with other.textodds")
    word, was, _ = textodds.diff(textodds.load(other), textodds.load(mail_file)).moved[0]
    expect(difference.get_by_role("row", name=re.compile(rf"^{re.escape(word)} "))).to_contain_text(
        f"{abs(was):.2f}"
    )
