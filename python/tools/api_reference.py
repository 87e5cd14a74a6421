"""Prints the reference of the package's public names as Markdown, from docstrings and signatures.

Signatures of Rust code come from the stub `bbrlab/_bbrlab.pyi`, other signatures from the Python code.
`cargo xtask site` runs this script with the package installed.
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path

import bbrlab
import bbrlab.gym

STUB = Path(bbrlab.__file__).with_name("_bbrlab.pyi")


def stubs() -> tuple[dict[str, str], dict[str, str]]:
    """Returns the signatures and the docstrings in the stub, by `Class`, `Class.method` or `function`."""
    signatures, docs = {}, {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                docs[prefix + node.name] = ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                signatures[prefix + node.name] = f"({ast.unparse(node.args)}){returns}"

    visit(ast.parse(STUB.read_text()).body, "")
    return signatures, docs


STUBS, STUB_DOCS = stubs()


class Plain:
    """An annotation that a signature shows without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def plain(annotation: object) -> object:
    return Plain(annotation) if isinstance(annotation, str) else annotation


def signature(item: object, name: str) -> str:
    """Returns the signature of a name, without `self`; empty if it has none."""
    if name in STUBS:
        text = STUBS[name]
    else:
        try:
            found = inspect.signature(item)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return ""
        parameters = [of.replace(annotation=plain(of.annotation)) for of in found.parameters.values()]
        text = str(found.replace(parameters=parameters, return_annotation=plain(found.return_annotation)))
    return re.sub(r"^\((?:self|cls)(?:, /)?(?:, )?", "(", text)


def type_of(item: object, name: str) -> str:
    """Returns the type of a property; empty if it is unknown."""
    found = re.search(r" -> (.*)$", signature(getattr(item, "fget", None) or getattr(item, "func", item), name))
    return found[1] if found else ""


def attributes(kind: type) -> list[tuple[str, str]]:
    """Returns the documented class variables of a class, each with its docstring: the string below the variable."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return []
    assert isinstance(tree, ast.ClassDef)
    found = []
    for node, below in zip(tree.body, tree.body[1:]):
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name):
                found.append((target.id, inspect.cleandoc(below.value.value)))
    return found


def text_of(item: object, name: str) -> str:
    """Returns a docstring as Markdown: sections become lists, examples become code."""
    out: list[str] = []
    section = ""
    is_example = False
    for line in (inspect.getdoc(item) or STUB_DOCS.get(name, "")).splitlines():
        is_prompt = line.lstrip().startswith((">>>", "..."))
        if is_prompt and not is_example:
            out += ["", "```pycon"]
            is_example = True
        elif is_example and not line.strip():
            out += ["```", ""]
            is_example = False
            continue
        if is_example:
            out.append(line.strip() if is_prompt else line)
        elif re.fullmatch(r"(Args|Raises|Returns|Yields|Attributes):", line):
            out += ["", f"**{line[:-1]}**", ""]
            section = line[:-1]
        elif section in ("Returns", "Yields") and line.startswith("    "):
            out.append(line.strip())
        elif section and (found := re.fullmatch(r"    (\S[^:]*): (.*)", line)):
            out.append(f"- `{found[1]}`: {found[2]}")
        elif section and line.startswith("        "):
            out.append(f"  {line.strip()}")
        else:
            section = section if not line.strip() else ""
            out.append(line)
    if is_example:
        out.append("```")
    return "\n".join(out).strip()


def members(kind: type) -> list[tuple[str, object]]:
    """Returns the public members that a class defines itself, in the order of the source.

    Classes of Rust code list their members in an order that differs between builds.
    """
    stub = {name: place for place, name in enumerate(STUB_DOCS)}
    own = [(name, item) for name, item in vars(kind).items() if not name.startswith("_")]
    return sorted(own, key=lambda member: stub.get(f"{kind.__name__}.{member[0]}", -1))


def describe(name: str, item: object) -> str:
    """Returns the section of a public name."""
    if inspect.isclass(item):
        out = [f"## {name}", "", text_of(item, name), ""]
        values = attributes(item)
        out += [f"- `{value}`: {' '.join(doc.split())}" for value, doc in values] + [""] * bool(values)
        for member, value in members(item):
            whole = f"{name}.{member}"
            inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if inspect.isroutine(inner):
                out += [f"### {whole}", "", "```python", f"{member}{signature(inner, whole)}", "```", ""]
            elif inspect.isdatadescriptor(value) or hasattr(value, "func"):
                kind = type_of(value, whole)
                out += [f"### {whole}", ""] + ["```python", f"{member}: {kind}", "```", ""] * bool(kind)
            else:
                continue
            out += [text_of(getattr(inner, "func", inner), whole), ""]
    elif inspect.isroutine(item):
        out = [f"## {name}", "", "```python", f"{name}{signature(item, name)}", "```", "", text_of(item, name), ""]
    else:
        out = [f"## {name}", "", f"`{item!r}`" if len(repr(item)) < 200 else "", ""]
    return "\n".join(out)


def main() -> None:
    """Prints the page."""
    print("# Python API\n")
    print("The public names of the package `bbrlab`, from its docstrings. The [guide](../python.md) shows how they are used.\n")
    for name in sorted(bbrlab.__all__, key=str.lower):
        if not name.startswith("__"):
            print(describe(name, getattr(bbrlab, name)))
    print("# bbrlab.gym\n")
    print(inspect.getdoc(bbrlab.gym) or "", "\n")
    for name in bbrlab.gym.__all__:
        print(describe(name, getattr(bbrlab.gym, name)))


if __name__ == "__main__":
    main()
