"""The compiler of NOVA: programs become functions of NumPy arrays.

>>> import novac, numpy
>>> dot = novac.compile("((X : vector double) (Y : vector double)) (reduce + 0 (map * X Y))")
>>> dot(numpy.ones(3), numpy.full(3, 2.0))
6.0

`compile` compiles a program or a file. Its entries are Python functions with their types and their comments
as help. Arrays are passed without a copy, and results are arrays over the memory that the program
allocated. Other threads of Python run during a call.

`jit` compiles a function of Python over arrays. `build` writes a package that needs no compiler of NOVA.

| NOVA | Python |
| --- | --- |
| numbers, `bool`, `unit` | `int`, `float`, `bool`, `None` |
| tuple | `tuple` |
| `vector T`, `vector#n T` of numbers, or of tuples of numbers | array, of a structured type for tuples |
| `vector (vector T)` and deeper | `Nested`: elements and offsets |
| a sum, recursive data | `Variant` |
| a vector of anything else | `list` |
"""

from ._build import build
from ._compile import Entry, Program, compile
from ._errors import (
    CompileError,
    CompileWarning,
    Diagnostic,
    Error,
    ExecutionError,
    InternalError,
    MemoryExhausted,
    Place,
    ToolchainError,
    UnsupportedError,
)
from ._jit import iterate, jit, vmap, while_loop
from ._novac import __version__
from ._trace import take
from ._values import Nested, Variant

__all__ = [
    "CompileError",
    "CompileWarning",
    "Diagnostic",
    "Entry",
    "Error",
    "ExecutionError",
    "InternalError",
    "MemoryExhausted",
    "Nested",
    "Place",
    "Program",
    "ToolchainError",
    "UnsupportedError",
    "Variant",
    "__version__",
    "build",
    "compile",
    "iterate",
    "jit",
    "take",
    "vmap",
    "while_loop",
]
