"""Programs as a whole: names, help, files, caches."""

import inspect
import pydoc

import novac
import numpy as np
import pytest


def test_a_program_of_one_expression():
    dot = novac.compile("; The dot product.\n((X : vector double) (Y : vector double)) (reduce + 0 (map * X Y))")
    assert dot(np.ones(3), Y=np.full(3, 2.0)) == 6
    assert "The dot product." in dot.__doc__ and repr(dot) == "program : vector double -> vector double -> double"


def test_entries_are_functions():
    program = novac.compile(
        "; Twice as much.\n(entry double_it ((x : int)) (* 2 x))\n(entry lambda' ((class : int)) class)", target="seq"
    )
    assert list(program.entries) == ["double_it", "lambda'"]
    assert program.double_it(x=4) == 8 and program.lambda_(5) == 5 and program["lambda'"](class_=6) == 6
    text = pydoc.render_doc(program.double_it, renderer=pydoc.plaintext)
    assert "Twice as much." in text and "double_it : int -> int" in text
    signature = inspect.signature(program.double_it)
    assert list(signature.parameters) == ["x", "out", "cast"] and signature.return_annotation == "int"
    with pytest.raises(TypeError, match="double_it, lambda'"):
        program(1)
    with pytest.raises(AttributeError, match="double_it"):
        program.nothing
    with pytest.raises(KeyError, match="double_it"):
        program["nothing"]


def test_inputs_named_like_options():
    assert novac.compile("((out : int) (cast : int)) (- out cast)", target="seq")(out_=5, cast_=3) == 2


def test_files_and_imports(tmp_path):
    (tmp_path / "lib.nova").write_text("(define (square (lambda (x) (* x x))))")
    (tmp_path / "prog.nova").write_text('(import "lib.nova")\n((x : int)) (square x)')
    assert novac.compile(tmp_path / "prog.nova", target="seq")(3) == 9
    assert novac.compile(str(tmp_path / "prog.nova"), target="seq")(3) == 9
    text = '(import "lib.nova")\n(import "std/vectors")\n((X : vector int)) (square (sum X))'
    assert novac.compile(text, folder=tmp_path, target="seq")([1, 2]) == 9


def test_foreign_functions(tmp_path):
    source = tmp_path / "twice.c"
    source.write_text("#include <stdint.h>\nvoid twice(int32_t *r, int32_t x);\nvoid twice(int32_t *r, int32_t x) { *r = 2 * x; }\n")
    program = novac.compile("(foreign (twice : int -> int))\n((x : int)) (twice x)", link=[source], target="seq")
    assert program(21) == 42


def test_targets_agree():
    text = "((X : vector double)) (scan + 0 (map (lambda (x) (* x x)) X))"
    X = np.linspace(0, 1, 1001)
    expected = np.cumsum(X * X)
    for target in ["seq", "pthreads", "eval"]:
        for strict in [False, True]:
            result = novac.compile(text, target=target, strict=strict)(X)
            assert np.allclose(result, expected, rtol=1e-12)


def test_opencl():
    text = "((X : vector float)) (map (lambda (x) (* x 2)) X)"
    try:
        program = novac.compile(text, target="opencl")
        assert program(np.ones(1000, np.float32)).sum() == 2000
    except (novac.ToolchainError, novac.ExecutionError) as error:
        pytest.skip(f"no OpenCL here: {error}")
