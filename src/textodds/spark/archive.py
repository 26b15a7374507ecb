"""textodds and what it needs as one archive, for executors that have neither."""

from __future__ import annotations

import os
import re
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from textodds.errors import InputError

NEEDED = ("numpy", "pyarrow", "safetensors", "scipy")
"""What tasks import beside textodds itself; PySpark is there, since Spark is."""

FOLDER = "textodds-spark"
"""The name under which executors unpack the archive, unless another is given."""


def pack(path: str | os.PathLike[str]) -> dict[str, str]:
    """Write a zip archive of textodds and what its tasks need, as they are installed here.

    Executors must have the same version of Python, and be machines of the same kind. The configuration
    that is returned makes them use the archive.

    Examples
    --------
    ``SparkSession.builder.master("spark://host:7077").config(map=textodds.spark.pack("textodds.zip"))``
    """
    path = Path(path).absolute()
    if path.suffix != ".zip":
        raise InputError(f"the archive is to be `{path.name}`", hint="give a name that ends in .zip")
    partial = path.with_suffix(".zip.part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        _add_textodds(archive)
        for name in NEEDED:
            _add(archive, distribution(name))
    partial.replace(path)
    return {"spark.archives": f"{path}#{FOLDER}", "spark.executorEnv.PYTHONPATH": FOLDER}


def _add_textodds(archive: zipfile.ZipFile) -> None:
    """Our own files, installed or in a working copy."""
    import textodds

    home = Path(textodds.__file__).parent
    for file in sorted(home.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            archive.write(file, Path("textodds") / file.relative_to(home))


def _add(archive: zipfile.ZipFile, found: Distribution) -> None:
    """The files of a distribution that are imported, and the libraries beside them."""
    skipped = re.compile(r"(^|/)(__pycache__|tests?|include|src)/")
    for file in found.files or []:
        name = file.as_posix()
        if name.startswith("..") or skipped.search(name) or name.endswith((".pyx", ".pxd", ".h", ".a")):
            continue
        archive.write(str(found.locate_file(file)), name)
