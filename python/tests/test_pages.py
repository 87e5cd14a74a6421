"""The Python code in the documentation pages runs unchanged."""

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import math
import os
import re
import shutil
from pathlib import Path

import pytest

import bbrlab as bl

DOCS = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_readmes_show_the_example(page: str) -> None:
    example = (DOCS / "python/examples/first_run.py").read_text()
    _, body = example.split('"""\n\n', 1)
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert [line.split("  #")[0].rstrip() for line in block.splitlines()] == body.splitlines()


@pytest.mark.parametrize(
    ("page", "picture"),
    [
        ("docs/python.md", "dumbbell.png"),
        ("docs/custom-congestion-control.md", None),
        ("README.md", "share.png"),
    ],
)
def test_what_a_page_shows_runs(
    page: str, picture: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    names = {"concurrent": concurrent}
    for module in ("polars", "pyarrow", "duckdb", "distributed", "gymnasium"):
        names[module] = pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text(
        'duration = "1s"\n[bottleneck]\nrate = "10Mbit/s"\nbuffer = "1bdp"\n[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n'
    )
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    if picture is not None:
        assert (tmp_path / picture).stat().st_size > 10_000
    pytest.importorskip("matplotlib.pyplot").close("all")


def test_duckdb_reads_the_files_as_the_page_of_results_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    # The page's queries read the folder of the sweep that the README's first steps compute.
    bl.sweep("examples.bbr3-vs-cubic", {"bottleneck.buffer": ["1bdp", "4bdp"]}, seeds=2, out="bbrlab-runs/sweep", pictures=False)
    blocks = re.findall(r"```python\n(import duckdb.*?)```", (DOCS / "docs/results.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        (query,) = re.findall(r'duckdb.sql\("""(.*?)"""\)', block, re.DOTALL)
        rows = duckdb.sql(query).fetchall()
        assert len(rows) == 4 and all(len(row) == 4 for row in rows)


def test_no_page_has_a_feature_that_is_newer_than_the_package() -> None:
    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split("."))

    found = [
        (page.name, version)
        for page in sorted((DOCS / "docs").rglob("*.md"))
        for version in re.findall(r"\bsince (\d+\.\d+\.\d+)", page.read_text())
    ]
    assert len(found) > 5
    assert [both for both in found if numbers(both[1]) > numbers(bl.__version__)] == []


@pytest.mark.parametrize("page", ["python.md", "own-control.md"])
def test_a_tutorial_shows_what_a_reader_gets(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the page, a code block marked `text` has the output of the code block above it.

    The code writes the page's pictures. With UPDATE_EXPECT set, the page and its pictures are rewritten.
    """
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    # Only slow machines show a progress bar, so the bar is not part of the page.
    monkeypatch.setattr("bbrlab._progress.LEAST_S", math.inf)
    tutorials = DOCS / "docs/tutorials"
    names: dict[str, object] = {}

    def followed(found: re.Match[str]) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(found[1], page, "exec"), names)
        lines = "".join(f"{line.rstrip()}\n" for line in output.getvalue().rstrip().splitlines())
        assert bool(lines) == (found[2] is not None), f"the page must show what a block prints, and only that: {found[1]}"
        return f"```python\n{found[1]}```" + (f"\n\n```text\n{lines}```" if lines else "")

    shown = (tutorials / page).read_text()
    now = re.sub(r"```python\n(.*?)```(\n\n```text\n.*?```)?", followed, shown, flags=re.DOTALL)
    pyplot.close("all")
    pictures = re.findall(r"\]\(img/(.*?)\)", shown)
    assert pictures
    assert [name for name in pictures if (tmp_path / name).stat().st_size < 5_000] == []
    if "UPDATE_EXPECT" in os.environ:
        (tutorials / page).write_text(now)
        for name in pictures:
            shutil.copy(tmp_path / name, tutorials / "img" / name)
    assert now == (tutorials / page).read_text()
