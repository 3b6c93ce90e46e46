"""`jit`: functions over arrays are traced, written as NOVA, and compiled when they are first called.

Equal extents of the arguments share a name in the program, so that one program serves all sizes. A function
that looks at a shape itself (`x.shape`, `len(x)`) is compiled for each shape.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._compile import compile, identifier
from ._trace import ACTIVE, NeedsShapes, Trace, Traced, shaped


class Function:
    """A function that is compiled when it is called with new types."""

    def __init__(self, function: Callable, static: tuple[str, ...], options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self._function, self._static, self._options = function, static, options
        self._compiled: dict[Any, tuple[Callable, list[np.ndarray]]] = {}
        self._by_shape = False
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
        has_names = all(parameter.kind != parameter.VAR_POSITIONAL for parameter in parameters)
        self._names = [parameter.name for parameter in parameters] if has_names else []

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        given, constants = self._split(arguments, named)
        key = self._key(given, constants)
        if key not in self._compiled:
            text, captured, by_shape = self._trace(given, constants)
            program = compile(text, name=identifier(self.__name__, set()), **self._options)
            self._by_shape |= by_shape
            key = self._key(given, constants)
            self._compiled[key] = (next(iter(program.entries.values())), captured)
        entry, captured = self._compiled[key]
        return entry(*given.values(), *captured)

    def source(self, *arguments: Any, **named: Any) -> str:
        """Returns the program for arguments of these types."""
        return self._trace(*self._split(arguments, named))[0]

    def _split(self, arguments: tuple, named: dict) -> tuple[dict[Any, Any], dict[str, Any]]:
        """Returns the arguments that are traced, and those that are constants, by name or else by place."""
        given = {name: value for name, value in zip([*self._names, *range(len(arguments))], arguments)} | named
        if len(arguments) + len(named) != len(given):
            raise TypeError(f"{self.__name__} got too many arguments, or one twice")
        constants = {name: given.pop(name) for name in self._static if name in given}
        return {name: _plain(value) for name, value in given.items()}, constants

    def _key(self, given: dict[str, Any], constants: dict[str, Any]) -> Any:
        kinds = tuple((name, getattr(v, "dtype", type(v)), np.ndim(v)) for name, v in given.items())
        sizes = [size for value in given.values() for size in np.shape(value)]
        pattern = [size if self._by_shape or size == 1 else -sizes.index(size) for size in sizes]
        return kinds, tuple(pattern), tuple(sorted(constants.items()))

    def _trace(self, given: dict[str, Any], constants: dict) -> tuple[str, list[np.ndarray], bool]:
        for static in [self._by_shape, True]:
            trace = Trace(static)
            token = ACTIVE.set(trace)
            try:
                traced = {name: trace.argument(value) for name, value in given.items()}
                places = [value for name, value in traced.items() if isinstance(name, int)]
                names = {name: value for name, value in traced.items() if isinstance(name, str)}
                result = _written(trace, self._function(*places, **names, **constants))
            except NeedsShapes:
                continue
            finally:
                ACTIVE.reset(token)
            return f"({' '.join(trace.inputs)})\n{trace.close(result)}\n", trace.constants, static
        raise AssertionError("shapes are known in a static trace")


def _plain(value: Any) -> Any:
    """Returns an argument as a number of Python, or an array in the order of C."""
    if type(value) in (bool, int, float):
        return value
    array = np.asarray(value)
    return np.ascontiguousarray(array) if array.ndim else array[()]


def _written(trace: Trace, result: Any) -> str:
    """Returns the result of a function as the program writes it."""
    if not isinstance(result, (tuple, list)):
        return trace.lift(result).text
    parts = [_written(trace, part) for part in result]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def jit(function: Callable | None = None, *, static: tuple[str, ...] = (), **options: Any) -> Any:
    """Compiles a function over arrays when it is first called with their types.

    static: names of parameters that are constants; each value is compiled by itself.
    Further options are those of `compile`.

    The function may use arithmetic, comparisons, NumPy's functions of elements, `numpy.where`, reductions,
    running sums, products of matrices, indexing, and `vmap`, `iterate` and `while_loop` of this package.
    Python's own `if` and `for` run once, when the function is traced.
    """
    if function is None:
        return lambda function: Function(function, static, options)
    return Function(function, static, options)


def _parts(value: Any) -> list:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _joined(values: list[Traced]) -> str:
    return values[0].text if len(values) == 1 else f"({', '.join(value.text for value in values)})"


def vmap(function: Callable) -> Callable:
    """Returns a function that maps another over the first axis of its arguments, side by side.

    Outside of a function that is traced, it is compiled by itself.
    """

    def over_rows(*arguments: Any) -> Any:
        trace = ACTIVE.get(None)
        if trace is None:
            return alone(*arguments)
        arrays = [trace.lift(value) for value in arguments]
        if len({array.dims[:1] for array in arrays}) != 1 or not arrays[0].dims:
            raise ValueError("vmap takes arrays whose first extents are equal")
        trace.scopes.append([])
        names = [f"r{len(trace.scopes)}_{k}" for k in range(len(arrays))]
        rows = [Traced(trace, n, a.dtype, a.dims[1:]) for n, a in zip(names, arrays)]
        returned = function(*rows)
        results = [trace.lift(part) for part in _parts(returned)]
        flat = [part.ravel() if part.ndim > 1 else part for part in results]
        body = trace.close(_joined(flat))
        text = f"(map (lambda ({' '.join(names)}) {body}) {' '.join(a.text for a in arrays)})"
        dims = arrays[0].dims[:1]
        if len(results) > 1:
            text = trace.bind(text, bool, dims).text
        made = []
        for k, result in enumerate(results):
            part = text if len(results) == 1 else f"(map (lambda (row) row.{k}) {text})"
            made.append(trace.bind(shaped(part, dims + result.dims), result.dtype, dims + result.dims))
        return tuple(made) if isinstance(returned, (tuple, list)) else made[0]

    mapped = functools.update_wrapper(over_rows, function)
    alone = Function(mapped, (), {})
    return mapped


def iterate(count: Any, function: Callable, state: Any) -> Any:
    """Applies a function to a state, a number, an array or a tuple of these, `count` times."""
    return _loop("iterate {count}", function, state, count)


def while_loop(condition: Callable, function: Callable, state: Any) -> Any:
    """Applies a function to a state as long as a condition holds for it."""
    return _loop("while {condition}", function, state, condition)


def _loop(head: str, function: Callable, state: Any, control: Any) -> Any:
    trace = ACTIVE.get(None)
    if trace is None:
        raise TypeError("iterate and while_loop stand in functions that jit compiles")
    start = [trace.lift(part) for part in _parts(state)]
    start = [trace.bind(part.text, part.dtype, part.dims) for part in start]
    names = [f"l{len(trace.scopes)}_{k}" for k in range(len(start))]
    pattern = names[0] if len(names) == 1 else f"({', '.join(names)})"

    def inside(body: Callable) -> tuple[str, list[Traced]]:
        trace.scopes.append([])
        inner = [Traced(trace, name, part.dtype, part.dims) for name, part in zip(names, start)]
        results = [trace.lift(part) for part in _parts(body(_like(state, inner)))]
        if [part.dims for part in results] != [part.dims for part in start] and len(results) > 1:
            raise TypeError("the function of a loop returns a state of the same extents")
        results = [result.astype(part.dtype) for result, part in zip(results, start)]
        return f"(lambda ({pattern}) {trace.close(_joined(results))})", results

    if callable(control):
        trace.scopes.append([])
        inner = [Traced(trace, name, part.dtype, part.dims) for name, part in zip(names, start)]
        head = f"while (lambda ({pattern}) {trace.close(trace.lift(control(_like(state, inner))).text)})"
    else:
        head = f"iterate {trace.lift(control).text}"
    step, _ = inside(function)
    whole = trace.bind(f"({head} {step} {_joined(start)})", start[0].dtype, start[0].dims)
    if len(start) == 1:
        return _like(state, [whole])
    parts = [trace.bind(f"{whole.text}.{k}", part.dtype, part.dims) for k, part in enumerate(start)]
    return _like(state, parts)


def _like(state: Any, parts: list[Traced]) -> Any:
    return tuple(parts) if isinstance(state, (tuple, list)) else parts[0]
