"""Everything public has a docstring, and what can be called or made an example that runs as a doctest."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import bbrlab as bl
from bbrlab._plot import RunPlots, SweepPlots


def public() -> Iterator[tuple[str, object]]:
    """Functions, classes, and the methods and properties of classes, by their names."""
    named = {name: getattr(bl, name) for name in bl.__all__} | {"plot (run)": RunPlots, "plot (sweep)": SweepPlots}
    for name, thing in named.items():
        if not callable(thing):
            continue
        yield name, thing
        if not inspect.isclass(thing):
            continue
        for member, value in vars(thing).items():
            is_public = not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value) or hasattr(value, "func"))
            if is_public:
                yield f"{name}.{member}", value


def doc(thing: object) -> str:
    # A cached property has the words of its function, and its own class's if there are none.
    return inspect.getdoc(getattr(thing, "func", thing)) or ""


def test_everything_public_is_explained() -> None:
    assert [name for name, thing in public() if len(doc(thing)) < 20] == []


def test_everything_that_can_be_called_has_an_example() -> None:
    called = [(name, thing) for name, thing in public() if callable(thing)]
    assert len(called) > 40
    assert [name for name, thing in called if ">>>" not in doc(thing)] == []
