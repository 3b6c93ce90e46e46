"""Packages of plain C: what they take and return, without the compiler."""

import json
import os
import subprocess
import sys
import textwrap

import novac
import pytest

PROGRAM = """
; Twice each element.
(entry twice ((X : vector float) (s : float)) (map (lambda (x) (* 2f (* s x))) X))
(entry at ((X : vector int) (i : int)) (X ! i))
(entry scalars ((a : uint8) (b : int64) (c : double) (d : bool) (u : unit)) (d, a, b, (c, u)))
(entry nothing ((x : int)) ())
(entry turned ((M : vector#2 double)) (transpose M))
(entry cube ((M : vector#3 bool)) (update M (0, 0, 0) false))
(entry rows ((R : vector (vector int))) (map (lambda (r) (map (+ 1) r)) R))
(entry deep ((R : vector (vector (vector double)))) R)
(entry pairs ((T : vector (int, (double, bool)))) (map (lambda (t) t) T))
(entry mixed ((p : (int, (vector float, vector#2 int), vector (vector int)))) p)
(entry class ((lambda' : int) (out : vector int)) (map (+ lambda') out))
(entry evens ((X : vector int)) (filter (lambda (x) (= 0 (% x 2))) X))
(entry memory ((n : int64)) (replicate n 1.0L))
"""

FILES = [
    "MANIFEST.in", "__init__.py", "_arrays.py", "_calls.py", "_errors.py", "_program.py", "_values.py",
    "forms.c", "forms.h", "interface.py", "pyproject.toml", "setup.py",
]  # fmt: skip

PREAMBLE = """
import gc, pydoc, sys, threading
sys.modules["novac"] = None  # Not to be imported.
import numpy as np
import forms

def fails(kind, words, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("no error")
"""


@pytest.fixture(scope="module", params=["seq", "pthreads"])
def package(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    made = novac.build(PROGRAM, name="forms", directory=folder, target=request.param)
    assert made == folder / "forms"
    assert sorted(path.name for path in made.iterdir() if path.suffix != ".so") == FILES
    return made


def run(directory, text, preamble=PREAMBLE):
    """Runs Python where a package can be imported."""
    environment = os.environ | {"PYTHONPATH": str(directory), "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/nowhere"}
    command = [sys.executable, "-W", "error", "-c", preamble + textwrap.dedent(text)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_forms(package):
    run(
        package.parent,
        """
        f32 = np.arange(4, dtype=np.float32)
        result = forms.twice(f32, s=0.5)
        assert result.dtype == np.float32 and result.tolist() == [0, 1, 2, 3] and result.flags.writeable
        assert forms.twice([], 1).shape == (0,)
        assert forms.scalars(200, np.int64(-5), 2, True, None) == (True, 200, -5, (2.0, None))
        assert forms.nothing(1) is None
        turned = forms.turned(np.arange(6.0).reshape(2, 3))
        assert turned.tolist() == [[0, 3], [1, 4], [2, 5]] and turned.dtype == np.float64
        assert forms.turned(np.zeros((0, 3))).shape == (3, 0)
        cube = np.arange(8).reshape(2, 2, 2) % 3 == 0
        cleared = forms.cube(cube)
        cube[0, 0, 0] = False
        assert np.array_equal(cleared, cube) and cleared.dtype == bool

        rows = forms.rows((np.arange(3, dtype=np.int32), np.array([0, 2, 2, 3])))
        assert rows.data.tolist() == [1, 2, 3] and rows.offsets[0].tolist() == [0, 2, 2, 3]
        assert forms.rows([[1], [2, 3]]).to_list() == [[2], [3, 4]] and forms.rows([]).to_list() == []
        deep = [[[1.0], [2.0, 3.0]], [], [[]]]
        assert forms.deep(deep).to_list() == deep and forms.deep(forms.deep(deep)).to_list() == deep

        pairs = forms.pairs([(1, (2.5, True)), (3, (4.5, False))])
        assert pairs["e0"].tolist() == [1, 3] and pairs["e1"]["e0"].tolist() == [2.5, 4.5]
        assert pairs["e1"]["e1"].tolist() == [True, False]
        assert np.array_equal(forms.pairs(pairs), pairs)

        grid = np.arange(6, dtype=np.int32).reshape(3, 2)
        number, (vector, array), nested = forms.mixed((7, (f32, grid), [[1, 2], [], [3]]))
        assert number == 7 and vector.tolist() == f32.tolist() and np.array_equal(array, grid)
        assert nested.to_list() == [[1, 2], [], [3]] and nested.offsets[0].tolist() == [0, 2, 2, 3]
        assert forms.mixed((7, (f32[:0], grid[:0]), []))[2].to_list() == []

        assert forms.class_(lambda_=1, out_=[1, 2]).tolist() == [2, 3]
        text = pydoc.render_doc(forms.twice, renderer=pydoc.plaintext)
        assert "Twice each element." in text and "twice : vector float -> float -> vector float" in text
        """,
    )


def test_results_own_their_memory(package):
    run(
        package.parent,
        """
        kept = []
        for n in range(1000):
            part = forms.mixed((n, (np.full(10, n, np.float32), np.full((2, 5), n, np.int32)), [[n]]))
            kept += [part[1][0], part[1][1], part[2].data, forms.evens([n, 2 * n])]
        gc.collect()
        for n, (vector, array, data, evens) in enumerate(zip(*[iter(kept)] * 4)):
            assert (vector == n).all() and (array == n).all() and data.tolist() == [n] and evens[-1] == 2 * n
        first = forms.twice(np.ones(1000, np.float32), 1)
        address = first.__array_interface__["data"][0]
        view = first[10:20]
        del first
        assert view.__array_interface__["data"][0] == address + 40 and (view == 2).all()

        found = []
        work = lambda: found.append(forms.twice(np.ones(100000, np.float32), 1).sum())
        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert found == [200000] * 8
        """,
    )


def test_out(package):
    run(
        package.parent,
        """
        out = np.zeros(6, np.int32)
        result = forms.evens([1, 2, 3, 4], out=out)
        assert result.tolist() == [2, 4] and result.base is not None and out[:2].tolist() == [2, 4]
        square = np.zeros((2, 2))
        assert forms.turned([[1.0, 2.0], [3.0, 4.0]], out=square) is square and square[0, 1] == 3
        fails(ValueError, "", forms.turned, np.zeros((3, 3)), out=square)
        fails(TypeError, "must be a writable array of 1 dimensions of int32", forms.evens, [1], out=np.zeros(3))
        fails(TypeError, "`at` returns int", forms.at, [1], 0, out=out)
        """,
    )


WRONG_CALLS = """
    f32, i32 = np.zeros(3, np.float32), np.zeros(3, np.int32)
    fails(TypeError, "`X` of `twice` is vector float, an array of float32; this one is of float64", forms.twice, np.zeros(3), 1)
    assert forms.twice(np.ones(3), 1, cast=True).tolist() == [2, 2, 2]
    fails(TypeError, "in the order of C", forms.twice, np.zeros(6, np.float32)[::2], 1)
    fails(TypeError, "in the order of C", forms.turned, np.zeros((2, 3)).T)
    fails(TypeError, "2 dimensions; this one has the shape (3,)", forms.turned, np.zeros(3))
    fails(TypeError, "missing 1 required positional argument: 's'", forms.twice, f32)
    fails(TypeError, "`s` of `twice` is float: a number is needed, not a str", forms.twice, f32, "2")
    fails(TypeError, "an integer is needed, not a float; int(…)", forms.at, i32, 1.5)
    fails(TypeError, "an integer is needed, not a bool", forms.at, i32, True)
    fails(ValueError, "int holds integers from -2147483648 to 2147483647", forms.at, i32, 2**40)
    fails(ValueError, "uint8 holds integers from 0 to 255, and this one is -1", forms.scalars, -1, 0, 0, True, None)
    fails(TypeError, "True or False is needed, not an int", forms.scalars, 1, 0, 0, 1, None)
    fails(TypeError, "pass None, not an int", forms.scalars, 1, 0, 0, True, 0)
    fails(TypeError, "a tuple of 3 is needed, not an int", forms.mixed, 3)
    fails(TypeError, "a tuple of 3 is needed, this one has 2", forms.mixed, (3, 4))
    fails(ValueError, "from 0 to 3", forms.rows, (i32, np.array([0, 2])))
    fails(ValueError, "rise", forms.rows, (i32, np.array([0, 3, 1, 3])))
"""


def test_wrong_calls(package):
    run(package.parent, WRONG_CALLS)


def test_wrong_calls_are_those_of_compiled_programs(tmp_path):
    forms = novac.compile(PROGRAM, name="forms", target="seq")
    scope = {"forms": forms}
    exec(PREAMBLE.replace('sys.modules["novac"] = None', "").replace("import forms", ""), scope)
    exec(textwrap.dedent(WRONG_CALLS), scope)


def test_run_time_errors_are_those_of_compiled_programs(package):
    calls = ["at([1, 2], 2)", "at([1, 2], -1)", "memory(1 << 60)", "memory(-1)"]
    compiled = novac.compile(PROGRAM, name="forms", target="seq")
    expected = []
    for call in calls:
        with pytest.raises(novac.ExecutionError) as caught:
            eval(call, {"at": compiled.at, "memory": compiled.memory})
        error = caught.value
        place = error.place and str(error.place)
        expected.append([str(error), error.message, error.kind, error.code, place, isinstance(error, MemoryError)])
    printed = run(
        package.parent,
        f"""
        import json
        found = []
        for call in {calls!r}:
            try:
                eval("forms." + call)
            except forms.ExecutionError as error:
                place = error.place and str(error.place)
                found.append([str(error), error.message, error.kind, error.code, place, isinstance(error, MemoryError)])
                assert isinstance(error, forms.MemoryExhausted) == isinstance(error, MemoryError)
        print(json.dumps(found))
        """,
    )
    assert json.loads(printed) == expected
    assert [row[2] for row in expected] == ["index", "index", "memory", "negative"]
    assert "(entry at" in expected[0][0] and "^" in expected[0][0]


def test_long_lines_are_cut_alike(tmp_path):
    text = "((X : vector int)) " + "(+ 0 " * 60 + "(X ! 5)" + ")" * 60
    compiled = novac.compile(text, name="long", target="seq")
    with pytest.raises(novac.ExecutionError) as caught:
        compiled([1])
    novac.build(text, name="long", directory=tmp_path)
    printed = run(
        tmp_path,
        """
        import long
        try:
            long.long([1])
        except long.ExecutionError as error:
            print(error)
        """,
        preamble="",
    )
    assert printed.rstrip("\n") == str(caught.value) and "…" in printed


def test_installed_by_pip(package, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-build-isolation"]
    # Its own folder, since pip builds where the sources are.
    subprocess.run(["cp", "-r", package, tmp_path / "sources"], check=True)
    for extension in (tmp_path / "sources").glob("_native*"):
        extension.unlink()
    command = [*pip, "--no-deps", "--target", tmp_path / "site", tmp_path / "sources"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    run(tmp_path / "site", "assert forms.evens([1, 2, 4]).tolist() == [2, 4]")


def test_foreign_functions(tmp_path):
    text = "(foreign (triple : int -> int))\n((x : int)) (triple x)"
    with pytest.raises(novac.UnsupportedError, match=r"triple.*link="):
        novac.build(text, name="foreign", directory=tmp_path)
    source = tmp_path / "triple.c"
    source.write_text('#include "foreign.h"\nvoid triple(int32_t *r, int32_t x) { *r = 3 * x; }\n')
    novac.build(text, name="foreign", directory=tmp_path, link=[source])
    run(tmp_path, "import foreign; assert foreign.foreign(14) == 42", preamble="")


def test_files_and_replacing(tmp_path):
    (tmp_path / "lib.nova").write_text("(define (square (lambda (x) (* x x))))")
    (tmp_path / "a-program.nova").write_text('(import "lib.nova")\n(import "std/vectors")\n((X : vector int)) (square (sum X))')
    made = novac.build(tmp_path / "a-program.nova", directory=tmp_path / "new")
    assert made == tmp_path / "new" / "a_program" and (made / "a-program.c").exists()
    run(made.parent, "import a_program; assert a_program.a_program([1, 2]) == 9", preamble="")
    novac.build("((x : int)) x", name="a_program", directory=tmp_path / "new")
    run(made.parent, "import a_program; assert a_program.a_program(3) == 3", preamble="")
    assert sorted(p.name for p in made.parent.iterdir()) == ["a_program"]
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError, match="novac.build has not made it"):
        novac.build("((x : int)) x", name="mine", directory=tmp_path)


REFUSED = [
    ("(types (Maybe 'a : (+ (None : unit) (Some : 'a))))\n((m : (Maybe int))) 1", {}, novac.UnsupportedError, r"argument `m` of `made` is \(Maybe int\).*novac\.compile"),
    ("(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))\n((x : (List int))) x", {}, novac.UnsupportedError, "List.*novac.compile"),
    ("((X : vector int)) (map (lambda (x) (x, [x x])) X)", {}, novac.UnsupportedError, "the result of `made`.*novac.compile"),
    ("((x : int)) (+ x", {}, novac.CompileError, "made.nova"),
    ("((x : int)) x", {"target": "opencl"}, ValueError, "seq and pthreads, not 'opencl'"),
    ("((x : int)) x", {"name": "a-b"}, ValueError, "'a-b'.*name="),
    ("((x : int)) x", {"name": "class"}, ValueError, "'class'.*name="),
    ("((x : int)) x", {"optimization": 7}, ValueError, "0, 1, 2 or 3"),
    ("((x : int)) x", {"link": ["a.o"]}, ValueError, r"C sources \(.c\), and a.o"),
    ("((x : int)) x", {"link": ["nowhere.c"]}, FileNotFoundError, "nowhere.c"),
    ("nowhere.nova", {}, FileNotFoundError, "nowhere.nova"),
    ("((x : int)) x", {"flags": ["--no-such-flag"]}, novac.ToolchainError, "no-such-flag"),
]


@pytest.mark.parametrize("text, options, kind, words", REFUSED)
def test_refused(text, options, kind, words, tmp_path):
    with pytest.raises(kind, match="(?s)" + words):
        novac.build(text, directory=tmp_path, **{"name": "made", **options})
    assert not list(tmp_path.iterdir())


def test_missing_parts(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(novac.ToolchainError, match=r"cffi and setuptools: pip install 'novac\[build\]'"):
        novac.build("((x : int)) x", name="made", directory=tmp_path)
