"""A front end in Python that writes text: arithmetic of series of numbers.

A series is built by operators and methods. Each operation becomes a binding of a program of NOVA, with the
place of the Python expression that asks for it, and with its name in this language. `function` compiles a
Python function over series when it is called. Mistakes in it are shown in the Python file.

    python3 series.py        prints the values of an example, and the program that it becomes
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable

import novac
import numpy as np

BINDINGS: list[str] = []
"""The operations so far, as the program writes them."""


def place(construct: str) -> str:
    """Returns the place of the code that calls a method of a series: where it starts and ends, and what it is
    called."""
    frame = sys._getframe(1)
    while frame.f_back and isinstance(frame.f_locals.get("self"), Series):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    start, end = 1, len(linecache.getline(file, line).rstrip()) + 1
    if hasattr(frame.f_code, "co_positions"):  # From Python 3.11 on.
        line, _, first, last = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        start, end = first + 1, last + 1
    return f'at "{file}" {line} {start} {line} {end} "{construct}"'


class Series:
    """An expression whose value is a vector, or a number."""

    def __init__(self, text: str):
        self.text = text

    def bound(self, construct: str, form: str) -> Series:
        """Binds a form of NOVA that stands for a construct of this language."""
        BINDINGS.append(f"(s{len(BINDINGS)} ({place(construct)} {form}))")
        return Series(f"s{len(BINDINGS) - 1}")

    def operator(self, name: str, function: str, other: Series | float) -> Series:
        """Applies an operator to the elements of two series, or of one and a number."""
        if isinstance(other, Series):
            return self.bound(name, f"(map {function} {self.text} {other.text})")
        return self.bound(name, f"(map (lambda (x) ({function} x {float(other)})) {self.text})")

    def __add__(self, other: Series | float) -> Series:
        return self.operator("+", "+", other)

    def __mul__(self, other: Series | float) -> Series:
        return self.operator("*", "*", other)

    def shifted(self, count: int) -> Series:
        """Returns the series without its first elements. It must have as many."""
        at = f"(map (+ {count}) (range (- (length {self.text}) {count})))"
        return self.bound("shifted", f"(gather {at} {self.text})")

    def first(self) -> Series:
        """Returns the first element."""
        return self.bound("first", f"({self.text} ! 0)")

    def total(self) -> Series:
        """Returns the sum."""
        return self.bound("total", f"(reduce + 0.0 {self.text})")


def function(built: Callable[..., Series]) -> Callable[..., object]:
    """Compiles a function over series for vectors of doubles."""

    def call(*vectors: np.ndarray) -> object:
        text = program(built, len(vectors))
        return novac.compile(text, name=built.__name__)(*(np.asarray(v, np.float64) for v in vectors))

    return call


def program(built: Callable[..., Series], count: int) -> str:
    """Returns the program that a function of so many series becomes."""
    BINDINGS.clear()
    inputs = [f"v{k}" for k in range(count)]
    result = built(*map(Series, inputs)).text
    declared = " ".join(f"({name} : vector double)" for name in inputs)
    bindings = "\n  ".join(BINDINGS)
    return f"({declared})\n(let\n  {bindings}\n  in {result})\n" if BINDINGS else f"({declared})\n{result}\n"


def example(x: Series, y: Series) -> Series:
    return (x * 2 + y.shifted(1)).total()


if __name__ == "__main__":
    print(function(example)([1, 2], [10, 20, 30]))
    print(program(example, 2), end="")
