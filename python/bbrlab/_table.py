"""Tables of results: columns that numpy, polars, pyarrow and DuckDB read without a copy."""

from __future__ import annotations

import difflib
import html
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from ._bbrlab import Chunk, Frame
from ._optional import optional

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars
    import pyarrow

__all__ = ["Table", "meant", "not_among"]

ROWS_SHOWN = 10
WIDTH = 110
"""Maximum number of characters in a line of a table as text."""

MEANS = ("metric", "mean", "lo", "hi", "n")
"""The columns of `Results.points` that are always shown."""

NAMES_SHOWN = 12


def not_among(name: str, names: Sequence[str]) -> str:
    """Returns the end of a message about an unknown name: similar names or, if none is similar, the first `names`.

    >>> not_among("goodput", ["flow", "goodput_mbps", "group_goodput_mbps"])
    'found no such column; did you mean goodput_mbps or group_goodput_mbps?'
    >>> not_among("shares", ["start_s", "group_share"])
    'found no such column; did you mean group_share?'
    """
    return f"found no such column; {meant(name, names)}"


def meant(name: str, names: Sequence[str]) -> str:
    """Returns a question with those of `names` that are similar to `name`; if none is, a list of the first `names`.

    >>> meant("buffer", ["bottleneck.buffer", "flows.cc"]), meant("BBR1", ["cubic", "bbr1"])
    ('did you mean bottleneck.buffer?', 'did you mean bbr1?')
    """
    near = [known for known in names if known.lower() == name.lower()]
    # Names that contain the word as a part, with or without its final s, come before names that merely have similar
    # letters.
    for word in filter(None, dict.fromkeys((name, name.removesuffix("s")))):
        near = near or [known for known in names if known.startswith(word) or known.endswith((f"_{word}", f".{word}"))]
        near += [known for known in names if f"_{word}_" in known and known not in near]
    near = near or difflib.get_close_matches(name, names, 3)
    if near:
        more = f", or {len(near) - 4} more" if len(near) > 4 else ""
        return f"did you mean {' or '.join(near[:4])}{more}?"
    more = f", {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"expected one of {', '.join(names[:NAMES_SHOWN])}{more}"


class Table:
    """A table of named columns of one length.

    A table has Arrow's capsule interface, so `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB's queries
    read it without a copy. `pandas.DataFrame(table)` and seaborn read a table too. `table["name"]` is a column as a
    numpy array, `table[0]` a row as a dict. `table[:5]` and `table[mask]` are tables of rows, `table[["a", "b"]]` is a
    table of columns. A table iterates over its rows.

    >>> import bbrlab as bl
    >>> flows = bl.run("examples.dumbbell").flows
    >>> len(flows), flows["cc"].tolist(), flows["goodput_mbps"].dtype
    (1, ['bbr1'], dtype('float64'))
    >>> flows[["flow", "cc"]][0]
    {'flow': 0, 'cc': 'bbr1'}
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

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = self.to_dict()
        # `tolist` converts numpy's numbers to Python's.
        values = [column.tolist() for column in columns.values()]
        return (dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True))

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @overload
    def __getitem__(self, key: str) -> npt.NDArray[Any]: ...

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice | list[str] | list[int] | npt.NDArray[Any]) -> Table: ...

    def __getitem__(self, key: str | int | np.integer[Any] | slice | list[str] | list[int] | npt.NDArray[Any]) -> Any:
        """Returns a column, a row, or a table of some columns or rows.

        A column is an array of shape (rows,). Whole numbers are int64, other numbers float64. An array of numbers is
        read-only and not copied if the table has one chunk and no value is missing. Columns of text have the dtype
        `object`. A missing value is None among words and NaN among numbers. NaN makes a column of whole numbers
        float64.

        Args:
            key: The name of a column, the number of a row, a list of names, a slice, a list or array of row numbers, or
                an array with True for each row to keep.

        Raises:
            KeyError: If a column does not exist.
            IndexError: If a row does not exist.
        """
        import numpy as np

        if isinstance(key, str):
            self._check(key)
            pieces = [_array(chunk) for chunk in self._frame.chunks(key)]
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        if isinstance(key, slice):
            return self._rows(range(*key.indices(len(self))))
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return next(iter(self._rows([self._place(key)])))
        if isinstance(key, (list, tuple)) and all(isinstance(name, str) for name in key):
            for name in key:
                self._check(str(name))
            return Table(self._frame.select([str(name) for name in key]))
        chosen = np.asarray(key)
        if chosen.ndim == 1 and chosen.dtype == np.bool_ and len(chosen) == len(self):
            return self._rows(np.flatnonzero(chosen).tolist())
        if chosen.ndim == 1 and np.issubdtype(chosen.dtype, np.integer):
            return self._rows([self._place(row) for row in chosen.tolist()])
        if chosen.dtype == np.bool_:
            raise IndexError(f"expected True or False for each of {len(self)} rows, found an array of shape {chosen.shape}")
        raise TypeError(f"expected a column's name, a row's number, a slice, or a list of these, found {key!r} of type {type(key).__name__}")

    if not TYPE_CHECKING:  # With `__getattr__`, a type checker would accept every name as an attribute.

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self.columns:
                raise AttributeError(f"expected a method, found {name!r}, which is a column: table[{name!r}]", name=name, obj=self)
            hint = "" if name.startswith("_") else f"; a data frame may have it: table.to_pandas().{name}"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    def _check(self, name: str) -> None:
        names = self.columns
        if name in names:
            return
        if name != "metric" and "metric" in names and name in self["metric"].tolist():
            raise KeyError(f"{name}: found no such column; it is a metric, with rows of its own: table[table['metric'] == {name!r}]")
        raise KeyError(f"{name}: {not_among(name, names)}")

    def _place(self, row: int | np.integer[Any]) -> int:
        try:
            return range(len(self))[row]
        except IndexError:
            there = f"from 0 to {len(self) - 1}" if len(self) else "of a table that has some"
            raise IndexError(f"expected a row {there}, found {row}") from None

    def _rows(self, rows: Sequence[int]) -> Table:
        return Table(self._frame.take(rows))

    def head(self, n: int = 5) -> Table:
        """Returns the first `n` rows.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").series.head(3)["time_s"].tolist()
        [0.0, 0.01, 0.02]
        """
        return self[: max(n, 0)]

    def tail(self, n: int = 5) -> Table:
        """Returns the last `n` rows.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").series.tail(1)["time_s"].tolist()
        [20.0]
        """
        return self[max(len(self) - max(n, 0), 0) :]

    def keys(self) -> list[str]:
        """The names of the columns, so that `dict(table)` has the columns by their names.

        >>> import bbrlab as bl
        >>> dict(bl.run("examples.dumbbell").links[["link_name"]])["link_name"].tolist()
        ['bottleneck']
        """
        return self.columns

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by their names, each an array of shape (rows,).

        >>> import bbrlab as bl
        >>> links = bl.run("examples.dumbbell").links.to_dict()
        >>> links["link_name"].tolist(), links["link_drops"].tolist()
        (['bottleneck'], [40])
        """
        return {name: self[name] for name in self.columns}

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame, without a copy.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").queue.to_polars()["packets"].max()
        18
        """
        with optional("polars"):
            import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame. Unlike polars and pyarrow, pandas copies the columns.

        >>> import bbrlab as bl
        >>> int(bl.run("examples.dumbbell").queue.to_pandas()["packets"].max())
        18
        """
        with optional("pandas"):
            import pandas

        columns: dict[str, Any] = self.to_dict()
        for name in columns:
            if all(chunk.kind == "text" for chunk in self._frame.chunks(name)):
                # Without the type, pandas would not recognize a column of text whose values are all missing. If the
                # types were set in the whole frame instead, pandas would store each column by itself, and adding
                # columns would be slow.
                columns[name] = pandas.Series(columns[name]).astype("str")
        return pandas.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """The table as a pyarrow table, without a copy.

        >>> import bbrlab as bl
        >>> bl.run("examples.dumbbell").series.to_arrow().schema.field("time_s").type
        DataType(double)
        """
        with optional("pyarrow"):
            import pyarrow

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        """The schema as Arrow's capsule."""
        return self._frame.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as Arrow's capsule."""
        return self._frame.__arrow_c_stream__(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        """The table as a data frame of the interchange protocol, which seaborn reads."""
        with warnings.catch_warnings():
            # pandas deprecates the protocol, but seaborn reads no other.
            warnings.simplefilter("ignore")
            return self.to_pandas().__dataframe__(nan_as_null, allow_copy)

    def __repr__(self) -> str:
        rows, columns = self.shape
        shown = {name: [_word(value) for value in column] for name, column in self.head(ROWS_SHOWN).to_dict().items()}
        wide = {name: max(len(name), *map(len, words), 1) for name, words in shown.items()}
        # If the table has all columns in `MEANS`, as `points` has, these columns are always shown. The columns before
        # `n`, such as swept keys, are added as long as they fit. Two kinds of columns are chosen last: columns that
        # repeat a swept quantity as a number in a base unit, such as `bottleneck.buffer_bdp` for `bottleneck.buffer`,
        # and columns without a value in the first rows.
        chosen = [name for name in MEANS if name in shown] if set(MEANS) <= shown.keys() else []
        rest = [name for name in shown if name not in chosen]
        if chosen:
            before = list(shown)[: list(shown).index(MEANS[-1])]
            rest = [name for name in rest if name in before]
            rest.sort(key=lambda name: (not any(shown[name]), any(name.startswith(f"{key}_") for key in shown)))
        width = sum(wide[name] + 2 for name in chosen)
        for name in rest:
            width += wide[name] + 2
            if width - 2 > WIDTH and chosen:
                break
            chosen.append(name)
        left = columns - len(chosen)
        in_order = [[f"{word:>{wide[name]}}" for word in (name, *shown[name])] for name in shown if name in chosen]
        text = ["  ".join(line) for line in zip(*in_order, strict=True)] or [""] * (1 + min(rows, ROWS_SHOWN))
        more = [f"{rows} rows, {columns} columns" + (f", {left} of them not shown" if left else "")]
        return "\n".join([*text, *more])

    def _repr_html_(self) -> str:
        shown = self.head(ROWS_SHOWN).to_dict()
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
