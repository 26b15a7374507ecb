"""The wheel in an environment of its own: no Rust, no checkout, and nothing but what it asks for."""

import json
import os
import re
import subprocess
import sys
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {"click", "numpy", "safetensors", "textodds"}
TOOLS = {"pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel"}
MOST_MEGABYTES = 90
LONG = 600

ROWS = [("free phone, win a prize", "spam"), ("win cash now, call free", "spam"), ("free prize call", "spam")]
ROWS += [("see you at six", "ham"), ("home soon, love", "ham"), ("meet me for lunch at six", "ham")]
ROWS *= 10

pytestmark = pytest.mark.long


def newest(paths):
    return max((path.stat().st_mtime for path in paths), default=0.0)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that TEXTODDS_WHEEL names, that of `make wheels` if not out of date, or one built now."""
    if given := os.environ.get("TEXTODDS_WHEEL"):
        return Path(given)
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "rust").glob("*/src/**/*.rs"), ROOT / "pyproject.toml"]
    made = sorted((ROOT / "dist").glob("*.whl"))
    if made and newest(made) > newest(sources):
        return made[-1]
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "maturin", "build", "--release", "--out", str(out)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


class Place:
    """An environment with the wheel in it, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "env"
        venv.create(self.home, with_pip=True)
        self.bin = self.home / ("Scripts" if os.name == "nt" else "bin")
        kept = ("SYSTEMROOT", "TEMP", "TMP", "HOME", "LANG")
        self.env = {name: os.environ[name] for name in kept if name in os.environ}
        self.env |= {"PATH": str(self.bin), "PYTHONUTF8": "1"}  # no cargo, no PYTHONPATH
        (folder / "work").mkdir()

    def install(self, *what: str) -> None:
        pip = [
            str(self.bin / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *what,
        ]
        done = subprocess.run(pip, capture_output=True, text=True, timeout=LONG, check=False)
        if "No matching distribution" in done.stderr and not os.environ.get("CI"):
            pytest.skip("there is no package index")
        assert done.returncode == 0, done.stderr

    def run(self, *args: str, status: int = 0, text: str = "") -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(self.bin / "textodds"), *args],
            cwd=self.folder / "work",
            env=self.env,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONG,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done

    def python(self, code: str) -> str:
        done = subprocess.run(
            [str(self.bin / "python"), "-c", code],
            cwd=self.folder / "work",
            env=self.env,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        return done.stdout + done.stderr

    def packages(self) -> set[str]:
        site = self.python("import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        return {path.name for path in Path(site).iterdir()}

    def megabytes(self) -> float:
        site = Path(self.python("import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        parts = [part for part in site.iterdir() if re.split(r"[-.]", part.name)[0] not in TOOLS]
        files = [file for part in parts for file in ([part] if part.is_file() else part.rglob("*"))]
        return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    made = Place(tmp_path_factory.mktemp("place"))
    made.install(str(wheel))
    work = made.folder / "work"
    lines = {
        "mail.csv": ["text,label", *(f'"{text}",{label}' for text, label in ROWS)],
        "mail.tsv": ["text\tlabel", *(f"{text}\t{label}" for text, label in ROWS)],
        "mail.jsonl": [json.dumps({"text": text, "label": label}) for text, label in ROWS],
        "mail.txt": [f"__label__{label} {text}" for text, label in ROWS],
    }
    for name, content in lines.items():
        (work / name).write_text("\n".join(content) + "\n", encoding="utf-8")
    made.run("train", "mail.csv", "--learner", "multinomial", "-o", "mail.textodds", "--quiet")
    return made


def test_it_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert len(tops) == 2
    assert tops > {"textodds"}
    assert not [name for name in names if "test" in name or "examples/" in name]
    assert [name for name in names if name.startswith("textodds/_kernels.")]
    assert "-cp311-abi3-" in wheel.name
    assert wheel.stat().st_size < 5e6


def test_it_brings_no_more_than_it_needs(place):
    brought = {re.split(r"[-.]", name)[0] for name in place.packages()} - TOOLS - {"distutils"}
    assert brought - {"__pycache__"} == NEEDED
    assert place.megabytes() <= MOST_MEGABYTES


@pytest.mark.parametrize("data", ["mail.csv", "mail.tsv", "mail.jsonl", "mail.txt"])
def test_it_trains_predicts_measures_and_explains_plain_files(place, data):
    model = f"{data}.textodds"
    place.run("train", data, "-o", model, "--quiet")
    said = place.run("predict", model, data, "-o", f"{data}.answers.csv")
    assert f"{len(ROWS)} rows" in said.stderr
    assert json.loads(place.run("evaluate", model, data, "--json").stdout)["accuracy"] == 1.0
    assert place.run("predict", model, "--say", "win a free phone").stdout.startswith("spam")
    why = json.loads(place.run("explain", model, "--say", "win a free phone", "--json").stdout)
    assert why["label"] == "spam"


def test_its_answers_are_those_of_the_full_environment(place):
    code = (
        "import textodds; print(textodds.load('mail.textodds').predict_proba(['free lunch at six']).tolist())"
    )
    here = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place.folder / "work",
        capture_output=True,
        text=True,
        check=True,
    )
    assert place.python(code) == here.stdout


@pytest.mark.parametrize(
    ("args", "package", "extra"),
    [
        (["train", "mail.parquet"], "pyarrow", "arrow"),
        (["train", "mail.duckdb"], "duckdb", "sql"),
        (["train", "mail.xlsx"], "python-calamine", "excel"),
        (["train", "table.csv", "--label", "kind"], "pyarrow", "arrow"),
        (["train", "mail.csv", "--learner", "lda"], "scipy", "sklearn"),
        (["train", "mail.csv", "--learner", "multinomial", "--spark", "local"], "pyspark", "spark"),
        (["predict", "mail.textodds", "mail.csv", "-o", "x.parquet"], "pyarrow", "arrow"),
        (["evaluate", "mail.textodds", "mail.csv", "--report", "x.html"], "matplotlib", "plot"),
        (["export", "mail.textodds", "-o", "mail.onnx"], "onnx", "onnx"),
        (["serve", "mail.textodds"], "httptools", "serve"),
    ],
)
def test_what_is_missing_is_named_with_the_extra_that_brings_it(place, args, package, extra):
    work = place.folder / "work"
    (work / "mail.parquet").write_bytes(b"PAR1 and what follows")
    (work / "mail.duckdb").write_bytes(b"what a database holds")
    (work / "mail.xlsx").write_bytes(b"PK what a sheet holds")
    (work / "table.csv").write_text("size,kind\n1.5,a\n2.5,b\n" * 9)
    said = place.run(*args, status=2).stderr
    assert f"needs {package}, which is not installed\n" in said
    assert said.endswith(f"hint: pip install 'textodds[{extra}]'\n")


def test_an_estimator_says_that_scikit_learn_is_missing(place):
    said = place.python("from textodds import MultinomialNB")
    assert "textodds.MultinomialNB needs scikit-learn, which is not installed" in said
    assert "pip install 'textodds[sklearn]'" in said


def test_it_serves(place, wheel):
    place.install(f"{wheel}[serve]")
    service = subprocess.Popen(
        [str(place.bin / "textodds"), "serve", "mail.textodds", "--port", "0", "--json"],
        cwd=place.folder / "work",
        env=place.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = json.loads(service.stdout.readline())["address"].rstrip("/")
        body = json.dumps({"text": "win a free phone"}).encode()
        asked = urllib.request.Request(
            f"{address}/v1/classify", body, {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert json.load(answer)["label"] == "spam"
        with urllib.request.urlopen(f"{address}/", timeout=60) as page:
            assert b"<html" in page.read()
    finally:
        service.terminate()
        service.wait(60)
        service.stdout.close()
