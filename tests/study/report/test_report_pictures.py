import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from textodds.errors import InputError, ModelFileError, TooFewRows, Unsupported
from textodds.study.report import boundaries, densities
from textodds.study.report.gaussian_fits import LabelledPoints
from textodds.study.report.logistic_fit import LogisticFit
from textodds.study.report.picture import COLOURS, MARKERS, STYLES

pytestmark = pytest.mark.slow

mpl = pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'textodds[plot]'")

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=["boundaries", "densities"])
def draw(request, three):
    rows, labels = three
    if request.param == "boundaries":
        return lambda: boundaries(rows, labels, ("height", "weight"))
    return lambda: densities(rows, labels, ("height", "weight"))


def size_of_png(data):
    assert data[:8] == PNG
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_a_png_is_2000_dots_wide(draw, tmp_path):
    draw().save(tmp_path / "p.png")
    width, height = size_of_png((tmp_path / "p.png").read_bytes())
    assert width == 2000
    assert 500 < height < 2200


def test_an_svg_is_xml_with_a_title_and_without_a_date(draw, tmp_path):
    draw().save(tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "height" in text
    assert "<dc:date>" not in text
    assert "<dc:title>" in text


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_rows_give_the_same_bytes(draw, suffix):
    assert draw().encoded(suffix) == draw().encoded(suffix)


def test_the_bytes_are_the_same_in_another_process_with_other_settings(three, tmp_path):
    rows, labels = three
    np.save(tmp_path / "rows.npy", rows)
    code = f"""
import matplotlib, numpy, sys
matplotlib.rcParams.update({{"font.size": 30, "axes.grid": True, "lines.linewidth": 9}})
from textodds.study.report import boundaries
rows = numpy.load({str(tmp_path / "rows.npy")!r})
sys.stdout.buffer.write(boundaries(rows, {labels!r}, ("x", "y")).encoded("svg"))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout == boundaries(rows, labels, ("x", "y")).encoded("svg")


def test_the_settings_of_the_user_are_left_as_they_were(draw):
    before = dict(mpl.rcParams)
    draw().encoded("png")
    assert dict(mpl.rcParams) == before


def test_pyplot_is_not_needed_nor_matplotlib_until_something_is_drawn():
    code = """
import sys
import textodds.study.report
assert "matplotlib" not in sys.modules
textodds.study.report.densities([1.0, 2.0, 3.0, 5.0], list("aabb"), "x").encoded("png")
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_panels_are_qda_lda_gnb_and_logistic_regression_with_the_same_axes_and_the_accuracy_on_these_rows(
    three,
):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    rows, labels = three
    picture = boundaries(rows, labels, ("height", "weight"))
    panels = picture.figure.axes
    assert [axes.texts[0].get_text() for axes in panels] == ["QDA", "LDA", "GNB", "logistic"]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    assert {axes.get_xlabel() for axes in panels} == {"height"}
    assert panels[0].get_ylabel() == "weight"
    gaussians = (QuadraticDiscriminantAnalysis(), LinearDiscriminantAnalysis(), GaussianNB())
    oracles = (*gaussians, LogisticRegression(C=np.inf))
    for axes, (name, right), oracle in zip(panels, picture.about["accuracy"].items(), oracles, strict=True):
        assert right == pytest.approx(oracle.fit(rows, labels).score(rows, labels), abs=0.004), name
        assert axes.texts[2].get_text() == f"{right:.1%} accuracy on these rows"


def test_the_logistic_panel_has_the_weights_of_largest_likelihood_in_the_units_of_the_columns(three):
    from sklearn.linear_model import LogisticRegression

    rows, labels = three
    rows = rows * [30.0, 0.2] + [170.0, -4.0]
    found = LogisticFit.of(LabelledPoints.of(rows, labels, ("height", "weight")))
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(rows, labels)
    expected = oracle.predict_proba(rows)
    scores = found.scores(rows)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, atol=1e-4)
    assert not found.notes


def test_classes_that_can_be_separated_are_drawn_with_a_weak_penalty_and_the_picture_says_so():
    rows = np.array([[0, 0], [1, 0.2], [0, 1.1], [9, 9], [8, 9.2], [9, 7.5]])
    picture = boundaries(rows, list("aaabbb"), ("x", "y"))
    assert any("weights would grow without end" in note for note in picture.notes)
    assert picture.about["accuracy"]["logistic"] == 1.0


def test_what_is_not_shown_is_noted_in_the_picture(three):
    rows, labels = three
    gap = np.concatenate([rows, [[np.nan, 1.0]]])
    picture = boundaries(gap, [*labels, "a"], ("x", "y"), points=100)
    assert picture.notes[:2] == ("1 row without a number left out", "107 of 270 rows drawn as points")
    foot = " ".join(text.get_text() for text in picture.figure.texts)
    for note in picture.notes:
        assert note.split()[0] in foot


def test_densities_have_a_panel_for_each_column_and_their_decisions_as_data(three):
    rows, labels = three
    names = ["p", "q", "r", "s"]
    picture = densities(np.column_stack([rows, rows]), labels, names)
    for name, axes in zip(names, picture.figure.axes, strict=True):
        assert name in [text.get_text() for text in axes.texts]
    columns = picture.about["columns"]
    assert columns["p"] == columns["r"]
    assert {point["before"] for point in columns["p"]["decisions"]} <= set("abc")


def test_bars_have_area_one_if_all_rows_are_within(three):
    rows = np.concatenate([np.linspace(0, 10, 200), np.linspace(5, 20, 200)])
    picture = densities(rows, ["a"] * 200 + ["b"] * 200, "x")
    stairs = [each for each in picture.figure.axes[0].patches if hasattr(each, "get_data")]
    for each in stairs:
        values, edges, _ = each.get_data()
        assert np.sum(values * np.diff(edges)) == pytest.approx(1)
    assert len(stairs) == 2


def test_names_are_text_and_not_formulas_nor_too_long(three):
    rows, labels = three
    names = {"a": "$x_1$ & <b>", "b": "n" * 200, "c": "c"}
    picture = boundaries(rows, [names[label] for label in labels], ("$\\frac", "y" * 300))
    ET.fromstring(picture.encoded("svg"))
    assert picture.encoded("png")[:8] == PNG


@pytest.mark.parametrize("factor", [1e-12, 1e9])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_numbers_of_any_size_can_be_drawn(three, factor, offset):
    rows, labels = three
    scaled = (rows + offset) * factor
    for picture in (boundaries(scaled, labels, ("x", "y")), densities(scaled, labels, ["x", "y"])):
        assert picture.encoded("png")[:8] == PNG


def test_the_factor_of_large_numbers_stands_beside_the_name_of_the_axis(three):
    rows, labels = three
    panel = boundaries(rows * 1e9, labels, ("x", "y")).figure.axes[0]
    assert panel.get_xlabel() == "x (×1e9)"
    assert panel.get_ylabel() == "y (×1e9)"


def test_eight_classes_have_eight_colours_and_markers():
    assert len(set(COLOURS)) == len(set(MARKERS)) == 8
    assert STYLES[7].line != STYLES[7].colour  # yellow is darkened where it is a line
    assert STYLES[0].line == STYLES[0].colour


def test_a_file_that_is_no_picture_is_refused(draw, tmp_path):
    picture = draw()
    for name in ("p.pdf", "p.jpg", "p", "svg"):
        with pytest.raises(InputError, match=r"is not an \.svg or \.png file"):
            picture.save(tmp_path / name)
        assert list(tmp_path.iterdir()) == [], name


def test_a_picture_that_cannot_be_written_leaves_nothing_behind(three, tmp_path):
    picture = densities(three[0][:, 0], three[1], "x")
    with pytest.raises(ModelFileError, match="cannot write"):
        picture.save(tmp_path / "no" / "p.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_fails_keeps_the_one_before(three, tmp_path, monkeypatch):
    picture = densities(three[0][:, 0], three[1], "x")
    picture.save(tmp_path / "p.svg")
    before = (tmp_path / "p.svg").read_bytes()
    monkeypatch.setattr(picture.figure, "savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        picture.save(tmp_path / "p.svg")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [before]


def test_columns_on_a_line_are_refused(three):
    rows, labels = three
    with pytest.raises(InputError, match="`x` and `y` are collinear in class `a`"):
        boundaries(np.column_stack([rows[:, 0], 3 - 2 * rows[:, 0]]), labels, ("x", "y"))


def test_the_same_column_twice_is_refused(three):
    with pytest.raises(InputError, match="drawn over two columns, not over `x`, `x`"):
        boundaries(three[0], three[1], ("x", "x"))
    with pytest.raises(InputError, match="each once"):
        densities(three[0], three[1], ("x", "x"))


def test_a_class_with_a_single_row_is_named(three):
    rows, labels = three
    with pytest.raises(TooFewRows, match="a single row in class `z`"):
        boundaries(np.concatenate([rows, [[0.0, 0.0]]]), [*labels, "z"], ("x", "y"))


def test_without_matplotlib_the_error_says_what_to_install(three, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Unsupported, match=r"pip install 'textodds\[plot\]'"):
        densities(three[0][:, 0], three[1], "x")
