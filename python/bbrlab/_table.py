"""Tables of results: columns that numpy, polars, pandas, pyarrow and DuckDB read without a copy."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._bbrlab import Chunk, Frame

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars
    import pyarrow

__all__ = ["Table"]

ROWS_SHOWN = 10


class Table:
    """A table of named columns of one length.

    It has Arrow's capsule interface, so `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB's queries read it
    without a copy. `table["name"]` is a column as a numpy array.

    >>> import bbrlab as bl
    >>> flows = bl.run("examples.dumbbell").flows
    >>> len(flows), flows["cc"].tolist(), flows["goodput_mbps"].dtype
    (1, ['bbr1'], dtype('float64'))
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self._frame.names

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._frame)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return len(self), len(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Returns a column as an array of shape (rows,).

        Whole numbers are int64, other numbers float64. Both are read-only, and not copied if the table has one chunk.
        Words are objects. A metric without a meaning is NaN, which makes whole numbers float64, or None.

        Raises:
            KeyError: If the column does not exist.
        """
        import numpy as np

        if name not in self:
            raise KeyError(f"{name}: expected one of {', '.join(self.columns)}")
        pieces = [_array(chunk) for chunk in self._frame.chunks(name)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by their names, each an array of shape (rows,).

        >>> import bbrlab as bl
        >>> links = bl.run("examples.dumbbell").links.to_dict()
        >>> links["name"].tolist(), links["drops"].tolist()
        (['bottleneck'], [40])
        """
        return {name: self[name] for name in self}

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame, without a copy.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").queue.to_polars()["packets"].max()
        18
        """
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame. Words and columns with missing values are copied.

        >>> import bbrlab as bl
        >>> int(bl.run("examples.dumbbell").queue.to_pandas()["packets"].max())
        18
        """
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_arrow(self) -> pyarrow.Table:
        """The table as a pyarrow table, without a copy.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").series.to_arrow().schema.field("time_s").type
        DataType(double)
        """
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        """The schema as Arrow's capsule."""
        return self._frame.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as Arrow's capsule."""
        return self._frame.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<bbrlab.Table of {rows} rows, {columns} columns: {', '.join(self.columns[:8])}, ...>"

    def _repr_html_(self) -> str:
        shown = {name: self[name][:ROWS_SHOWN] for name in self}
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_word(column[n]))}</td>" for column in shown.values()) + "</tr>"
            for n in range(min(len(self), ROWS_SHOWN))
        )
        more = f"<p>{len(self)} rows</p>" if len(self) > ROWS_SHOWN else ""
        return f"<div style='overflow-x: auto'><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div>"


def _word(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else str(value)


def _array(chunk: Chunk) -> npt.NDArray[Any]:
    import numpy as np

    if chunk.kind == "text":
        words: npt.NDArray[np.object_] = np.empty(len(chunk), dtype=object)
        words[:] = chunk.texts()
        return words
    if len(chunk) == 0:
        return np.empty(0, dtype=np.int64 if chunk.kind == "int" else np.float64)
    numbers: npt.NDArray[Any] = np.asarray(chunk)
    if chunk.nulls == 0:
        return numbers
    valid = np.frombuffer(chunk.valid(), dtype=np.bool_)
    return np.where(valid, numbers, np.nan)
