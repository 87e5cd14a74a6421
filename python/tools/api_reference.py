"""Prints the reference of the package's public names as Markdown, from docstrings and signatures.

Signatures of Rust code come from the stub `bbrlab/_bbrlab.pyi`, the others from the Python code.
`cargo xtask site` runs this with the package installed.
"""

import ast
import inspect
import re
from pathlib import Path

import bbrlab
import bbrlab.gym

STUB = Path(bbrlab.__file__).with_name("_bbrlab.pyi")


def stubs() -> dict[str, str]:
    """Returns the signatures in the stub, by `Class.method` or `function`."""
    found = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                found[prefix + node.name] = f"({ast.unparse(node.args)}){returns}"

    visit(ast.parse(STUB.read_text()).body, "")
    return found


STUBS = stubs()


def signature(item: object, name: str) -> str:
    """Returns the signature of a name, without `self`; empty if it has none."""
    if name in STUBS:
        text = STUBS[name]
    else:
        try:
            text = str(inspect.signature(item))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return ""
    return re.sub(r"^\((?:self|cls)(?:, /)?(?:, )?", "(", text)


def text_of(item: object) -> str:
    """Returns a docstring as Markdown: sections become lists, examples become code."""
    out: list[str] = []
    section = is_example = False
    for line in (inspect.getdoc(item) or "").splitlines():
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
            section = True
        elif section and (found := re.fullmatch(r"    (\S[^:]*): (.*)", line)):
            out.append(f"- `{found[1]}`: {found[2]}")
        elif section and line.startswith("        "):
            out.append(f"  {line.strip()}")
        else:
            section = section and not line.strip()
            out.append(line)
    if is_example:
        out.append("```")
    return "\n".join(out).strip()


def members(kind: type) -> list[tuple[str, object]]:
    """Returns the public members that a class defines itself."""
    return [(name, item) for name, item in vars(kind).items() if not name.startswith("_")]


def describe(name: str, item: object) -> str:
    """Returns the section of a public name."""
    if inspect.isclass(item):
        out = [f"## {name}", "", text_of(item), ""]
        for member, value in members(item):
            plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if inspect.isroutine(plain):
                out += [f"### {name}.{member}", "", "```python", f"{member}{signature(plain, f'{name}.{member}')}", "```", ""]
            elif isinstance(value, property) or inspect.isdatadescriptor(value):
                out += [f"### {name}.{member}", ""]
            else:
                continue
            out += [text_of(plain), ""]
    elif callable(item):
        out = [f"## {name}", "", "```python", f"{name}{signature(item, name)}", "```", "", text_of(item), ""]
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
