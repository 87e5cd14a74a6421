"""Every public item is documented, and every public callable has an example that runs as a doctest."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import bbrlab as bl
from bbrlab._plot import RunPlots, SweepPlots

STUB = Path(bl.__file__).with_name("_bbrlab.pyi")

# Names without an example of their own, because the example of `CongestionControl` covers them: the classes of the
# arguments of a congestion control's methods, and enumerations.
OF_CONTROLS = {
    "AckSample", "CaState", "Conn", "Control", "CwndEvent", "Draw", "Info", "LostSkb", "PacingStatus", "RateSample",
}  # fmt: skip


def public() -> Iterator[tuple[str, object]]:
    """Iterates over functions, classes, and methods and properties of classes, with their names."""
    named = {name: getattr(bl, name) for name in bl.__all__} | {"plot (run)": RunPlots, "plot (sweep)": SweepPlots}
    for name, thing in named.items():
        if not callable(thing):
            continue
        yield name, thing
        if not inspect.isclass(thing) or issubclass(thing, int):
            continue
        for member, value in vars(thing).items():
            # A cached property has the attribute `func`.
            if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value) or hasattr(value, "func")):
                yield f"{name}.{member}", value


def in_stub() -> dict[str, str]:
    """Returns the docstrings of the stub, where editors read the docstrings of the binding's classes."""
    docs = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    docs.setdefault(f"{node.name}.{member.name}", ast.get_docstring(member) or "")
    return docs


def test_the_stub_has_the_bindings_docstrings() -> None:
    stub = ast.parse(STUB.read_text())
    (scenario,) = [node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "Scenario"]
    assert ast.get_docstring(scenario) == inspect.getdoc(bl.Scenario)
    members = {node.name: ast.get_docstring(node) for node in scenario.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in vars(bl.Scenario) if not name.startswith("_")}
    assert public <= set(members)
    assert [name for name in public if members[name] != inspect.getdoc(getattr(bl.Scenario, name))] == []


def doc(thing: object) -> str:
    return inspect.getdoc(getattr(thing, "func", thing)) or ""


def test_everything_public_is_explained() -> None:
    stub = in_stub()
    assert [name for name, thing in public() if len(doc(thing) or stub.get(name, "")) < 10] == []


def test_everything_that_can_be_called_has_an_example() -> None:
    called = [
        (name, thing)
        for name, thing in public()
        if callable(thing) and name.split(".")[0] not in OF_CONTROLS and not name.startswith("CongestionControl.")
    ]
    assert len(called) > 40
    assert [name for name, thing in called if ">>>" not in doc(thing)] == []
