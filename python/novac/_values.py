"""Values of NOVA that neither Python nor NumPy has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_SHOWN = 100
"""The number of variants that `repr` shows."""


class Variant:
    """A value of a sum type: the name of its constructor, and its payload.

    `Variant("None")` has no payload. Its `value` is None. A `match` statement takes variants apart:

        match value:
            case Variant("Some", x): ...
            case Variant("None"): ...
    """

    __slots__ = ("name", "value")
    __match_args__ = ("name", "value")

    def __init__(self, name: str, value: Any = None):
        self.name = name
        self.value = value

    # Recursive data are deeper than Python's recursion.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        waiting: list[tuple[Any, Any]] = [(self, other)]
        while waiting:
            left, right = waiting.pop()
            if left is right:
                continue
            if isinstance(left, Variant) and isinstance(right, Variant):
                if left.name != right.name:
                    return False
                waiting.append((left.value, right.value))
            elif isinstance(left, (tuple, list)) and type(left) is type(right):
                if len(left) != len(right):
                    return False
                waiting.extend(zip(left, right))
            elif isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
                if not np.array_equal(left, right):
                    return False
            elif left != right:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        texts: list[str] = []
        waiting: list[Any] = [self]
        shown = 0
        while waiting:
            item = waiting.pop()
            if isinstance(item, _Text):
                texts.append(item)
            elif isinstance(item, Variant):
                shown += 1
                if shown > _SHOWN:
                    texts.append("…")
                elif item.value is None:
                    texts.append(f"Variant({item.name!r})")
                else:
                    texts.append(f"Variant({item.name!r}, ")
                    waiting.extend([_Text(")"), item.value])
            elif isinstance(item, (tuple, list)) and len(item) > 1:
                open_, close = ("(", ")") if isinstance(item, tuple) else ("[", "]")
                texts.append(open_)
                waiting.append(_Text(close))
                for k, part in reversed(list(enumerate(item))):
                    waiting.append(part)
                    if k > 0:
                        waiting.append(_Text(", "))
            else:
                texts.append(repr(item))
        return "".join(texts)


class _Text(str):
    """A piece of a text that is finished."""


class Nested(Sequence):
    """A vector of vectors, of any depth: all elements in one array, and the offsets of the rows.

    Row k is `data[offsets[0][k]:offsets[0][k + 1]]`. Each further level has offsets of its own, outermost
    first. Rows are views, not copies.
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: np.ndarray, *offsets: np.ndarray):
        if not offsets:
            raise ValueError("Nested needs the offsets of at least one level")
        self.data = np.asarray(data)
        self.offsets = tuple(np.asarray(level) for level in offsets)

    @classmethod
    def from_rows(cls, rows: Sequence, dtype: Any = None, levels: int = 2) -> Nested:
        """Makes a nested vector of a sequence of sequences, which are copied."""
        offsets = []
        level: list = list(rows)
        for _ in range(levels - 1):
            lengths = [len(row) for row in level]
            offsets.append(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))
            level = [element for row in level for element in row]
        return cls(np.array(level, dtype=dtype), *offsets)

    @classmethod
    def from_awkward(cls, array: Any) -> Nested:
        """Makes a nested vector of an Awkward Array of lists of numbers. Packed arrays are not copied."""
        import awkward

        layout = awkward.to_packed(array).layout
        offsets = []
        while layout.is_list:
            layout = layout.to_ListOffsetArray64(True)
            offsets.append(np.asarray(layout.offsets.data))
            layout = layout.content
        if not (layout.is_numpy and offsets):
            raise TypeError(f"an Awkward Array of lists of numbers is needed, not {array.type}")
        return cls(np.asarray(layout.data), *offsets)

    def to_awkward(self) -> Any:
        """Returns this as an Awkward Array, without a copy."""
        import awkward

        contents = awkward.contents
        layout = contents.NumpyArray(self.data)
        for level in reversed(self.offsets):
            layout = contents.ListOffsetArray(awkward.index.Index64(level), layout)
        return awkward.Array(layout)

    def to_list(self) -> list:
        """Returns lists of lists of Python's numbers."""
        level = self.data.tolist()
        for offsets in reversed(self.offsets):
            bounds = offsets.tolist()
            level = [level[start:end] for start, end in zip(bounds, bounds[1:])]
        return level

    def lengths(self) -> np.ndarray:
        """Returns the length of each row."""
        return np.diff(self.offsets[0])

    def __len__(self) -> int:
        return len(self.offsets[0]) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError("rows of a slice must stand side by side")
            return self._rows(start, max(start, stop))
        length = len(self)
        position = index + length if index < 0 else index
        if not 0 <= position < length:
            raise IndexError(f"row {index} of {length}")
        rows = self._rows(position, position + 1)
        if len(self.offsets) == 1:
            return rows.data
        return Nested(rows.data, *rows.offsets[1:])

    def _rows(self, start: int, stop: int) -> Nested:
        offsets = []
        for level in self.offsets:
            bounds = level[start : stop + 1]
            start, stop = int(bounds[0]), int(bounds[-1])
            offsets.append(bounds - start)
        return Nested(self.data[start:stop], *offsets)

    def __iter__(self) -> Iterator:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(str(row) for row in self[:5]) + (", …" if len(self) > 5 else "")
        return f"Nested({len(self)} rows, {len(self.data)} elements of {self.data.dtype}: {shown})"
