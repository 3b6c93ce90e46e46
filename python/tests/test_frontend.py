"""Tests of the example of a front end in Python, and of what `jit` says about places."""

import importlib.util
import os
import sys
from pathlib import Path

import novac
import numpy as np
import pytest

FILE = Path(os.environ.get("NOVA_ROOT", Path(__file__).parents[2])) / "nova-examples/frontends/series/series.py"
SPEC = importlib.util.spec_from_file_location("series", FILE)
series = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(series)

HAS_ENDS = sys.version_info >= (3, 11)


def programs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.so"))


def test_values():
    assert series.function(series.example)([1, 2], [10, 20, 30]) == 56.0


def test_mistakes_are_in_the_file_and_in_the_words_of_the_language():
    def wrong(x):
        return x.total() + x

    with pytest.raises(novac.CompileError) as caught:
        series.function(wrong)([1.0])
    text = str(caught.value)
    assert "in `+`: " in text and "test_frontend.py" in text
    assert "return x.total() + x" in text
    if HAS_ENDS:
        assert "^" * len("x.total() + x") in text


def test_failures_are_in_the_file():
    def empty(x):
        return x.first()

    with pytest.raises(novac.ExecutionError) as caught:
        series.function(empty)([])
    assert caught.value.place.file == "test_frontend.py"
    assert "return x.first()" in str(caught.value) and "in `first`" in str(caught.value)
    if HAS_ENDS:
        assert "^" * len("x.first()") + " in" in str(caught.value)


def test_a_function_that_has_moved_is_not_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("NOVA_CACHE", str(tmp_path))

    @novac.jit
    def moved(x):
        return 2 * x[3]

    assert moved(np.arange(5.0)) == 6
    kept = programs(tmp_path)
    assert len(kept) == 1

    @novac.jit
    def moved(x):
        # The same function, some lines further down.
        return 2 * x[3]

    assert moved(np.arange(5.0)) == 6
    assert programs(tmp_path) == kept
    with pytest.raises(novac.ExecutionError) as caught:
        moved(np.arange(2.0))
    line = moved.__wrapped__.__code__.co_firstlineno + 3
    assert caught.value.place.line == line
    if HAS_ENDS:
        assert "^" * len("x[3]") in str(caught.value)

    @novac.jit
    def moved(x):
        return 3 * x[3]

    assert moved(np.arange(5.0)) == 9
    assert len(programs(tmp_path)) == 2
