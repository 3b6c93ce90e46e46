"""Programs, and their entries as functions of Python."""

from __future__ import annotations

import keyword
import os
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _novac
from ._errors import CompileWarning

Entry = Callable[..., Any]
"""An entry of a program: a function of its inputs.

Beside its inputs, it takes `out`, an array that the result is written to, and `cast`. With `cast=True`, arrays
of another type or order are converted; otherwise they are errors.
"""


@dataclass
class _Settings:
    """The options of a compilation, as the native module reads them."""

    name: str
    text: str | None
    path: Path | None
    folder: Path
    target: str
    optimization: int
    strict: bool
    disabled: list[str]


def settings(
    program: str | os.PathLike,
    name: str | None,
    folder: str | os.PathLike | None,
    target: str,
    optimization: int,
    strict: bool,
    disabled: Iterable[str],
) -> _Settings:
    """Returns the options of a compilation. A text that ends in `.nova` is the name of a file."""
    if not isinstance(program, (str, os.PathLike)):
        raise TypeError(f"a program is a text or a path, not {type(program).__name__}")
    is_path = isinstance(program, os.PathLike) or (
        program.endswith(".nova") and "\n" not in program and "(" not in program
    )
    path = Path(program) if is_path else None
    if path is not None and not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    return _Settings(
        name=name or (path.stem if path else "program"),
        text=None if is_path else str(program),
        path=path,
        folder=Path(folder if folder is not None else "."),
        target=target,
        optimization=optimization,
        strict=strict,
        disabled=list(disabled),
    )


def compile(
    program: str | os.PathLike,
    *,
    target: str = "pthreads",
    optimization: int = 2,
    strict: bool = False,
    disabled: Iterable[str] = (),
    link: Iterable[str | os.PathLike] = (),
    name: str | None = None,
    folder: str | os.PathLike | None = None,
) -> Program:
    """Compiles a program and loads it.

    program: the text of a program, or a path. A text that ends in `.nova` is a path.
    target: `seq`, `pthreads`, `cuda`, `hip` or `opencl`; `eval` is the interpreter, which needs no C
        compiler.
    optimization: the level, 0 to 3.
    strict: True for the same rounding on every target (`--fp strict`).
    disabled: names of optional passes that do not run.
    link: C sources and libraries with the program's foreign functions.
    name: the name of a text in messages, and that of its entry if it is one expression.
    folder: the folder that imports of a text are relative to.

    What was compiled before is found in a cache on disk.

    Raises CompileError for a program with errors, and ToolchainError without a C compiler.
    """
    options = settings(program, name, folder, target, optimization, strict, disabled)
    native, found = _novac.compile(options, [Path(path) for path in link])
    for text, _ in found:
        warnings.warn(text, CompileWarning, stacklevel=2)
    return Program(native)


class Program:
    """A compiled program. Its entries are attributes: `program.name(…)`.

    A program of one entry can be called itself. `program["name"]` is the entry of any name, and
    `program.entries` has them all.
    """

    def __init__(self, native: _novac.Program):
        self.entries: dict[str, Entry] = {}
        for position, entry in enumerate(native.entries()):
            function = _function(native, position, *entry)
            self.entries[entry[0]] = function
            setattr(self, function.__name__, function)
        if len(self.entries) == 1:
            (self._only,) = self.entries.values()
            self.__doc__ = self._only.__doc__

    def __getitem__(self, name: str) -> Entry:
        try:
            return self.entries[name]
        except KeyError:
            raise KeyError(f"no entry {name!r}; the entries are {', '.join(self.entries)}") from None

    def __getattr__(self, name: str) -> Any:
        if name == "_only":
            raise TypeError(
                f"the program has several entries; call one of {', '.join(self.entries)} by its name"
            )
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"no entry {name!r}; the entries are {', '.join(self.entries)}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._only(*arguments, **named)

    def __repr__(self) -> str:
        return "\n".join(entry.signature for entry in self.entries.values())


def _function(
    native: _novac.Program,
    position: int,
    name: str,
    inputs: list[tuple[str, str]],
    result: str,
    documentation: str,
) -> Entry:
    """Returns an entry as a function with its inputs as parameters, so that Python checks their names."""
    taken = {"out", "cast"}
    parameters = [identifier(input, taken) for input, _ in inputs]
    called = identifier(name, set())
    listed = ", ".join(parameters)
    head = f"{listed}, *" if parameters else "*"
    tuple_ = f"({listed},)" if parameters else "()"
    scope: dict[str, Any] = {"_call": native.call, "_position": position}
    text = f"def {called}({head}, out=None, cast=False):\n    return _call(_position, {tuple_}, out, cast)\n"
    exec(text, scope)
    function = scope[called]
    types = [text for _, text in inputs]
    function.__annotations__ = dict(zip(parameters, types)) | {"return": result}
    function.__module__ = "novac"
    function.signature = signature_of(name, types, result)
    function.__doc__ = "\n\n".join(part for part in [documentation, function.signature] if part)
    return function


def signature_of(name: str, inputs: list[str], result: str) -> str:
    """Returns the name of an entry with its type."""
    return f"{name} : " + " -> ".join([*(f"({text})" if "->" in text else text for text in inputs), result])


def identifier(name: str, taken: set[str]) -> str:
    """Returns an identifier of Python for a name, and adds it to those that are taken."""
    made = re.sub(r"\W", "_", name)
    if not made or made[0].isdigit():
        made = "_" + made
    while keyword.iskeyword(made) or made in taken or made in ("_call", "_position"):
        made += "_"
    taken.add(made)
    return made
