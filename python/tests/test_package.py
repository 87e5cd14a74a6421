"""Tests of the files for a package index: the source distribution, licences, metadata."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path, PurePosixPath

import bbrlab as bl
import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_TITLES = """
class Any:
    pass

def __getattr__(name):
    if name == "titles" or name.startswith("__"):
        raise AttributeError(name)
    return Any
"""
LICENCES = {"LICENSE-APACHE", "LICENSE-MIT"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> dict[PurePosixPath, str]:
    """Returns the files of a source distribution with their contents as text."""
    out = tmp_path_factory.mktemp("sdist")
    words = [sys.executable, "-m", "maturin", "sdist", "--out", str(out)]
    subprocess.run(words, cwd=ROOT / "python", check=True, capture_output=True)
    (archive,) = out.iterdir()
    assert archive.name == f"bbrlab-{bl.__version__}.tar.gz"
    files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            assert member.isfile(), f"{member.name}: no file"
            read = tar.extractfile(member)
            assert read is not None
            files[PurePosixPath(*PurePosixPath(member.name).parts[1:])] = read.read().decode(errors="replace")
    return files


def resolved(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def test_the_sdist_has_every_file_that_the_crates_embed(sdist: dict[PurePosixPath, str]) -> None:
    wanted = set()
    for path, text in sdist.items():
        # Files that only tests embed are not compiled into the package, so they need not be in the sdist.
        if path.suffix == ".rs" and "src" in path.parts:
            library = text.split("#[cfg(test)]")[0]
            for name in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', library):
                if "tests" not in path.stem:
                    wanted.add(resolved(path.parent / name))
    # Build scripts compose the names of these files, so the pattern above does not find them.
    for pattern in ("scenarios/*/*.toml", "papers/*.toml", "papers/study/*.toml"):
        found = {PurePosixPath(path.relative_to(ROOT).as_posix()) for path in ROOT.glob(pattern)}
        assert found
        wanted |= found
    assert len(wanted) > 90
    assert wanted - set(sdist) == set()


def test_the_sdist_has_what_a_build_needs(sdist: dict[PurePosixPath, str]) -> None:
    names = {str(path) for path in sdist}
    assert {"Cargo.lock", "Cargo.toml", "pyproject.toml", "README.md", "PKG-INFO", "bbrlab/__init__.py"} <= names
    for licence in LICENCES:
        assert sdist[PurePosixPath(licence)] == (ROOT / licence).read_text()


def test_the_metadata_say_what_it_is() -> None:
    said = metadata.metadata("bbrlab")
    assert said["Version"] == bl.__version__
    assert said["License-Expression"] == "MIT OR Apache-2.0"
    assert set(said.get_all("License-File") or []) == LICENCES
    assert len(said["Summary"]) > 40
    assert said["Description"].startswith("# bbrlab\n")
    named = {Path(file).name for file in metadata.files("bbrlab") or []}
    assert named >= LICENCES


def test_the_version_is_the_workspace_s() -> None:
    (version,) = re.findall(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert bl.__version__ == version
    # For each newer key, `docs/scenario-files.md` gives the version that introduced the key. This version cannot be
    # later than the package's.
    since = re.findall(r"\(since (\d+)\.(\d+)\.(\d+)\)", (ROOT / "docs/scenario-files.md").read_text())
    assert since
    assert max(tuple(map(int, one)) for one in since) <= tuple(map(int, version.split(".")))


def test_all_takes_in_every_extra() -> None:
    wanted = metadata.requires("bbrlab") or []
    names = {extra for extra in metadata.metadata("bbrlab").get_all("Provides-Extra") or [] if extra != "all"}
    (of_all,) = [line for line in wanted if line.startswith("bbrlab[")]
    assert set(re.findall(r"\[(.*?)\]", of_all)[0].split(",")) == names


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (None, "No module named 'bbrlab._bbrlab'"),
        ("COMMIT = VERSION = ''", "cannot import name 'AckSample' from 'bbrlab._bbrlab'"),
        (WITHOUT_TITLES, "cannot import name 'titles'"),
    ],
)
def test_a_compiled_module_of_another_commit_is_named_at_the_import(
    tmp_path: Path, module: str | None, reason: str
) -> None:
    files = Path(bl.__file__).parent
    (tmp_path / "bbrlab").mkdir()
    for file in files.glob("*.py"):
        (tmp_path / "bbrlab" / file.name).write_text(file.read_text())
    if module is not None:
        (tmp_path / "bbrlab" / "_bbrlab.py").write_text(module)
    words = [sys.executable, "-c", "import bbrlab"]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True).stderr.splitlines()[-1]
    assert told.startswith(("ImportError: the Python files", "ModuleNotFoundError: the Python files"))
    assert reason in told
    assert told.endswith("install bbrlab again, in a clone with `pip install ./python`")
