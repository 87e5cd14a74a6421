"""Packages that only some functions of bbrlab need."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_EXTRAS = {
    "altair": "altair",
    "matplotlib": "plot",
    "pandas": "tables",
    "polars": "tables",
    "pyarrow": "tables",
    "xarray": "tables",
}
"""For each optional package, the name of bbrlab's extra that includes it."""


@contextlib.contextmanager
def optional(package: str) -> Iterator[None]:
    """A context for the import of a package: if the package is not installed, the error says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        reason = (
            f"this function needs {package}, which is not installed; `pip install {package}` installs it, "
            f"and bbrlab's extra `{_EXTRAS[package]}` includes it"
        )
        raise ModuleNotFoundError(reason, name=package) from None
