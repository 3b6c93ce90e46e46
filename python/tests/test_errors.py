"""Wrong programs and wrong calls are exceptions that say what to do."""

import novac
import numpy as np
import pytest

PROGRAM = """
(entry scale ((X : vector float) (s : float)) (map (* s) X))
(entry at ((X : vector int) (i : int)) (X ! i))
(entry grid ((M : vector#2 double)) M)
(entry rows ((R : vector (vector int))) R)
(entry pair ((p : (int, vector int))) p)
(entry flag ((b : bool) (u : unit)) b)
(entry small ((n : uint8)) n)
(types (Maybe 'a : (+ (None : unit) (Some : 'a))))
(entry maybe ((m : (Maybe int))) m)
(entry many ((M : vector (Maybe int))) M)
"""


@pytest.fixture(scope="module")
def program():
    return novac.compile(PROGRAM, target="seq")


F32 = np.zeros(3, np.float32)
I32 = np.zeros(3, np.int32)
V = novac.Variant

WRONG_CALLS = [
    # entry, arguments, options, exception, words
    ("scale", (np.zeros(3), 1.0), {}, TypeError, r"`X` of `scale`.*float64.*astype\(numpy.float32\).*cast"),
    ("scale", (np.zeros((2, 2), np.float32), 1.0), {}, TypeError, r"shape \(2, 2\).*ravel"),
    ("scale", (np.zeros(6, np.float32)[::2], 1.0), {}, TypeError, "ascontiguousarray.*cast=True"),
    ("scale", (F32, "2"), {}, TypeError, "`s`.*number.*str"),
    ("scale", (F32,), {}, TypeError, "missing 1 required positional argument: 's'"),
    ("scale", (F32, 1.0, 2.0), {}, TypeError, "positional argument"),
    ("scale", (F32,), {"t": 1.0}, TypeError, "unexpected keyword argument 't'"),
    ("scale", (F32.astype(complex), 1.0), {"cast": True}, TypeError, "complex128"),
    ("scale", (None, 1.0), {}, TypeError, "array.*NoneType"),
    ("scale", ("text", 1.0), {}, TypeError, r"\.encode\(\)"),
    ("scale", ([1.0, "x"], 1.0), {}, TypeError, "elements of"),
    ("scale", (F32, 1.0), {"out": np.zeros(3)}, TypeError, "`out`.*float32.*float64"),
    ("scale", (F32, 1.0), {"out": [0]}, TypeError, "`out`.*list"),
    ("at", (I32, 1.5), {}, TypeError, r"integer.*float.*int\(…\)"),
    ("at", (I32, True), {}, TypeError, "integer.*bool"),
    ("at", (I32, 2**40), {}, ValueError, "from -2147483648 to 2147483647"),
    ("at", (np.array([2**40]), 0), {"cast": True}, ValueError, "1099511627776"),
    ("at", ([1.5], 0), {}, TypeError, "float64"),
    ("at", ([2**70], 0), {}, ValueError, "`X`"),
    ("at", (I32, 3), {}, novac.ExecutionError, "index 3 is out of range for length 3"),
    ("at", (I32, 0), {"out": I32}, TypeError, "returns int"),
    ("grid", ([[1.0], [1.0, 2.0]],), {}, ValueError, "make no array"),
    ("grid", (np.zeros(3),), {}, TypeError, "2 dimensions"),
    ("rows", ((I32, np.array([0, 2])),), {}, ValueError, "from 0 to 3"),
    ("rows", ((I32, np.array([0, 3, 1, 3])),), {}, ValueError, "rise"),
    ("rows", ((I32, np.array([0.0, 3.0])),), {}, TypeError, "offsets"),
    ("rows", ([1, 2],), {}, TypeError, "row"),
    ("pair", (3,), {}, TypeError, "tuple of 2"),
    ("pair", ((3, I32, 4),), {}, TypeError, "tuple of 2 .*has 3"),
    ("flag", (1, None), {}, TypeError, "True or False"),
    ("flag", (True, 0), {}, TypeError, "None"),
    ("small", (256,), {}, ValueError, "0 to 255"),
    ("small", (-1,), {}, ValueError, "0 to 255"),
    ("maybe", (3,), {}, TypeError, 'Variant.*"None", "Some"'),
    ("maybe", (V("Other", 3),), {}, ValueError, 'no constructor "Other".*"None", "Some"'),
    ("maybe", (V("Some", "x"),), {}, TypeError, "integer"),
    ("maybe", (V("None", 1),), {}, TypeError, "None is needed"),
    ("many", (V("None"),), {}, TypeError, "list"),
]


@pytest.mark.parametrize("entry, arguments, options, kind, words", WRONG_CALLS)
def test_wrong_calls(program, entry, arguments, options, kind, words):
    with pytest.raises(kind, match="(?s)" + words):
        program[entry](*arguments, **options)


def test_cycles(program):
    many = novac.compile(
        "(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))\n((L : (List int))) L", target="seq"
    )
    value = V("Cons", None)
    value.value = (1, value)
    with pytest.raises(ValueError, match="contains itself"):
        many(value)


def test_run_time_errors_have_places(program):
    with pytest.raises(novac.ExecutionError) as caught:
        program.at(I32, -1)
    error = caught.value
    assert (error.kind, error.code, error.place.line) == ("index", 1, 3)
    assert "(entry at" in str(error) and "^" in str(error)
    assert isinstance(error, RuntimeError) and isinstance(error, novac.Error)


@pytest.mark.parametrize("target", ["seq", "eval"])
def test_memory(target):
    vector = novac.compile("((n : int64)) (replicate n 1.0L)", target=target)
    with pytest.raises(MemoryError) as caught:
        vector(1 << 60)
    assert caught.value.kind == "memory"


def test_compile_errors():
    with pytest.raises(novac.CompileError) as caught:
        novac.compile("((X : vector int))\n(map (lambda (x) (+ x true)) Y)", name="wrong")
    error = caught.value
    assert {d.code[0] for d in error.diagnostics} == {"N"}
    unbound = next(d for d in error.diagnostics if "Y" in d.message)
    assert (unbound.place.file, unbound.place.line) == ("wrong.nova", 2)
    assert "wrong.nova:2" in str(error)
    with pytest.raises(novac.CompileError):
        novac.compile("")


def test_warnings():
    with pytest.warns(novac.CompileWarning, match="sort"):
        novac.compile("((X : vector int)) (sort (lambda (a b) (< a b)) X)", target="seq")


def test_options():
    with pytest.raises(ValueError, match="targets are seq, pthreads"):
        novac.compile("1", target="fpga")
    with pytest.raises(ValueError, match="0, 1, 2 or 3"):
        novac.compile("1", optimization=9)
    with pytest.raises(FileNotFoundError, match="nowhere.nova"):
        novac.compile("nowhere.nova")
    with pytest.raises(TypeError, match="text or a path"):
        novac.compile(3)


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("NOVA_CACHE", str(tmp_path))
    with pytest.raises(novac.ToolchainError, match="no-such-compiler"):
        novac.compile("((x : int)) (+ x 41)")
    assert novac.compile("((x : int)) (+ x 41)", target="eval")(1) == 42
