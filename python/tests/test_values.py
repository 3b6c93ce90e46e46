"""Values of every type go in and come back."""

import gc
import threading

import novac
import numpy as np
import pytest

TARGETS = ["pthreads", "seq", "eval"]


def identity(type_: str, target: str = "seq", definitions: str = ""):
    return novac.compile(f"{definitions}((X : {type_})) X", target=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "type_, value",
    [
        ("int8", -128),
        ("int16", -5),
        ("int", 7),
        ("int64", -(2**63)),
        ("uint8", 255),
        ("uint16", 65535),
        ("uint32", 2**32 - 1),
        ("uint64", 2**64 - 1),
        ("float", 1.5),
        ("double", 0.1),
        ("bool", True),
        ("unit", None),
        ("(int, bool)", (3, False)),
        ("(int, (double, unit))", (3, (2.5, None))),
    ],
)
def test_scalars(type_, value, target):
    returned = identity(type_, target)(value)
    assert returned == value and type(returned) is type(value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "type_, dtype",
    [
        ("int8", np.int8),
        ("int16", np.int16),
        ("int", np.int32),
        ("int64", np.int64),
        ("uint8", np.uint8),
        ("uint16", np.uint16),
        ("uint32", np.uint32),
        ("uint64", np.uint64),
        ("float", np.float32),
        ("double", np.float64),
        ("bool", np.bool_),
    ],
)
def test_arrays(type_, dtype, target):
    vector = identity(f"vector {type_}", target)
    cube = identity(f"vector#3 {type_}", target)
    for count in [0, 1, 1000]:
        array = np.arange(count).astype(dtype)
        returned = vector(array)
        assert returned.dtype == dtype and np.array_equal(returned, array)
    array = np.arange(24).astype(dtype).reshape(2, 3, 4)
    assert np.array_equal(cube(array), array)
    empty = np.zeros((3, 0, 2), dtype)
    assert cube(empty).shape == (3, 0, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_tuples_of_arrays(target):
    both = novac.compile(
        "((p : (vector double, (int, vector#2 float)))) (p.1, ((length p.0), p.0))", target=target
    )
    x, a = np.arange(5.0), np.ones((2, 2), np.float32)
    (n, b), (count, y) = both((x, (7, a)))
    assert n == 7 and count == 5 and np.array_equal(x, y) and np.array_equal(a, b)


@pytest.mark.parametrize("target", TARGETS)
def test_structures(target):
    swap = novac.compile(
        "((X : vector (double, (bool, int)))) (map (lambda ((x, (b, n))) ((n, b), x)) X)", target=target
    )
    given = swap([(1.5, (True, 2)), (2.5, (False, 3))])
    assert given.tolist() == [((2, True), 1.5), ((3, False), 2.5)]
    assert given.dtype.itemsize == 16
    again = novac.compile("((X : vector ((int, bool), double))) (map (lambda (e) e.1) X)", target=target)
    assert again(given).tolist() == [1.5, 2.5]


@pytest.mark.parametrize("target", TARGETS)
def test_nested(target):
    nested = identity("vector (vector int)", target)
    data, offsets = np.arange(5, dtype=np.int32), np.array([0, 2, 2, 5])
    expected = [[0, 1], [], [2, 3, 4]]
    for given in [
        novac.Nested(data, offsets),
        (data, offsets),
        (data, offsets.astype(np.int32)),
        expected,
        [row for row in novac.Nested(data, offsets)],
    ]:
        assert nested(given).to_list() == expected
    assert nested([]).to_list() == []
    assert nested(np.arange(6, dtype=np.int32).reshape(2, 3)).to_list() == [[0, 1, 2], [3, 4, 5]]
    deep = identity("vector (vector (vector double))", target)
    assert deep([[[1], []], [], [[2, 3]]]).to_list() == [[[1.0], []], [], [[2.0, 3.0]]]
    assert deep([]).to_list() == []


def test_nested_rows():
    rows = novac.Nested.from_rows([[1, 2], [], [3]], np.int32)
    assert len(rows) == 3 and rows[-1].tolist() == [3] and rows[0].base is not None
    assert rows[1:].to_list() == [[], [3]] and rows.lengths().tolist() == [2, 0, 1]
    deep = novac.Nested.from_rows([[[1], [2, 3]], [[]]], np.int32, levels=3)
    assert deep[0].to_list() == [[1], [2, 3]] and deep[1].to_list() == [[]]
    with pytest.raises(IndexError):
        rows[3]
    assert "3 rows" in repr(rows)


def test_awkward():
    awkward = pytest.importorskip("awkward")
    nested = identity("vector (vector double)")
    array = awkward.Array([[1.0, 2.0], [], [3.0]])
    returned = nested(array).to_awkward()
    assert returned.to_list() == array.to_list()
    assert nested(array[1:]).to_list() == [[], [3.0]]
    deep = identity("vector (vector (vector int64))")
    array = awkward.Array([[[1], []], [[2, 3]]])
    assert deep(array).to_awkward().to_list() == array.to_list()


MAYBE = "(types (Maybe 'a : (+ (None : unit) (Some : 'a))))\n"


@pytest.mark.parametrize("target", TARGETS)
def test_sums(target):
    V = novac.Variant
    maybe = identity("(Maybe (int, vector int))", target, MAYBE)
    assert maybe(V("None")) == V("None")
    returned = maybe(V("Some", (3, [1, 2])))
    match returned:
        case novac.Variant("Some", (n, X)):
            assert n == 3 and X.tolist() == [1, 2]
        case _:
            pytest.fail("another constructor")
    many = identity("vector (Maybe int)", target, MAYBE)
    given = [V("Some", 1), V("None"), V("Some", 2)]
    assert many(given) == given and many([]) == []
    square = identity("vector#2 (Maybe int)", target, MAYBE)
    returned = square([given[:2], given[1:]])
    assert returned.shape == (2, 2) and returned[1, 0] == V("None")
    assert np.array_equal(square(returned), returned)


LIST = "(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))\n"


@pytest.mark.parametrize("target", TARGETS)
def test_deep_lists(target):
    """Depth costs no stack, in either direction, and also not when the objects die."""
    V = novac.Variant
    count = 200_000
    given = V("Nil")
    for k in range(count):
        given = V("Cons", (k, given))
    returned = identity("(List int)", target, LIST)(given)
    assert returned == given
    assert repr(returned).count("Variant") <= 100
    del returned, given
    gc.collect()


def test_sharing_is_kept():
    tree = "(types (Tree : (+ (Leaf : int) (Node : (Tree, Tree)))))\n"
    value = novac.Variant("Leaf", 1)
    for _ in range(60):
        value = novac.Variant("Node", (value, value))
    depth = identity("Tree", "seq", tree)
    returned = depth(value)
    assert returned.value[0] is returned.value[1]


def test_no_copies():
    """Arrays are passed where they are, and results live where the program made them."""
    bump = novac.compile("((X : vector double)) (map (+ 1) X)")
    array = np.zeros(1_000_000)
    out = np.empty_like(array)
    assert bump(array, out=out) is out and out[-1] == 1
    result = bump(array)
    assert type(result.base).__name__ == "Memory" and result.flags.writeable and result.flags.aligned
    result[:] = 5
    assert array[0] == 0


def test_out():
    X = np.arange(5)
    evens = novac.compile("((X : vector int64)) (filter (lambda (x) (= (% x 2) 0)) X)")
    room = np.full(8, -1)
    assert evens(X, out=room).tolist() == [0, 2, 4] and room[3] == -1
    with pytest.raises(ValueError, match="3"):
        evens(X, out=np.empty(2, np.int64))
    matrix = novac.compile("((n : int)) (tabulate (n, n) (lambda ((i, j)) (+ i j)))")
    square = np.zeros((2, 2), np.int32)
    assert matrix(2, out=square) is square and square[1, 1] == 2


def test_dlpack():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    total = novac.compile("((X : vector double)) (reduce + 0 X)")
    assert total(Foreign(np.ones(4))) == 4
    assert np.from_dlpack(novac.compile("((n : int)) (range n)")(3)).tolist() == [0, 1, 2]


def test_bytes_and_lists():
    count = novac.compile("((T : vector uint8)) (length T)")
    assert count(b"hello") == 5 and count(bytearray(b"a")) == 1 and count([1, 2, 255]) == 3
    halves = novac.compile("((X : vector double)) (map (* 0.5) X)")
    assert halves([1, 2.5]).tolist() == [0.5, 1.25] and halves(range(3)).tolist() == [0, 0.5, 1]
    assert halves([]).tolist() == []


def test_cast():
    total = novac.compile("((X : vector#2 float)) (reduce + 0 (flatten X))")
    doubles = np.arange(6.0).reshape(2, 3)
    assert total(doubles, cast=True) == 15 and total(doubles.T, cast=True) == 15
    narrow = novac.compile("((X : vector int)) (reduce + 0 X)")
    assert narrow(np.array([1, 2]), cast=True) == 3
    assert narrow(np.array([1, 2], ">i4"), cast=True) == 3


def test_threads():
    """Other threads run during a call, and calls of one program run side by side."""
    work = novac.compile(
        "((n : int)) (iterate n (lambda (x) (+ (* x 1.0000001L) 1e-9L)) 1.0L)", target="seq"
    )
    results = {}

    def call(k):
        results[k] = work(2_000_000)

    threads = [threading.Thread(target=call, args=[k]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results.values())) == 1 and len(results) == 4


def test_memory_is_freed():
    resource = pytest.importorskip("resource")
    make = novac.compile("((n : int)) (map to_double (range n))")
    rows = identity("vector (vector double)")
    nested = [np.ones(1000)] * 100
    for _ in range(20):
        make(1_000_000)
        rows(nested)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        make(1_000_000)
        rows(nested)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000


@pytest.mark.parametrize("dtype, words", [(np.float32, "float"), (np.int64, "int64"), (np.bool_, "bool")])
def test_nested_vectors_in_tuples(dtype, words):
    """Rows of nested vectors that stand in a tuple come back in one array, as those of other results do."""
    pair = novac.compile(f"((X : vector (vector {words})) (Y : vector (vector (vector {words})))) (X, Y)")
    flat, deep = [[1, 0], [], [1]], [[[1], [0, 1]], [], [[]]]
    for given in [(flat, deep), ([], []), ([[]], [[], []])]:
        rows = [novac.Nested.from_rows(value, dtype, levels) for value, levels in zip(given, [2, 3])]
        for got, expected in zip(pair(*rows), rows):
            assert isinstance(got, novac.Nested)
            assert got.data.dtype == dtype
            assert np.array_equal(got.data, expected.data)
            assert len(got.offsets) == len(expected.offsets)
            for own, other in zip(got.offsets, expected.offsets):
                assert own.dtype == np.int64 and np.array_equal(own, other)
