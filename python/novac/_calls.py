"""Calls of compiled code by cffi. `novac.build` copies this module into each package.

A form says how the values of a type are passed. It is `["unit"]`, `["scalar", NAME]`, `["tuple", FORMS]`,
`["vector", LEVELS, ELEMENT]` or `["array", RANK, ELEMENT]`.
"""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays
from ._errors import execution_error
from ._values import Nested

_LINE = 120
"""The number of characters to which a shown line is shortened."""

_NAMES = {"int32": "int", "float32": "float", "float64": "double"}
"""The names of scalar types in programs, where they differ from NumPy's."""


class Program:
    """The compiled code of a package: what cffi made of it, its sources, its kinds of errors."""

    def __init__(self, ffi: Any, lib: Any, sources: dict[str, str], kinds: dict[str, str]):
        self.ffi = ffi
        self.lib = lib
        self.sources = sources
        self.kinds = {word: _pattern(message) for word, message in kinds.items()}
        self._array_types: dict[Any, Any] = {}

    def entry(self, name: str, symbol: str, inputs: Sequence[tuple], result: tuple) -> Entry:
        """Returns an entry. An input is its name, its type and its form; a result its type and its form."""
        return Entry(self, name, symbol, inputs, result)

    def pointer(self, ctype: Any, array: np.ndarray) -> Any:
        """Returns a pointer of this type to the elements of an array, which it keeps."""
        if ctype not in self._array_types:
            self._array_types[ctype] = self.ffi.typeof(self.ffi.getctype(ctype.item, "[]"))
        return self.ffi.from_buffer(self._array_types[ctype], array)

    def owned(self, pointer: Any, shape: tuple[int, ...], element: np.dtype) -> np.ndarray:
        """Returns an array over memory that a call allocated. The memory is freed with the array."""
        size = math.prod(shape) * element.itemsize
        if size == 0:
            self.lib.free(pointer)
            return np.empty(shape, element)
        owner = self.ffi.gc(pointer, self.lib.free, size)
        return np.ndarray(shape, element, buffer=self.ffi.buffer(owner, size))

    def offsets(self, pointer: Any, rows: int) -> np.ndarray:
        """Returns the offsets of rows, which are one more than the rows."""
        if pointer == self.ffi.NULL:
            return np.zeros(1, np.int64)
        return self.owned(pointer, (rows + 1,), np.dtype(np.int64))

    def element(self, form: list, ctype: Any) -> np.dtype:
        """Returns NumPy's type of the elements of an array."""
        if form[0] == "scalar":
            return np.dtype(form[1])
        fields = dict(ctype.fields)
        parts = [(f"e{k}", part) for k, part in enumerate(form[1]) if f"e{k}" in fields]
        return np.dtype(
            {
                "names": [name for name, _ in parts],
                "formats": [self.element(part, fields[name].type) for name, part in parts],
                "offsets": [fields[name].offset for name, _ in parts],
                "itemsize": self.ffi.sizeof(ctype),
            }
        )

    def failure(self, code: int, message: str) -> Exception:
        """Returns the exception for what a function returned."""
        if code not in (1, 2, 5):
            return ValueError(message)
        place, words = _split_place(message)
        found = (word for word, pattern in self.kinds.items() if pattern.fullmatch(words))
        kind = "memory" if code == 2 else next(found, "unknown")
        return execution_error(self._shown(message, place), words, kind, code, place)

    def _shown(self, message: str, place: tuple[str, int, int] | None) -> str:
        """Returns a message with the line of its place."""
        if place is None or place[0] not in self.sources:
            return message
        file, number, column = place
        lines = self.sources[file].split("\n")
        if not 1 <= number <= len(lines):
            return message
        line = lines[number - 1].removesuffix("\r")
        line = "".join(" " if unicodedata.category(c) == "Cc" else c for c in line)
        shown, at = _shorten(line, max(column - 1, 0))
        gutter = " " * len(str(number))
        return f"{message}\n{gutter} |\n{number} | {shown}\n{gutter} | {' ' * at}^"


class Entry:
    """An entry of a program: a function of its arguments, `out` and `cast`."""

    def __init__(self, program: Program, name: str, symbol: str, inputs: Sequence[tuple], result: tuple):
        self.program = program
        self.name = name
        self.function = getattr(program.lib, symbol)
        self.error = getattr(program.lib, f"{symbol}_error")
        types = list(program.ffi.typeof(self.function).args)
        self.result_type, form = result
        self.result = _form(form)
        self.places = types[: self.result.parameters]
        self.result.bind(program, [place.item for place in self.places])
        del types[: self.result.parameters]
        self.inputs = []
        for given, text, form in inputs:
            made = _form(form)
            made.bind(program, types[: made.parameters])
            del types[: made.parameters]
            self.inputs.append((f"argument `{given}` of `{name}` is {text}", made))

    def __call__(self, arguments: tuple, out: Any, cast: bool) -> Any:
        program = self.program
        kept: list = []
        passed: list = []
        for (subject, form), value in zip(self.inputs, arguments):
            passed += form.given(_Giving(program, subject, cast, kept), value)
        places = [program.ffi.new(place) for place in self.places]
        if out is not None:
            self._destination(out, places)
        code = self.function(*places, *passed)
        if code != 0:
            message = program.ffi.string(self.error()).decode("utf-8", "replace")
            raise program.failure(code, message or f"error code {code}")
        if out is None:
            return self.result.returned(program, places)
        extents = tuple(int(place[0]) for place in places[:-1])
        return out if out.shape == extents else out.reshape(-1)[: math.prod(extents)].reshape(extents)

    def _destination(self, out: Any, places: list) -> None:
        """Sets the places of a result to an array. Raises TypeError for an array that cannot hold it."""
        form = self.result
        if not isinstance(form, (_Vector, _Array)) or form.is_nested:
            raise TypeError(
                f"`{self.name}` returns {self.result_type}, and `out` takes one vector or array of numbers"
            )
        needed = (
            f"`out` of `{self.name}` must be a writable array of {form.rank} dimensions of {form.element} "
            "in the order of C"
        )
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{needed}, not {_kind_of(out)}")
        flags = out.flags
        is_as_needed = out.ndim == form.rank and out.dtype == form.element and flags.c_contiguous
        if not (is_as_needed and flags.aligned and flags.writeable):
            raise TypeError(
                f"{needed}; this one is of {out.ndim} dimensions of {out.dtype}"
                + ("" if flags.writeable else ", not writable")
            )
        for place, extent in zip(places, out.shape):
            place[0] = extent
        places[-1][0] = self.program.pointer(self.places[-1].item, out)


class _Giving:
    """An argument on its way."""

    def __init__(self, program: Program, subject: str, cast: bool, kept: list):
        self.program = program
        self.ffi = program.ffi
        self.subject = subject
        self.cast = cast
        self.kept = kept
        """What must live as long as the call."""

    def pointer(self, ctype: Any, array: np.ndarray) -> Any:
        made = self.program.pointer(ctype, array)
        self.kept.append(made)
        return made

    def new(self, ctype: Any, *initial: Any) -> Any:
        made = self.ffi.new(ctype, *initial)
        self.kept.append(made)
        return made


class _Unit:
    parameters = 0

    def bind(self, program: Program, types: list) -> None:
        pass

    def given(self, giving: _Giving, value: Any) -> list:
        if value is not None:
            raise TypeError(f"{giving.subject}: pass None, not {_kind_of(value)}")
        return []

    def returned(self, program: Program, places: list) -> None:
        return None


class _Scalar:
    parameters = 1

    def __init__(self, name: str):
        self.dtype = np.dtype(name)

    def bind(self, program: Program, types: list) -> None:
        pass

    def bind_field(self, program: Program, ctype: Any) -> None:
        pass

    def given(self, giving: _Giving, value: Any) -> list:
        return [self.stored(giving, value)]

    def stored(self, giving: _Giving, value: Any) -> Any:
        """Returns the number for a value."""
        kind = self.dtype.kind
        if kind == "b":
            if not isinstance(value, (bool, np.bool_)):
                raise self._wrong(giving, "True or False", value)
            return int(value)
        if isinstance(value, (bool, np.bool_)):
            raise self._wrong(giving, "a number" if kind == "f" else "an integer", value)
        if kind == "f":
            if not (hasattr(value, "__float__") or hasattr(value, "__index__")):
                raise self._wrong(giving, "a number", value)
            try:
                return float(value)
            except (TypeError, OverflowError):
                raise self._wrong(giving, "a number", value) from None
        if isinstance(value, float):
            raise self._wrong(giving, "an integer", value, "; int(…) drops the fraction, round(…) rounds")
        try:
            number = operator.index(value)
        except TypeError:
            raise self._wrong(giving, "an integer", value) from None
        limits = np.iinfo(self.dtype)
        if not limits.min <= number <= limits.max:
            name = _NAMES.get(self.dtype.name, self.dtype.name)
            raise ValueError(
                f"{giving.subject}: {name} holds integers from {limits.min} to {limits.max}, and this one "
                f"is {number}"
            )
        return number

    def _wrong(self, giving: _Giving, needed: str, value: Any, help: str = "") -> TypeError:
        return TypeError(f"{giving.subject}: {needed} is needed, not {_kind_of(value)}{help}")

    def returned(self, program: Program, places: list) -> Any:
        return self.loaded(program, places[0][0])

    def loaded(self, program: Program, field: Any) -> Any:
        return bool(field) if self.dtype.kind == "b" else field


class _Tuple:
    parameters = 1

    def __init__(self, forms: list):
        self.parts = [_form(form) for form in forms]

    def bind(self, program: Program, types: list) -> None:
        self.ctype = types[0]
        self.pointer = program.ffi.typeof(program.ffi.getctype(self.ctype, "*"))
        fields = dict(self.ctype.fields)
        for k, part in enumerate(self.parts):
            if not isinstance(part, _Unit):
                part.bind_field(program, fields[f"e{k}"].type)

    def bind_field(self, program: Program, ctype: Any) -> None:
        self.bind(program, [ctype])

    def given(self, giving: _Giving, value: Any) -> list:
        return [self.stored(giving, value)]

    def stored(self, giving: _Giving, value: Any) -> Any:
        """Returns the structure for a tuple."""
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{giving.subject}: a tuple of {len(self.parts)} is needed, not {_kind_of(value)}")
        if len(value) != len(self.parts):
            raise TypeError(
                f"{giving.subject}: a tuple of {len(self.parts)} is needed, this one has {len(value)}"
            )
        made = giving.new(self.pointer)
        for k, (part, item) in enumerate(zip(self.parts, value)):
            if isinstance(part, _Unit):
                part.given(giving, item)
            else:
                setattr(made, f"e{k}", part.stored(giving, item))
        return made[0]

    def returned(self, program: Program, places: list) -> tuple:
        return self.loaded(program, places[0][0])

    def loaded(self, program: Program, field: Any) -> tuple:
        return tuple(
            None if isinstance(part, _Unit) else part.loaded(program, getattr(field, f"e{k}"))
            for k, part in enumerate(self.parts)
        )


class _Vector:
    """A vector of one level, or a nested vector of several: the elements and the offsets of each level."""

    rank = 1

    def __init__(self, levels: int, element: list):
        self.levels = levels
        self.form = element
        self.is_nested = levels > 1
        self.parameters = levels + 1

    def bind(self, program: Program, types: list) -> None:
        self.types = types
        self.element = program.element(self.form, types[-1].item)

    def given(self, giving: _Giving, value: Any) -> list:
        data, offsets = self._arrays(giving, value)
        pointers = [giving.pointer(ctype, array) for ctype, array in zip(self.types[1:], [*offsets, data])]
        return [len(offsets[0]) - 1 if offsets else len(data), *pointers]

    def _arrays(self, giving: _Giving, value: Any) -> tuple[np.ndarray, list[np.ndarray]]:
        if self.is_nested:
            return _arrays.nested(value, self.element, self.levels, giving.cast, giving.subject)
        return _arrays.array(value, self.element, 1, giving.cast, giving.subject), []

    def returned(self, program: Program, places: list) -> Any:
        rows, offsets = int(places[0][0]), []
        for place in places[1:-1]:
            offsets.append(program.offsets(place[0], rows))
            rows = int(offsets[-1][-1])
        data = program.owned(places[-1][0], (rows,), self.element)
        return Nested(data, *offsets) if offsets else data

    # In structures each row of a nested vector is a structure of its own.
    def bind_field(self, program: Program, ctype: Any) -> None:
        self.structure = ctype
        for _ in range(self.levels - 1):
            ctype = _data_type(ctype).item
        self.element = program.element(self.form, _data_type(ctype).item)

    def stored(self, giving: _Giving, value: Any) -> Any:
        data, offsets = self._arrays(giving, value)
        return self._rows(giving, self.structure, data, offsets, 0, len(offsets[0]) - 1 if offsets else len(data))

    def _rows(self, giving: _Giving, ctype: Any, data: np.ndarray, offsets: list, start: int, stop: int) -> Any:
        ffi = giving.ffi
        made = giving.new(ffi.getctype(ctype, "*"))
        made.len = stop - start
        pointer = _data_type(ctype)
        if not offsets:
            made.data = giving.pointer(pointer, data[start:stop])
            return made[0]
        bounds = offsets[0][start : stop + 1].tolist()
        rows = giving.new(ffi.getctype(pointer.item, "[]"), stop - start)
        for k, (low, high) in enumerate(zip(bounds, bounds[1:])):
            rows[k] = self._rows(giving, pointer.item, data, offsets[1:], low, high)
        made.data = rows
        return made[0]

    def loaded(self, program: Program, field: Any) -> Any:
        if not self.is_nested:
            return program.owned(field.data, (int(field.len),), self.element)
        offsets: list[list[int]] = [[0] for _ in range(self.levels - 1)]
        rows: list[np.ndarray] = [np.empty(0, self.element)]
        self._read(program, field, 0, offsets, rows)
        return Nested(np.concatenate(rows), *(np.array(level, np.int64) for level in offsets))

    def _read(self, program: Program, field: Any, level: int, offsets: list, rows: list) -> None:
        """Reads the rows of a level, and frees them."""
        length = int(field.len)
        if level == self.levels - 1:
            rows.append(program.owned(field.data, (length,), self.element))
            return
        for k in range(length):
            row = field.data[k]
            offsets[level].append(offsets[level][-1] + int(row.len))
            self._read(program, row, level + 1, offsets, rows)
        program.lib.free(field.data)


class _Array:
    is_nested = False

    def __init__(self, rank: int, element: list):
        self.rank = rank
        self.form = element
        self.parameters = rank + 1

    def bind(self, program: Program, types: list) -> None:
        self.types = types
        self.element = program.element(self.form, types[-1].item)

    def bind_field(self, program: Program, ctype: Any) -> None:
        self.structure = ctype
        self.bind(program, [_data_type(ctype)])

    def _array(self, giving: _Giving, value: Any) -> np.ndarray:
        return _arrays.array(value, self.element, self.rank, giving.cast, giving.subject)

    def given(self, giving: _Giving, value: Any) -> list:
        array = self._array(giving, value)
        return [*array.shape, giving.pointer(self.types[-1], array)]

    def stored(self, giving: _Giving, value: Any) -> Any:
        array = self._array(giving, value)
        made = giving.new(giving.ffi.getctype(self.structure, "*"))
        for k, extent in enumerate(array.shape):
            setattr(made, f"dim{k}", extent)
        made.data = giving.pointer(self.types[-1], array)
        return made[0]

    def returned(self, program: Program, places: list) -> np.ndarray:
        extents = tuple(int(place[0]) for place in places[:-1])
        return program.owned(places[-1][0], extents, self.element)

    def loaded(self, program: Program, field: Any) -> np.ndarray:
        extents = tuple(int(getattr(field, f"dim{k}")) for k in range(self.rank))
        return program.owned(field.data, extents, self.element)


def _form(form: list) -> Any:
    kinds = {"unit": _Unit, "scalar": _Scalar, "tuple": _Tuple, "vector": _Vector, "array": _Array}
    return kinds[form[0]](*form[1:])


def _data_type(structure: Any) -> Any:
    """Returns the type of the pointer in the structure of a vector or an array."""
    return dict(structure.fields)["data"].type


def _kind_of(value: Any) -> str:
    """Returns what an object is, for messages."""
    if value is None:
        return "None"
    name = type(value).__qualname__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _pattern(message: str) -> re.Pattern:
    """Returns the pattern of a message, in which `{0}` and `{1}` are integers."""
    return re.compile(re.sub(r"\\\{\d\\\}", lambda _: r"-?\d+", re.escape(message)))


def _split_place(message: str) -> tuple[tuple[str, int, int] | None, str]:
    """Splits a message into the place before it and the rest."""
    # A file's name may contain `: `, so every split is tried.
    for split in re.finditer(": ", message):
        place = re.fullmatch(r"(?s)(.*):(\d+):(\d+)", message[: split.start()])
        if place:
            file, line, column = place.groups()
            return (file, int(line), int(column)), message[split.end() :]
    return None, message


def _shorten(line: str, column: int) -> tuple[str, int]:
    """Returns the part of a long line around a column, with `…` where text is left out, and its column."""
    if len(line) <= _LINE:
        return line, column
    start = max(column - _LINE // 2, 0)
    shown = line[start : start + _LINE]
    if start + _LINE < len(line):
        shown += "…"
    return (shown, column) if start == 0 else (f"…{shown}", column - start + 1)
