"""Arrays for the native module, which passes arrays of the right type and order by itself.

These functions make arrays of everything else, or say what is wrong. `subject` begins their messages: which
argument of which entry, and its type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._values import Nested, Variant

__all__ = [
    "Variant",
    "array",
    "array_of",
    "nested",
    "objects_in",
    "objects_of",
    "returned",
    "sequence",
    "vector_of",
]


def array(value: Any, element: np.dtype, rank: int, cast: bool, subject: str) -> np.ndarray:
    """Returns an array of an element type and a number of dimensions, in the order of C."""
    if isinstance(value, (list, tuple, range)):
        return _of_sequence(value, element, rank, subject)
    given = _given(value, element, rank, subject)
    if given.ndim != rank:
        raise TypeError(
            f"{subject}, an array of {_dimensions(rank)}; this one has the shape {given.shape}"
            + (": pass it flat, as .ravel()" if rank == 1 and given.ndim > 1 else "")
        )
    if given.dtype != element:
        if not cast:
            raise TypeError(
                f"{subject}, an array of {element}; this one is of {given.dtype}: "
                f"convert it with .astype({_written(element)}), or pass cast=True"
            )
        given = _cast(given, element, subject)
    if not (given.flags.c_contiguous and given.flags.aligned):
        if not cast:
            raise TypeError(
                f"{subject}, an array in the order of C; this one has the strides {given.strides}: "
                "copy it with numpy.ascontiguousarray(…), or pass cast=True"
            )
        given = np.array(given, order="C")
    return given


def _given(value: Any, element: np.dtype, rank: int, subject: str) -> np.ndarray:
    """Returns what is an array already, without a copy."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, str):
        raise TypeError(f"{subject}, and a text is passed as bytes: .encode()")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8) if element == np.uint8 else np.asarray(value)
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(
                f"{subject}, and this {type(value).__name__} is not in the memory of the processor, or "
                f"NumPy cannot use it: {error}"
            ) from error
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    raise TypeError(
        f"{subject}, an array of {_dimensions(rank)} of {element}, not {type(value).__name__}"
    )


def _dimensions(rank: int) -> str:
    return "1 dimension" if rank == 1 else f"{rank} dimensions"


def _written(element: np.dtype) -> str:
    """Returns an element type as Python writes it."""
    return f"numpy.{element.name}" if element.names is None else repr(element)


def _cast(given: np.ndarray, element: np.dtype, subject: str) -> np.ndarray:
    """Converts elements where no value gets lost but by rounding to a smaller float."""
    if given.dtype.kind in "iu" and element.kind in "iu":
        _check_range(given, element, subject)
        return given.astype(element)
    if not np.can_cast(given.dtype, element, "same_kind"):
        raise TypeError(
            f"{subject}, an array of {element}, and cast=True does not change {given.dtype} to it: "
            f"round or compare first, then .astype({_written(element)})"
        )
    return given.astype(element)


def _check_range(given: np.ndarray, element: np.dtype, subject: str) -> None:
    if given.size == 0:
        return
    limits = np.iinfo(element)
    least, most = int(given.min()), int(given.max())
    if least < limits.min or most > limits.max:
        outside = least if least < limits.min else most
        raise ValueError(
            f"{subject}; {element} holds {limits.min} to {limits.max}, and an element is {outside}"
        )


def _of_sequence(value: Any, element: np.dtype, rank: int, subject: str) -> np.ndarray:
    """Returns an array of the numbers of a list, which must be of the element type already."""
    if element.names is not None:
        return _of_tuples(value, element, rank, subject)
    try:
        made = np.array(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"{subject}, and the rows of this {type(value).__name__} make no array: {error}"
        ) from error
    if made.size == 0 and made.ndim <= rank:
        return np.zeros(made.shape + (0,) * (rank - made.ndim), element)
    if made.ndim != rank:
        raise TypeError(
            f"{subject}, an array of {_dimensions(rank)}; this {type(value).__name__} has the shape "
            f"{made.shape}"
        )
    allowed = {"i": "iu", "u": "iu", "f": "iuf", "b": "b"}[element.kind]
    if made.dtype.kind == "O" and element.kind in "iu":
        try:
            return np.array(value, element)
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"{subject}; {error}") from error
    if made.dtype.kind not in allowed:
        raise TypeError(
            f"{subject}, an array of {element}, and this {type(value).__name__} has elements of "
            f"{made.dtype}"
        )
    if element.kind in "iu":
        _check_range(made, element, subject)
    return made.astype(element)


def _of_tuples(value: Any, element: np.dtype, rank: int, subject: str) -> np.ndarray:
    try:
        return np.array(_tuples(value, rank), element)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{subject}, an array of tuples {element.descr}: {error}") from error


def _tuples(value: Any, rank: int) -> Any:
    """Returns the elements as tuples, which are what NumPy takes for structures."""
    if rank == 0:
        return tuple(_tuples(part, 0) for part in value) if isinstance(value, (tuple, list)) else value
    return [_tuples(part, rank - 1) for part in value]


def nested(
    value: Any, element: np.dtype, levels: int, cast: bool, subject: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Returns the elements of a vector of this many levels, and the offsets of each but the first."""
    if isinstance(value, np.ndarray) and value.ndim == levels:
        data = array(value, element, levels, cast, subject)
        return data.reshape(-1), _regular(data.shape)
    if isinstance(value, tuple) and len(value) == levels and all(_is_flat(p) for p in value):
        value = Nested(value[0], *value[1:])
    elif type(value).__module__.split(".")[0] == "awkward":
        value = Nested.from_awkward(value)
    if not isinstance(value, Nested):
        return _of_rows(value, element, levels, cast, subject)
    if len(value.offsets) != levels - 1:
        raise TypeError(
            f"{subject}, which has {levels - 1} arrays of offsets; this one has {len(value.offsets)}"
        )
    data = array(value.data, element, 1, cast, subject)
    offsets = [_offsets(level, subject) for level in value.offsets]
    lengths = [len(level) - 1 for level in offsets[1:]] + [len(data)]
    for level, length in zip(offsets, lengths):
        if level[0] != 0 or level[-1] != length:
            raise ValueError(
                f"{subject}; offsets go from 0 to {length}, the number of what they divide, and these go "
                f"from {level[0]} to {level[-1]}"
            )
    return data, offsets


def _is_flat(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _regular(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Returns the offsets of rows of the same length."""
    offsets, rows = [], 1
    for count, length in zip(shape, shape[1:]):
        rows *= count
        offsets.append(np.arange(rows + 1, dtype=np.int64) * length)
    return offsets


def _offsets(level: np.ndarray, subject: str) -> np.ndarray:
    if level.ndim != 1 or level.dtype.kind not in "iu" or len(level) == 0:
        raise TypeError(
            f"{subject}; offsets are an array of integers, one more than there are rows, and these are an "
            f"array of {level.dtype} of shape {level.shape}"
        )
    return np.ascontiguousarray(level, np.int64)


def _of_rows(
    value: Any, element: np.dtype, levels: int, cast: bool, subject: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    rows = sequence(value, subject)
    offsets: list[np.ndarray] = []
    for level in range(levels - 1):
        if level > 0:
            rows = [row for part in rows for row in sequence(part, subject)]
        parts = rows if level == levels - 2 else None
        lengths = [_length(row, subject) for row in rows]
        offsets.append(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
        if parts is not None:
            flat = [array(row, element, 1, cast, subject) for row in parts]
            return (np.concatenate(flat) if flat else np.zeros(0, element)), offsets
    raise AssertionError("a vector of one level is no nested one")


def _length(row: Any, subject: str) -> int:
    try:
        return len(row)
    except TypeError:
        raise TypeError(f"{subject}; a row is an array or a list, not {type(row).__name__}") from None


def sequence(value: Any, subject: str) -> list:
    """Returns the elements of a sequence."""
    if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{subject}, a list, not {type(value).__name__}")
    return list(value)


def objects_in(value: Any, rank: int, subject: str) -> tuple[tuple[int, ...], list]:
    """Returns the extents and the elements of an array of objects, or of lists of lists."""
    if isinstance(value, np.ndarray):
        if value.ndim != rank:
            raise TypeError(f"{subject}, an array of {_dimensions(rank)}, not of {value.ndim}")
        return value.shape, list(value.reshape(-1))
    level, extents = [value], []
    for _ in range(rank):
        rows = [sequence(part, subject) for part in level]
        if len({len(row) for row in rows}) > 1:
            raise ValueError(f"{subject}; all rows of an array have the same length")
        extents.append(len(rows[0]) if rows else 0)
        level = [element for row in rows for element in row]
    return tuple(extents), level


def objects_of(extents: list[int], values: list) -> np.ndarray:
    """Returns an array of objects."""
    made = np.empty(len(values), object)
    for k, value in enumerate(values):
        made[k] = value
    return made.reshape(extents)


def returned(data: np.ndarray, offsets: list[np.ndarray]) -> Nested:
    """Returns a nested vector that a call returned."""
    return Nested(data, *offsets)


def vector_of(value: Any, levels: int, element: np.dtype) -> Any:
    """Returns a vector that was read element by element as the compiled code returns it."""
    if levels > 1:
        return Nested.from_rows(value, element, levels)
    return np.asarray(value, element)


def array_of(value: Any, element: np.dtype) -> np.ndarray:
    """Returns an array that was read element by element as the compiled code returns it."""
    if value.dtype == element:
        return value
    made = np.empty(value.shape, element)
    for index in np.ndindex(value.shape):
        made[index] = value[index]
    return made
