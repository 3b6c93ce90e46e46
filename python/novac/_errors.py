"""Exceptions, and the functions by which the native module makes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """A place in a source. Lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler."""

    severity: str
    """`error` or `warning`."""
    code: str
    """The stable code, such as `N0203`. `novac explain CODE` prints its page."""
    message: str
    place: Place
    end: Place
    """The place after the last character."""
    label: str
    """The text beside the place; it may be empty."""
    help: str | None
    """The remedy, where it is known."""
    secondary: tuple[tuple[Place, str], ...] = field(default=())
    """Further places, each with its text."""


class Error(Exception):
    """What all exceptions of this package share, but for wrong arguments of a call.

    Wrong arguments are a `TypeError` or a `ValueError`.
    """


class CompileError(Error):
    """A program has errors. Its text is what the command `novac` prints."""

    def __init__(self, text: str, diagnostics: list[Diagnostic]):
        super().__init__(text)
        self.diagnostics = diagnostics


class ExecutionError(Error, RuntimeError):
    """A program failed while it ran."""

    def __init__(self, text: str, message: str, kind: str, code: int, place: Place | None):
        super().__init__(text)
        self.message = message
        """The message without its place."""
        self.kind = kind
        """The word of the error, such as `index` or `division`."""
        self.code = code
        """What the generated function returned."""
        self.place = place
        """The place in the source, if it is known."""


class MemoryExhausted(ExecutionError, MemoryError):
    """A program needs more memory than there is."""


class ToolchainError(Error):
    """The C compiler is missing, or it failed."""


class UnsupportedError(Error, NotImplementedError):
    """The compiler does not support what was asked for."""


class InternalError(Error):
    """A mistake of the compiler itself."""


class CompileWarning(UserWarning):
    """A warning about a program."""


def compile_error(text: str, lines: str) -> CompileError:
    return CompileError(text, diagnostics(lines))


def diagnostics(lines: str) -> list[Diagnostic]:
    """Reads the compiler's messages, a line of JSON each."""
    return [_diagnostic(json.loads(line)) for line in lines.splitlines()]


def _diagnostic(read: dict) -> Diagnostic:
    return Diagnostic(
        severity=read["severity"],
        code=read["code"],
        message=read["message"],
        place=Place(read["file"], read["line"], read["column"]),
        end=Place(read["file"], read["endLine"], read["endColumn"]),
        label=read["label"],
        help=read["help"],
        secondary=tuple(
            (Place(other["file"], other["line"], other["column"]), other["label"])
            for other in read["secondary"]
        ),
    )


def execution_error(
    text: str, message: str, kind: str, code: int, place: tuple[str, int, int] | None
) -> ExecutionError:
    made = MemoryExhausted if kind == "memory" else ExecutionError
    return made(text, message, kind, code, None if place is None else Place(*place))


def toolchain_error(text: str) -> ToolchainError:
    return ToolchainError(text)


def unsupported_error(text: str) -> UnsupportedError:
    return UnsupportedError(text)


def internal_error(text: str) -> InternalError:
    return InternalError(text)
