"""The page: for everybody: by keyboard, by ear, on a phone, in the dark."""

import contextlib
import itertools
import re

import pytest
from playwright.sync_api import TimeoutError as Waited
from playwright.sync_api import expect

from serve.browsing import Visits, answer, choose, mail, write

pytestmark = pytest.mark.long

VIEWS = {"try": "Try it", "files": "Files", "label": "Label", "model": "Model"}
LABELLED = "label,text\n" + "".join(f"{label},{text}\n" for label, text in mail(60))
LONG = "text\n" + "Donaudampfschiffahrtsgesellschaftskapitaen" * 20 + " cash\nhome " + "at noon " * 40 + "\n"

CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']"

UNNAMED = """() => [...document.querySelectorAll("button, input, select, textarea, a[href], summary, svg")]
  .filter((node) => node.checkVisibility() && !(node.getAttribute("aria-label") || node.textContent.trim()
    || node.labels?.length || document.getElementById(node.getAttribute("aria-labelledby"))))
  .map((node) => node.outerHTML)"""

SCROLLS = """() => { const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.activeElement;
  const isLong = scrollHeight > clientHeight || scrollWidth > clientWidth;
  return isLong && document.activeElement !== document.body; }"""

WIDE = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""

CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colour, under) => {
    canvas.canvas.width = canvas.canvas.height = 1;
    canvas.fillStyle = `rgb(${under.join(" ")})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const bright = (rgb) => { const [r, g, b] = rgb.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim()) continue;
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (node.closest("script, noscript, svg, :disabled, .away, option")) continue;
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height || box.bottom + scrollY < 0) continue;
    const line = [];
    for (let each = node; each; each = each.parentElement) line.unshift(each);
    let ground = [255, 255, 255];
    let opacity = 1;
    for (const each of line) {
      ground = over(getComputedStyle(each).backgroundColor, ground);
      opacity *= Number(getComputedStyle(each).opacity);
    }
    canvas.globalAlpha = opacity;
    const ink = over(getComputedStyle(node).color, ground);
    canvas.globalAlpha = 1;
    const [a, b] = [bright(ink), bright(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, walker.currentNode.data.trim().slice(0, 40), node.className]);
  }
  return found;
}"""


def filled(page, view):
    """A view with all that it can show."""
    if view == "try":
        write(page, "Win a free prize at home, zyx " + "verylongword" * 12 + " tomorrow")
        expect(page.locator("#why:not(.stale)")).to_be_visible()
        page.locator("#costs-panel > summary").click()
        expect(page.locator("#decision")).to_contain_text("Decided:")
        page.get_by_role("button", name="That is wrong").click()
    elif view == "files":
        choose(page, "files", "labelled.csv", LABELLED)
        page.get_by_role("button", name="Classify all rows").click()
        expect(page.get_by_role("link", name="The whole report")).to_be_visible(timeout=60_000)
    elif view == "label":
        choose(page, "label", "long.csv", LONG)
        expect(page.locator("#asked")).to_be_visible()
    else:
        expect(page.locator("#telling").get_by_role("table")).to_be_visible()
    for closed in page.locator("main details:not([open]) > summary").all():
        if closed.is_visible():
            closed.click()
    return page


@pytest.fixture(scope="module", params=VIEWS)
def page(request, browser, mail_service):
    """Each view in turn, full of what it can show; it stays open for several tests."""
    visits = Visits(browser)
    yield filled(visits(mail_service, request.param), request.param)
    visits.close()


def faint(page):
    """Texts that are hard to read; there are many that are not."""
    found = page.evaluate(CONTRASTS)
    assert len(found) > 20
    return [each for each in found if each[0] < 4.5]


def test_a_view_can_be_read_in_the_light(page):
    page.emulate_media(color_scheme="light")
    assert faint(page) == []


def test_a_view_can_be_read_in_the_dark(page):
    page.emulate_media(color_scheme="dark")
    assert faint(page) == []


def test_every_control_has_a_name(page):
    assert page.evaluate(UNNAMED) == []


@pytest.mark.parametrize("width", [360, 700, 1200])
def test_a_view_is_never_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 740})
    assert page.evaluate(WIDE) <= 0


def test_letters_of_twice_the_size_fit(page):
    page.set_viewport_size({"width": 640, "height": 400})
    page.locator("html").evaluate("(node) => { node.style.fontSize = '200%'; }")
    assert page.evaluate(WIDE) <= 0
    page.locator("html").evaluate("(node) => { node.style.fontSize = ''; }")


def test_everything_is_reached_by_tab_in_the_order_of_the_page_and_focus_is_seen(page):
    page.set_viewport_size({"width": 1200, "height": 900})
    page.evaluate(
        "() => { document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0); }"
    )
    page.locator("body").evaluate(
        "(node) => { node.tabIndex = -1; node.focus(); node.removeAttribute('tabindex'); }"
    )
    expected = page.evaluate(
        """(controls) => [...document.querySelectorAll(controls)]
             .filter((node) => node.checkVisibility() && !node.disabled && node.tabIndex >= 0)
             .map((node, i) => (node.dataset.stop = String(i)))""",
        CONTROLS,
    )
    assert len(expected) > 5
    reached, unseen = [], []
    for _ in range(len(expected) + 5):
        page.keyboard.press("Tab")
        stop = page.evaluate("() => document.activeElement.dataset.stop ?? null")
        if stop is None and page.evaluate(SCROLLS):
            continue  # browsers let who has no pointer scroll what is too long
        if stop is None:
            break
        reached.append(stop)
        seen = page.evaluate(
            """() => { const node = document.activeElement;
              const near = [node, node.nextElementSibling, node.closest(".writing")].filter(Boolean);
              return near.some((each) => { const style = getComputedStyle(each);
                return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2; }); }"""
        )
        if not seen:
            unseen.append(page.evaluate("() => document.activeElement.outerHTML.slice(0, 200)"))
    assert reached == expected
    assert unseen == []


@pytest.mark.parametrize("view", VIEWS)
def test_views_have_landmarks_and_headings(visit, mail_service, view):
    page = visit(mail_service, view)
    expect(page.locator(f"#view-{view}")).to_be_visible()
    for role in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("navigation", name="Views").get_by_role("link")).to_have_text(
        list(VIEWS.values())
    )
    expect(page.locator("[aria-current=page]")).to_have_text(VIEWS[view])
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("heading", level=2)).to_have_text([VIEWS[view]])
    expect(page.get_by_role("region", name=VIEWS[view], exact=True)).to_be_visible()
    levels = page.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, h4")].filter((node) => node.checkVisibility())
             .map((node) => Number(node.localName[1]))"""
    )
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert page.locator("html").get_attribute("lang") == "en-GB"


def test_the_tree_of_the_view_to_try(visit, mail_service):
    page = visit(mail_service)
    write(page, "win")
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    expect(page.get_by_role("main")).to_match_aria_snapshot(
        """
        - main:
          - region "Try it":
            - heading "Try it" [level=2]
            - textbox "Your text"
            - region "The answer":
              - heading "The answer" [level=3]
              - list "Probability of each class":
                - listitem: /spam/
              - button "That is wrong"
            - region /Why/:
              - paragraph:
                - combobox "Why not"
              - group /Words of the text/
              - table /What adds to the log-odds of spam/
            - region "Your costs"
        """
    )


def test_no_id_is_there_twice(visit, mail_service):
    page = filled(visit(mail_service), "try")
    for view in ("model", "label", "files"):
        page.goto(f"{mail_service.address}/#{view}")
        filled(page, view)
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert sorted(ids) == sorted(set(ids))
    lost = page.evaluate(
        """() => [...document.querySelectorAll("*")]
          .flatMap((node) => ["for", "aria-labelledby", "aria-describedby", "aria-controls"]
            .map((name) => node.getAttribute(name)))
          .filter((id) => id && !document.getElementById(id))"""
    )
    assert set(lost) <= {"h-why"}  # of a part that is hidden until there is something to say


def test_the_answer_is_read_out_once_typing_has_ended(visit, mail_service):
    page = visit(mail_service)
    live = page.locator("#answer-live")
    expect(live).to_have_attribute("aria-live", "polite")
    write(page, "win cash")
    expect(live).to_have_text(re.compile(r"^spam, [\d.]+\u202f%$"))


def test_a_skip_link_leads_to_the_view(visit, mail_service):
    page = visit(mail_service, "model")
    expect(page.locator("#telling").get_by_role("table")).to_be_visible()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#view-model")).to_be_focused()


def test_views_follow_the_address_and_the_button_back(visit, mail_service):
    page = visit(mail_service)
    write(page, "win cash")
    page.get_by_role("link", name="Files").click()
    expect(page.locator("#view-files")).to_be_focused()
    expect(page.locator("#view-try")).to_be_hidden()
    page.go_back()
    expect(page.get_by_label("Your text")).to_have_value("win cash")
    expect(answer(page).locator(".verdict")).to_be_visible()


def test_a_file_is_chosen_by_keyboard(visit, mail_service):
    page = visit(mail_service, "files")
    expect(page.locator("#version")).to_contain_text("Version")  # the page has settled, and so has the focus
    field = page.get_by_label(re.compile("Choose a file")).first
    for patience in (5_000, 10_000, 30_000):  # a busy browser may miss a key
        with contextlib.suppress(Waited), page.expect_file_chooser(timeout=patience) as chosen:
            field.press("Enter")
        if chosen.is_done():
            break
    chosen.value.set_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"win cash\n"})
    expect(page.get_by_role("button", name="Classify all rows")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Answers to a.txt")).to_be_visible()


def test_signs_and_strokes_tell_as_much_as_colours(visit, mail_service):
    page = visit(mail_service, forced_colors="active")
    write(page, "win cash at home and noon, see the film")
    expect(page.locator("#why:not(.stale)")).to_be_visible()
    strokes = page.locator(".reading .word").evaluate_all(
        """(nodes) => nodes.map((node) =>
             [node.className.split(" ")[1], getComputedStyle(node).borderBottomStyle])"""
    )
    assert {tuple(each) for each in strokes} >= {("for", "solid"), ("against", "dashed")}
    numbers = page.locator("#why .sums td.number").all_inner_texts()
    assert any(number.startswith("+") for number in numbers)
    assert any(number.startswith("\u2212") for number in numbers)
