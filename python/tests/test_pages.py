"""The Python code in the pages runs unchanged."""

from __future__ import annotations

import concurrent.futures
import re
from pathlib import Path

import pytest

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
