"""Traces of functions over arrays. Each operation on a proxy becomes a binding of a program of NOVA, with its
place in the Python file. An array is one of its rank. Operations on arrays of several dimensions are written for each
element, so that the compiler sees which elements of the operands each reads, also of broadcast ones.
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Callable
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ._operations import REDUCTIONS, TYPES, chosen, convert, literal

Dims = tuple[tuple[str, int], ...]
"""Extents: how the program writes each, and its size in the call that is traced."""


ACTIVE: ContextVar[Trace] = ContextVar("the trace of the function that is being traced")


class NeedsShapes(Exception):
    """The function looks at a shape, so it is traced for this shape alone."""


class Trace:
    """A program that is being written. With `static` it is for one shape, and extents are numbers."""

    def __init__(self, static: bool):
        self.static = static
        self.inputs: list[str] = []
        self.constants: list[np.ndarray] = []
        self.scopes: list[list[str]] = [[]]
        self.shared: dict[str, str] = {}
        self.sizes: dict[int, str] = {}
        self.count = 0

    def argument(self, value: Any) -> Traced:
        """Adds an input of the type of a value."""
        array, name = np.asarray(value), f"a{len(self.inputs)}"
        if array.dtype.name not in TYPES:
            raise TypeError(f"jit has no arrays of {array.dtype}")
        weak = type(value) if type(value) in (bool, int, float) else None
        type_, rank = TYPES[array.dtype.name], array.ndim
        self.inputs.append(f"({name} : {['', 'vector ', f'vector#{rank} '][min(rank, 2)]}{type_})")
        extents = [f"(to_int64 (shape {name}).{k})" for k in range(rank)] if rank > 1 else [f"(to_int64 (length {name}))"]
        sizes = self.sizes
        dims = tuple(self.dim(sizes.setdefault(n, text), n) for text, n in zip(extents, array.shape))
        return Traced(self, name, array.dtype, dims, weak)

    def share(self, text: str) -> str:
        """Binds an expression of inputs outside of all lambdas, once."""
        if " " not in text:
            return text
        if text not in self.shared:
            self.count += 1
            self.shared[text] = f"_s{self.count}"
            self.scopes[0].append(f"(_s{self.count} {text})")
        return self.shared[text]

    def dim(self, text: str, size: int) -> tuple[str, int]:
        return (str(size) if self.static or size == 1 else self.share(text)), size

    def bind(self, text: str, dtype: Any, dims: Dims = (), weak: type | None = None) -> Traced:
        """Binds an expression at the place of the Python code that asks for it."""
        self.count += 1
        self.scopes[-1].append(f"(_t{self.count} (at {_place()} {text}))")
        return Traced(self, f"_t{self.count}", np.dtype(dtype), dims, weak)

    def lift(self, value: Any) -> Traced:
        """Returns a value as a proxy. Arrays become inputs that every call passes."""
        if isinstance(value, Traced):
            if not any(value.scope is scope for scope in self.scopes):
                raise TypeError("a traced value is used outside of the function that made it")
            return value
        array = np.asarray(value)
        if array.ndim == 0:
            weak = type(value) if type(value) in (bool, int, float) else None
            return Traced(self, literal(array[()]), array.dtype, (), weak, self.scopes[0])
        self.constants.append(np.ascontiguousarray(array))
        made = self.argument(self.constants[-1])
        # Its extents stay as they are, whatever those of the arguments are.
        made.dims = tuple((str(n), n) for n in array.shape)
        return made

    def elementwise(self, name: str, *values: Any) -> Traced:
        """Applies an operation to each element of values, which are broadcast as NumPy's are."""
        operands = [self.lift(value) for value in values]
        common = np.result_type(*(o.weak(1) if o.weak else o.dtype for o in operands))
        if name == "power" and (common.kind in "iu" or type(values[1]) is int and 0 <= values[1] <= 4):
            return self._power(operands[0], values[1])
        form, common, dtype = chosen(name, common)
        weak = operands[0].weak if all(o.weak for o in operands) and dtype.kind == common.kind else None
        types = [operand.dtype for operand in operands]
        return self.map(operands, dtype, lambda *e: form.format(*(
            convert(text, type_, common) for text, type_ in zip(e, types))), weak)  # fmt: skip

    def _power(self, base: Traced, exponent: Any) -> Traced:
        if not isinstance(exponent, (int, np.integer)) or not 0 <= exponent <= 64:
            raise TypeError("jit raises integers to constant powers from 0 to 64; others need a floating base")
        one = literal(np.ones((), base.dtype)[()])
        return self.map([base], base.dtype, lambda x: f"(* {x} " * exponent + one + ")" * exponent, base.weak)

    def map(self, operands: list[Traced], dtype: Any, form: Callable[..., str], weak=None) -> Traced:
        """Binds `form` of the elements of operands, which are broadcast."""
        dims = broadcast(*(operand.dims for operand in operands))
        names = [f"e{k}" if operand.dims else operand.text for k, operand in enumerate(operands)]
        if not dims:
            return self.bind(form(*names), dtype, (), weak)
        arrays = [(name, operand) for name, operand in zip(names, operands) if operand.dims]
        if len(dims) == 1 and all(operand.dims == dims for _, operand in arrays):
            parameters, vectors = " ".join(name for name, _ in arrays), " ".join(o.text for _, o in arrays)
            return self.bind(f"(map (lambda ({parameters}) {form(*names)}) {vectors})", dtype, dims)
        return self.tabulate(dims, dtype, lambda indices: (
            f"(let {' '.join(f'({name} {o.at(indices)})' for name, o in arrays)} in {form(*names)})"))  # fmt: skip

    def tabulate(self, dims: Dims, dtype: Any, form: Callable[[list[str]], str]) -> Traced:
        """Binds the array of `form` of each tuple of indices."""
        indices = [f"i{k}" for k in range(len(dims))]
        typed, extents = (", ".join(f"({text} : int64)" for text in row) for row in (indices, texts(dims)))
        if len(dims) > 1:
            typed, extents = f"({typed})", f"({extents})"
        return self.bind(f"(tabulate {extents} (lambda ({typed}) {form(indices)}))", dtype, dims)

    def close(self, result: str) -> str:
        """Ends the innermost scope. Returns its bindings around the result."""
        bindings = " ".join(self.scopes.pop())
        return f"(let {bindings} in {result})" if bindings else result


def _place() -> str:
    """Returns the place of the innermost code that is neither this package's nor NumPy's, as `at` has it: the file,
    where the expression starts, and where it ends if Python tells."""
    frame, ours = sys._getframe(2), (str(Path(__file__).parent), str(Path(np.__file__).parent))
    while frame.f_back and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    name = frame.f_code.co_filename
    file = name.replace("\\", "/").replace('"', "'")
    positions = getattr(frame.f_code, "co_positions", tuple)()
    found = next(islice(positions, frame.f_lasti // 2, None), None)
    if found is None or None in found:
        return f'"{file}" {frame.f_lineno} 1'
    line, last, start, end = found
    return f'"{file}" {line} {_column(name, line, start)} {last} {_column(name, last, end)}'


def _column(file: str, line: int, byte: int) -> int:
    """Returns the column of a byte of a line: characters, from 1. Without the file they are bytes."""
    text = linecache.getline(file, line).encode()
    return (len(text[:byte].decode(errors="ignore")) if text else byte) + 1


def texts(dims: Dims) -> list[str]:
    return [text for text, _ in dims]


def product(dims: Dims) -> tuple[str, int]:
    """Returns the number of elements of an array of these extents."""
    factors = [text for text, size in dims if size != 1] or ["1"]
    text = f"(* {' (* '.join(factors[:-1])} {factors[-1]}{')' * (len(factors) - 1)}" if factors[1:] else factors[0]
    return text, math.prod(size for _, size in dims)


def shaped(rows: str, dims: Dims) -> str:
    """Returns vectors of equal length as an array of these extents. Without any of them it is one, too."""
    return rows if len(dims) < 2 else f"(reshape ({', '.join(texts(dims))}) (flatten {rows}))"


def broadcast(*shapes: Dims) -> Dims:
    """Returns the extents of an operation on arrays of these."""
    result: Dims = ()
    for k in range(1, max(map(len, shapes)) + 1):
        found = {shape[-k] for shape in shapes if len(shape) >= k and shape[-k][1] != 1}
        if len({size for _, size in found}) > 1:
            written = ", ".join(str(tuple(size for _, size in shape)) for shape in shapes)
            raise ValueError(f"arrays of the shapes {written} cannot be broadcast")
        if len(found) > 1:
            raise NeedsShapes
        result = (found.pop() if found else ("1", 1), *result)
    return result


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, or a number, of which only the type and the extents are known."""

    def __init__(self, trace: Trace, text: str, dtype: Any, dims: Dims, weak=None, scope=None):
        self.trace, self.text, self.dtype, self.dims, self.weak = trace, text, dtype, dims, weak
        self.scope = trace.scopes[-1] if scope is None else scope
        self.ndim = len(dims)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc.__name__ == "matmul" and method == "__call__":
            return matmul(*map(self.trace.lift, inputs))
        if method == "__call__" and not options:
            return self.trace.elementwise(ufunc.__name__, *inputs)
        if method in ("reduce", "accumulate") and options.keys() <= {"axis", "keepdims"}:
            return getattr(self, "_" + method)(ufunc.__name__, options.get("axis", 0), options.get("keepdims", False))
        raise TypeError(f"jit has no numpy.{ufunc.__name__}.{method} with {', '.join(options) or 'these'}")

    def __array_function__(self, function: Callable, types: Any, arguments: tuple, options: dict) -> Any:
        known = FUNCTIONS.get(function.__name__)
        if known is None:
            raise TypeError(f"jit has no numpy.{function.__name__}")
        return known(*arguments, **options)

    def __bool__(self) -> bool:
        raise TypeError("a traced value has no truth yet: use numpy.where instead of `if`, `while_loop` for `while`")

    def __index__(self) -> int:
        raise TypeError("a traced value is no number yet; name its parameter in `static` if it is a constant, "
                        "and use novac.take to index an array that is none of the arguments")

    __int__ = __float__ = __index__

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        if self.dims and not self.trace.static:
            raise NeedsShapes
        return tuple(size for _, size in self.dims)

    def at(self, indices: list[str]) -> str:
        """Returns the element at the last of these indices, of which an extent of one has no use."""
        own = ["0" if size == 1 else text for text, (_, size) in zip(indices[len(indices) - self.ndim :], self.dims)]
        return f"({self.text} ! {own[0] if len(own) == 1 else '(' + ', '.join(own) + ')'})" if own else self.text

    def transpose(self, *axes: Any) -> Traced:
        order = list(axes[0] if axes and isinstance(axes[0], (tuple, list)) else axes) or [*range(self.ndim)][::-1]
        order = [axis % self.ndim for axis in order]
        dims = tuple(self.dims[axis] for axis in order)
        if order == sorted(order):
            return self
        if self.ndim == 2:
            return self.trace.bind(f"(transpose {self.text})", self.dtype, dims)
        back = sorted(range(self.ndim), key=order.__getitem__)
        return self.trace.tabulate(dims, self.dtype, lambda indices: self.at([indices[k] for k in back]))

    T = property(transpose)

    def of(self, dims: Dims) -> Traced:
        """Returns the elements as an array of these extents."""
        if dims == self.dims:
            return self
        flat = self.text if self.ndim == 1 else f"(flatten {self.text})" if self.dims else f"[{self.text}]"
        text = self.text if not dims else flat if len(dims) == 1 else f"(reshape ({', '.join(texts(dims))}) {flat})"
        return self.trace.bind(text if dims or not self.dims else f"({flat} ! 0)", self.dtype, dims)

    def reshape(self, *shape: Any) -> Traced:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        shape = np.empty(self.shape, np.int8).reshape(shape).shape
        return self.of(tuple((str(n), n) for n in shape))

    def ravel(self) -> Traced:
        return self.of((self.trace.dim(*product(self.dims)),))

    def astype(self, dtype: Any) -> Traced:
        new = np.dtype(dtype)
        return self.trace.map([self], new, lambda x: convert(x, self.dtype, new))

    def _last(self, axis: int) -> tuple[Traced, list[int]]:
        """Returns this with an axis as the last, and the order that brings it back."""
        axis %= self.ndim
        order = [k for k in range(self.ndim) if k != axis] + [axis]
        return self.transpose(order), sorted(range(self.ndim), key=order.__getitem__)

    def _ready(self, name: str) -> Traced:
        """Returns this with the elements that a reduction works on."""
        if name.startswith("logical"):
            return self if self.dtype.kind == "b" else self.astype(bool)
        small = name in ("add", "multiply") and self.dtype.kind in "iub" and self.dtype.itemsize < 8
        return self.astype(np.uint64 if self.dtype.kind == "u" else np.int64) if small else self

    def _reduce(self, name: str, axis: Any = None, keepdims: bool = False) -> Traced:
        function, start = REDUCTIONS[name]
        value = self._ready(name)
        value = value.ravel() if axis is None and value.ndim else value
        if not value.ndim:
            return value
        if isinstance(axis, (tuple, list)):
            for k in sorted((k % self.ndim for k in axis), reverse=True):
                value = value._reduce(name, k, keepdims)
            return value
        made = value._rows(axis, value.dtype, lambda row: f"(reduce {function} {start or f'({row} ! 0)'} {row})")
        if keepdims:
            dims = [*self.dims] if axis is not None else [("1", 1)] * self.ndim
            dims[axis or 0] = ("1", 1)
            return made.of(tuple(dims))
        return made

    def _rows(self, axis: Any, dtype: Any, form: Callable[[str], str]) -> Traced:
        """Binds a number for each vector along an axis, or for the only one."""
        value, _ = self._last(-1 if axis is None else axis)
        if value.ndim == 1:
            return self.trace.bind(form(value.text), dtype)
        if value.ndim == 2:
            return self.trace.bind(f"(map (lambda (row) {form('row')}) {value.text})", dtype, value.dims[:1])
        row = f"(tabulate ({value.dims[-1][0]} : int64) (lambda ((k : int64)) {{}}))"
        return self.trace.tabulate(value.dims[:-1], dtype, lambda indices: (
            f"(let (row {row.format(value.at([*indices, 'k']))}) in {form('row')})"))  # fmt: skip

    def _accumulate(self, name: str, axis: Any = 0, keepdims: bool = False) -> Traced:
        function, start = REDUCTIONS[name]
        value = self._ready(name)
        value, back = (value.ravel() if axis is None else value)._last(-1 if axis is None else axis)
        one = lambda row: f"(scan {function} {start or f'({row} ! 0)'} {row})"  # noqa: E731
        if value.ndim == 1:
            return self.trace.bind(one(value.text), value.dtype, value.dims)
        rows = value.of((value.trace.dim(*product(value.dims[:-1])), value.dims[-1]))
        scans = shaped(f"(map (lambda (row) {one('row')}) {rows.text})", value.dims)
        return self.trace.bind(scans, value.dtype, value.dims).transpose(back)

    def _first(self, before: str, axis: Any = None) -> Traced:
        """Returns the indices along an axis of the first elements that no other is `before`; NaN is before all."""
        value, _ = (self.ravel() if axis is None else self)._last(-1 if axis is None else axis)
        better, same = f"({before} y.0 x.0)", "(= y.0 x.0)"
        if self.dtype.kind == "f":
            better = f"(or {better} (and (~= y.0 y.0) (= x.0 x.0)))"
            same = f"(or {same} (and (~= y.0 y.0) (~= x.0 x.0)))"
        choose = f"(lambda (x y) (if (or {better} (and {same} (< y.1 x.1))) then y else x))"
        numbers = f"(tabulate {value.dims[-1][0]} (lambda ((i : int64)) i))"
        return value._rows(-1, np.int64, lambda row: f"(reduce {choose} (({row} ! 0), 0) (zip {row} {numbers})).1")

    def mean(self, axis: Any = None, keepdims: bool = False) -> Traced:
        total = self.astype(float) if self.dtype.kind in "iub" else self
        axes = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        count = f"((to_{TYPES[total.dtype.name]} {product(tuple(self.dims[k] for k in axes))[0]}) : {TYPES[total.dtype.name]})"
        return total._reduce("add", axis, keepdims) / self.trace.bind(count, total.dtype)

    def __getitem__(self, key: Any) -> Traced:
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [k for k in keys if not isinstance(k, (Traced, np.ndarray))]:
            at = next(k for k, item in enumerate(keys) if item is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim + 1 - len([k for k in keys if k is not None]))
        keys += [slice(None)] * (self.ndim - len([k for k in keys if k is not None]))
        dims: list[tuple[str, int]] = []
        places: list[Callable[[list[str]], str]] = []
        axes = iter(self.dims)
        for item in keys:
            if item is None:
                dims.append(("1", 1))
                continue
            extent, size = next(axes, (None, 0))
            if extent is None:
                raise IndexError(f"too many indices for an array of {self.ndim} dimensions")
            if isinstance(item, slice):
                start, count, step = self._slice(item, extent, size)
                dims.append(count)
                places.append(lambda indices, k=len(dims) - 1, b=start, s=step: f"(+ {b} (* {s} {indices[k]}))")
                continue
            index = self.trace.lift(item)
            if index.dtype.kind not in "iu" or index.ndim > 1:
                raise TypeError("jit indexes by integers, slices and vectors of integers; for a mask use numpy.where")
            wrapped = lambda x, e=extent: f"(let (i (to_int64 {x})) in (if (< i 0) then (+ i {e}) else i))"  # noqa: E731
            if index.ndim:
                dims.append(index.dims[0])
                places.append(lambda indices, k=len(dims) - 1, v=index.text, w=wrapped: w(f"({v} ! {indices[k]})"))
            else:
                places.append(lambda indices, text=self.trace.bind(wrapped(index.text), np.int64).text: text)
        at = lambda indices: self.at([place(indices) for place in places])  # noqa: E731
        return self.trace.tabulate(tuple(dims), self.dtype, at) if dims else self.trace.bind(at([]), self.dtype)

    def _slice(self, item: slice, extent: str, size: int) -> tuple[str, tuple[str, int], int]:
        """Returns the start of a slice, its extent and its step."""
        step = 1 if item.step is None else item.step
        if step < 0 or any(isinstance(bound, Traced) for bound in (item.start, item.stop)):
            if not self.trace.static:
                raise NeedsShapes
        bound = lambda k: f"(max 0 (- {extent} {-k}))" if k < 0 else f"(min {k} {extent})"  # noqa: E731
        count = len(range(*item.indices(size)))
        if self.trace.static:
            return str(item.indices(size)[0]), (str(count), count), step
        start = "0" if item.start is None else bound(item.start)
        stop = extent if item.stop is None else bound(item.stop)
        text = stop if start == "0" and step == 1 else f"(max 0 (/ (+ (- {stop} {start}) {step - 1}) {step}))"
        return self.trace.share(start), self.trace.dim(text, count), step


def matmul(a: Traced, b: Traced) -> Traced:
    dtype = np.result_type(a.dtype, b.dtype)
    a, b = a.astype(dtype), b.astype(dtype)
    if not 1 <= a.ndim <= 2 or not 1 <= b.ndim <= 2:
        raise TypeError("jit multiplies vectors and matrices; use vmap for more dimensions")
    broadcast(a.dims[-1:], b.dims[:1])
    dot = "(reduce + 0 (map * {} {}))"
    text = dot.format("x" if a.ndim == 2 else a.text, "y" if b.ndim == 2 else b.text)
    if b.ndim == 2:
        text = f"(map (lambda (y) {text}) (transpose {b.text}))"
    if a.ndim == 2:
        text = f"(map (lambda (x) {text}) {a.text})"
    dims = a.dims[:-1] + b.dims[1:]
    return a.trace.bind(shaped(text, dims), dtype, dims)


def where(condition: Any, x: Any, y: Any) -> Traced:
    trace = ACTIVE.get()
    condition, x, y = map(trace.lift, (condition, x, y))
    dtype = np.result_type(*(o.weak(1) if o.weak else o.dtype for o in (x, y)))
    return trace.map([condition.astype(bool), x, y], dtype, lambda c, a, b: (
        f"(if {c} then {convert(a, x.dtype, dtype)} else {convert(b, y.dtype, dtype)})"))  # fmt: skip


def take(array: Any, indices: Any, axis: int = 0) -> Any:
    """Returns the elements of an array at traced indices of an axis. Elsewhere it is numpy.take."""
    trace = ACTIVE.get(None)
    if trace is None:
        return np.take(array, indices, axis)
    return trace.lift(array)[(*[slice(None)] * axis, indices)]


def _reduction(name: str) -> Callable:
    return lambda value, axis=None, keepdims=False: value._reduce(name, axis, keepdims)


FUNCTIONS: dict[str, Callable] = {
    "sum": _reduction("add"), "prod": _reduction("multiply"), "any": _reduction("logical_or"),
    "all": _reduction("logical_and"), "max": _reduction("maximum"), "amax": _reduction("maximum"),
    "min": _reduction("minimum"), "amin": _reduction("minimum"), "mean": Traced.mean,
    "cumsum": lambda value, axis=None: value._accumulate("add", axis),
    "cumprod": lambda value, axis=None: value._accumulate("multiply", axis),
    "argmin": lambda value, axis=None: value._first("<", axis),
    "argmax": lambda value, axis=None: value._first(">", axis),
    "where": where, "dot": lambda a, b: np.matmul(a, b), "transpose": Traced.transpose,
    "reshape": Traced.reshape, "ravel": Traced.ravel, "take": take,
    "clip": lambda value, low, high: value.trace.elementwise("clip", value, low, high),
    "zeros_like": lambda value: value.trace.map([value], value.dtype, lambda _: literal(np.zeros((), value.dtype)[()])),
    "ones_like": lambda value: value.trace.map([value], value.dtype, lambda _: literal(np.ones((), value.dtype)[()])),
}  # fmt: skip
"""NOVA for NumPy's functions of arrays; those of elements are in the tables of operations."""

for _name in ["sum", "prod", "any", "all", "max", "min", "cumsum", "cumprod", "argmin", "argmax", "clip", "dot"]:
    setattr(Traced, _name, FUNCTIONS[_name])
