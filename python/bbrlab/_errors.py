"""The exceptions of this package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

__all__ = ["ControlError", "Error", "Mistake", "RunError", "ScenarioError", "UsageError"]


class Mistake(TypedDict):
    """One mistake in a scenario.

    >>> import bbrlab as bl
    >>> try:
    ...     bl.Scenario("examples.dumbbell", {"bottleneck.bufer": "1bdp"})
    ... except bl.ScenarioError as error:
    ...     error.mistakes[0]["help"]
    ['did you mean `buffer`?']
    """

    file: str
    """The scenario file; `set` for a value in an argument such as `set` or `over`; `<dict>` or `<keywords>` for a
    scenario given as a dict or as keywords."""
    line: int | None
    """The line, from 1; None if the mistake concerns the whole scenario."""
    column: int | None
    """The column in characters, from 1."""
    expected: str
    """The key and the expected value."""
    found: str
    """The value found, after the word "found"."""
    help: list[str]
    """Suggestions, such as the nearest valid name."""
    notes: list[str]
    """The valid names, or the point of the sweep at which a value is invalid."""


FLAG = re.compile(
    r"--(?P<switch>force|quick|explain|no-pictures)\b"
    r"|--(?P<name>limit|out|seeds|seed|jobs|on|set)\b(?:(?P<colon>:)|[ ](?P<value>\d[\w.+]*|'[^']*'|[\w.]+=\S+|[\w.-]*/\S+))?"
)
"""Matches a flag of the command line in a message, with the flag's value if it has one."""

SWITCHES = {"force": "force=True", "quick": "quick=True", "explain": "explain=True", "no-pictures": "pictures=False"}

OF_CLASSES = (
    "custom congestion controls are defined in `controls`: see docs/python.md",
    "custom congestion controls are defined in `controls`: give the class itself instead of its name, or controls={name: class}",
)
"""The note of the error about an unknown congestion control: the command line's words, and the words by which
`in_python` replaces them."""


def in_python(text: str) -> str:
    """Returns a message of the command line with arguments of Python functions instead of flags.

    >>> in_python("raise it with limit=1.3e7; or keep fewer with --set sample=...")
    "raise it with limit=1.3e7; or keep fewer with set={'sample': ...}"
    >>> in_python("use --force to write over it, or another --out")
    'use force=True to write over it, or another out='
    """

    def argument(found: re.Match[str]) -> str:
        if found["switch"]:
            return SWITCHES[found["switch"]]
        name, value = found["name"], found["value"]
        if found["colon"]:
            return f"{name}:"
        if value is None:
            # A flag before a backquote becomes the argument's name alone. Otherwise, `=` after the name shows that the
            # user has to add a value.
            return name if found.string[found.end() : found.end() + 1] == "`" else f"{name}="
        if name != "set":
            return f"{name}={value}"
        key, _, of_key = value.strip("'").partition("=")
        return f"set={{{key!r}: {of_key}}}"

    text = text.replace(*OF_CLASSES)
    return FLAG.sub(argument, text) if "--" in text else text


class Error(Exception):
    """The base class of all errors of this package.

    >>> import bbrlab as bl
    >>> issubclass(bl.ScenarioError, bl.UsageError) and issubclass(bl.UsageError, bl.Error) and issubclass(bl.RunError, bl.Error)
    True
    """

    def __init__(self, text: str = "", *more: object) -> None:
        super().__init__(in_python(text), *more)


class UsageError(Error, ValueError):
    """The call cannot be done: for example, the work exceeds `limit`, or a folder contains other files.

    >>> import bbrlab as bl
    >>> bl.run("examples.dumbbell", limit=1000)
    Traceback (most recent call last):
    bbrlab._errors.UsageError: this takes about 1.6e4 data packets, and limit=1000 allows 1000; use limit=1.3e7
    """


class ScenarioError(UsageError):
    """A scenario is invalid; nothing was run. The message is the same as on the command line.

    >>> import bbrlab as bl
    >>> try:
    ...     bl.Scenario("examples.dumbbell", {"flows.cc": "bbr9"})
    ... except bl.ScenarioError as error:
    ...     print(error.file, error.line, error.found)
    set 1 found "bbr9"
    """

    mistakes: list[Mistake]
    """Every mistake, in the order of the text."""

    def __init__(self, text: str, mistakes: Sequence[Mistake] = ()) -> None:
        self.mistakes = [_mistake_in_python(one) for one in mistakes]
        super().__init__(text, self.mistakes)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def file(self) -> str | None:
        """The file of the first mistake; None if `mistakes` is empty, as when `run` gets a scenario of several runs."""
        return self.mistakes[0]["file"] if self.mistakes else None

    @property
    def line(self) -> int | None:
        """The line of the first mistake, from 1; None if the mistake concerns the whole scenario."""
        return self.mistakes[0]["line"] if self.mistakes else None

    @property
    def column(self) -> int | None:
        """The column of the first mistake, in characters from 1; None if the mistake has none."""
        return self.mistakes[0]["column"] if self.mistakes else None

    @property
    def expected(self) -> str | None:
        """The key of the first mistake and the expected value; None if `mistakes` is empty."""
        return self.mistakes[0]["expected"] if self.mistakes else None

    @property
    def found(self) -> str | None:
        """The value found at the first mistake, as a text that begins with "found"; None if `mistakes` is empty."""
        return self.mistakes[0]["found"] if self.mistakes else None


def _mistake_in_python(one: Mistake) -> Mistake:
    """Returns a mistake with arguments of Python functions instead of the command line's flags."""
    told = one.copy()
    told["file"] = "set" if one["file"] == "--set" else one["file"]
    told["expected"], told["found"] = in_python(one["expected"]), in_python(one["found"])
    told["help"], told["notes"] = [in_python(text) for text in one["help"]], [in_python(text) for text in one["notes"]]
    return told


class RunError(Error, RuntimeError):
    """A run, or the writing of its files, failed.

    >>> import bbrlab as bl
    >>> bl.run("examples.dumbbell", out="/dev/null/results")
    Traceback (most recent call last):
    bbrlab._errors.RunError: cannot make the folder /dev/null/results: Not a directory
    """


class ControlError(RunError):
    """A custom congestion control raised an exception or returned an invalid value, which ended the run.

    The exception, or the error about the value, is the cause of this exception.

    >>> import bbrlab as bl
    >>> class Broken(bl.CongestionControl):
    ...     def cong_avoid(self, conn, ack, acked):
    ...         conn.ctl.cwnd = 1.5
    >>> try:
    ...     bl.run("examples.dumbbell", {"flows.cc": Broken})
    ... except bl.ControlError as error:
    ...     print(error.control, error.flow, error.event, error.time_s)
    ...     print(error.__cause__)
    Broken 0 cong_avoid 0.0413232
    ctl.cwnd: expected packets from 1 to 1073741824, found 1.5 of type float; int(...) makes a whole number
    """

    control: str
    """The congestion control's name in the scenario."""
    flow: int
    """The number of the congestion control's flow."""
    event: str
    """The method that failed; `__init__` if the instance could not be made."""
    time_s: float | None
    """The simulated time of the event; None for `__init__`."""

    def __init__(self, text: str, control: str, flow: int, event: str, time_s: float | None) -> None:
        super().__init__(text, control, flow, event, time_s)
        self.control = control
        self.flow = flow
        self.event = event
        self.time_s = time_s

    def __str__(self) -> str:
        return str(self.args[0])
