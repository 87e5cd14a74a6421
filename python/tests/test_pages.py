"""The Python that the pages show runs as it stands there."""

from __future__ import annotations

import concurrent.futures
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_what_a_page_shows_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    if page == "docs/python.md":
        assert (tmp_path / "dumbbell.png").stat().st_size > 10_000
