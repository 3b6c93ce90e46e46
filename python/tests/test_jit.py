"""Traced functions have NumPy's values."""

import novac
import numpy as np
import pytest
from novac._trace import Traced

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=50)
Y = RANDOM.normal(size=50)
I = RANDOM.integers(-9, 9, 50)  # noqa: E741
M = RANDOM.normal(size=(5, 7))
N = RANDOM.normal(size=(7, 4))
C = RANDOM.normal(size=(3, 4, 5))
B = X > 0


def agree(function, *arguments, **options):
    """Compares a function with its traced form."""
    expected = function(*arguments)
    traced = novac.jit(function, target="seq", **options)
    found = traced(*arguments)
    several = isinstance(expected, tuple)
    for e, f in zip(expected, found) if several else [(expected, found)]:
        e = np.asarray(e)
        assert np.shape(f) == e.shape
        assert np.asarray(f).dtype == e.dtype or e.ndim == 0
        np.testing.assert_allclose(f, e, rtol=1e-12, atol=1e-12)
    return traced


BY_ELEMENT = [
    lambda x, y: x + y * 2 - 1 / (y * y + 1),
    lambda x, y: np.sin(x) * np.exp(-y) + np.sqrt(abs(x)),
    lambda x, y: np.maximum(x, y) - np.minimum(x, 0.5),
    lambda x, y: np.where(x > y, x, 0) + np.where((x > 0) & ~(y > 0), 1.0, y),
    lambda x, y: (x**2, x**3.0, x // y, x % y, -x),
    lambda x, y: np.clip(x, -0.5, 0.5) + np.floor(y) + np.sign(x),
    lambda x, y: np.arctan2(x, y) + np.tanh(x) + np.arcsin(np.clip(y, -1, 1)),
    lambda x, y: (x < y, x == x, np.logical_xor(x > 0, y > 0), np.isnan(x)),
    lambda x, y: x.astype(np.float32) * np.float32(2),
    lambda x, y: np.zeros_like(x) + np.ones_like(y) + (x - x.mean()),
]


@pytest.mark.parametrize("function", BY_ELEMENT)
def test_elements(function):
    agree(function, X, Y)
    agree(function, M, M[::-1].copy())
    if function not in BY_ELEMENT[-2:]:
        agree(function, 0.7, 0.2)


@pytest.mark.parametrize(
    "function",
    [
        lambda i: (i // 3, i % 3, i // -3, i % -3, i**3, i / 2),
        lambda i: (i & 6, i | 1, i ^ 5, ~i, (i & 7) << 2, i >> 1),
        lambda i: (abs(i), np.sign(i), np.maximum(i, 2), i.astype(np.int8), i * True),
        lambda i: np.sqrt(i * i),
        lambda i: (i.sum(), i.prod(), i.min(), i.max(), i.mean(), (i > 3).sum(), i.argmin(), i.argmax()),
        lambda i: (np.any(i > 8), np.all(i < 10), np.cumsum(i), np.cumprod(i % 2 + 1)),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(function, dtype):
    agree(function, I.astype(dtype))


REDUCTIONS = [
    lambda m: m.sum(),
    lambda m: m.sum(axis=0),
    lambda m: m.sum(axis=-1),
    lambda m: m.max(axis=1) - m.min(axis=1),
    lambda m: np.mean(m, axis=0),
    lambda m: m - m.mean(axis=1, keepdims=True),
    lambda m: np.cumsum(m, axis=0),
    lambda m: np.cumsum(m, axis=1),
    lambda m: np.cumsum(m),
    lambda m: m.T,
    lambda m: np.transpose(m).sum(axis=0),
    lambda m: np.all(m < 9, axis=0),
    lambda m: m.ravel() * 2,
    lambda m: m * m[0],
    lambda m: m / m[:, 0:1],
    lambda m: m.sum(axis=(0, 1)),
]


@pytest.mark.parametrize("function", REDUCTIONS)
def test_reductions(function):
    agree(function, M)
    if function not in (REDUCTIONS[13], REDUCTIONS[14]):
        agree(function, C)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[3] + x[-1],
        lambda x: x[1:] - x[:-1],
        lambda x: x[2:-2:3],
        lambda x: x[::-1],
        lambda x: x[np.array([3, -1, 0])],
        lambda x: x[:, None] * x[None, :],
        lambda x: x[..., 1:],
        lambda x: x[40:10],
        lambda x: len(x) * x + x.shape[0],
        lambda x: x.reshape(5, 10).sum(axis=0),
        lambda x: x.reshape(5, -1)[1:4, ::2],
    ],
)
def test_indexing(function):
    agree(function, X)


@pytest.mark.parametrize(
    "function", [lambda m: m[1], lambda m: m[:, 2], lambda m: m[1:3, ::2], lambda m: m[-1, 3], lambda m: m[[2, 0]]]
)
def test_indexing_matrices(function):
    agree(function, M)
    agree(lambda i: novac.take(M, i) if not isinstance(i, int) else M[i], 2)


def test_stencils():
    agree(lambda m: m[1:-1, 1:-1] * 4 - m[:-2, 1:-1] - m[2:, 1:-1] - m[1:-1, :-2] - m[1:-1, 2:], M)


def test_matrices():
    agree(lambda a, b: a @ b, M, N)
    agree(lambda a, b: a @ b[:, 0], M, N)
    agree(lambda a, b: a[0] @ b, M, N)
    agree(lambda x, y: np.dot(x, y) + x @ y, X, Y)
    with pytest.raises(ValueError, match="broadcast"):
        novac.jit(lambda a, b: b @ a)(M, N)


def test_vmap():
    agree(lambda m: np.stack([row.sum() for row in m]) if isinstance(m, np.ndarray) else novac.vmap(np.sum)(m), M)
    norms = novac.jit(novac.vmap(lambda row: (row / np.sqrt((row * row).sum()), row.max())), target="seq")
    unit, most = norms(M)
    np.testing.assert_allclose(unit, M / np.linalg.norm(M, axis=1, keepdims=True))
    np.testing.assert_allclose(most, M.max(axis=1))
    pairs = novac.jit(lambda p, q: novac.vmap(lambda a: novac.vmap(lambda b: ((a - b) ** 2).sum())(q))(p))
    found = pairs(M, M[:3])
    np.testing.assert_allclose(found, ((M[:, None] - M[None, :3]) ** 2).sum(-1))
    np.testing.assert_allclose(novac.vmap(lambda row: row.sum())(M), M.sum(axis=1))
    rows = novac.jit(lambda x: novac.vmap(lambda k: x[0] * k)(np.arange(3.0)))
    np.testing.assert_allclose(rows(X), X[0] * np.arange(3))
    scaled = novac.jit(lambda x, s: novac.vmap(lambda a: a * s)(x))
    np.testing.assert_allclose(scaled(X, 3.0), X * 3)


def test_loops():
    @novac.jit
    def power(a, n):
        return novac.iterate(n, lambda v: (a @ v) / np.sqrt((v * v).sum()), np.ones_like(a[0]))

    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    v = power(a, 50)
    np.testing.assert_allclose(a @ v, v * np.linalg.eigvalsh(a)[1] , rtol=1e-6)

    @novac.jit
    def collatz(n):
        return novac.while_loop(
            lambda s: s[0] != 1, lambda s: (np.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
        )[1]

    assert collatz(27) == 111

    @novac.jit(static=("limit",))
    def escapes(x, y, limit):
        def step(s):
            a, b, n = s
            inside = a * a + b * b <= 4
            return np.where(inside, a * a - b * b + x, a), np.where(inside, 2 * a * b + y, b), n + inside

        return novac.iterate(limit, step, (x * 0, y * 0, np.zeros_like(x).astype(np.int64)))[2]

    counts = escapes(np.array([0.0, 1.0, -0.5]), np.zeros(3), limit=30)
    assert counts.tolist() == [30, 3, 30]


def test_one_program_for_all_sizes():
    traced = agree(lambda x, y: x + y, X, Y)
    for count in [0, 2, 1000]:
        assert len(traced(np.ones(count), np.ones(count))) == count
    assert len(traced._compiled) == 1
    traced(np.ones(1), np.ones(1))
    traced(np.ones(5, np.float32), np.ones(5, np.float32))
    assert len(traced._compiled) == 3
    assert "vector double" in traced.source(X, Y)


def test_equal_extents_that_differ_later():
    traced = agree(lambda x, y: x[1:] + y, X, Y[1:])
    np.testing.assert_allclose(traced(X, Y[:1]), X[1:] + Y[0])
    with pytest.raises(ValueError, match="broadcast"):
        traced(X, X)
    np.testing.assert_allclose(traced(X[:3], Y[:2]), X[1:3] + Y[:2])


def test_captured_arrays_and_tuples():
    table = np.arange(10.0)
    traced = novac.jit(lambda i: (novac.take(table, i) + 1, 7, [i, i]), target="seq")
    found, seven, pair = traced(np.array([1, 2]))
    assert found.tolist() == [2, 3] and seven == 7 and len(pair) == 2
    assert novac.jit(lambda x: x.sum() + table.sum())(1.0) == 46


def test_captured_arrays_keep_their_extents():
    table = np.arange(10.0)
    last = novac.jit(lambda x: x.sum() + novac.take(table, -1), target="seq")
    added = novac.jit(lambda x: x + table, target="seq")
    assert added(np.ones(10)).tolist() == (table + 1).tolist()
    with pytest.raises(ValueError, match="broadcast"):
        added(np.ones(20))
    for count in [10, 20, 3]:
        assert last(np.ones(count)) == count + 9
    assert novac.take(table, [-1, 2]).tolist() == [9, 2]


def test_errors_point_at_python():
    @novac.jit(target="seq")
    def wrong(x, i):
        y = x * 2
        return y[i]

    with pytest.raises(novac.ExecutionError) as caught:
        wrong(X, 99)
    place = caught.value.place
    assert place.file == "test_jit.py" and place.line == wrong.__wrapped__.__code__.co_firstlineno + 3
    assert "return y[i]" in str(caught.value)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: x if x.sum() > 0 else -x, "numpy.where"),
        (lambda x: range(x.sum()), "static"),
        (lambda x: np.linalg.norm(x), "no numpy.norm"),
        (lambda x: x[x > 0], "numpy.where"),
        (lambda x: x[0, 0], "too many indices"),
        (lambda x: np.fft.fft(x), "no numpy.fft"),
        (lambda x: x.astype(complex), "complex"),
        (lambda x: (x > 0) - (x < 0), "subtract of bool"),
    ],
)
def test_what_cannot_be_traced(function, words):
    with pytest.raises((TypeError, IndexError, KeyError), match=words):
        novac.jit(function)(X)


def test_loops_need_a_trace():
    with pytest.raises(TypeError, match="jit"):
        novac.iterate(3, lambda x: x, 1.0)


def test_leaks_are_found():
    kept = []
    novac.jit(lambda x: kept.append(x) or x, target="seq")(X)
    with pytest.raises(TypeError, match="outside"):
        novac.jit(lambda x: x + kept[0], target="seq")(X)


def test_first_of_an_axis():
    values = RANDOM.integers(-3, 3, (6, 5)).astype(float)
    values[1, 2] = values[1, 4] = values[4, 0] = np.nan
    whole = RANDOM.integers(-3, 3, (4, 3, 5))
    for axis in [0, 1, -1]:
        agree(lambda x, a=axis: (x.argmin(axis=a), np.argmax(x, a)), values)
        agree(lambda x, a=axis: (x.argmin(axis=a), np.argmax(x, axis=a)), whole)
    agree(lambda x: (x.argmin(), x.argmax()), values)


SHAPES = [(0, 3), (3, 0), (1, 3), (0, 2, 3), (2, 0, 3), (1, 3, 1), (2, 3, 4)]
"""Extents of zero and one stand in each place."""

OF_ANY_SHAPE = {
    "sum of the first": lambda x: x.sum(axis=0),
    "sum of the last": lambda x: x.sum(axis=-1, keepdims=True),
    "sum of all": lambda x: x.sum(keepdims=True),
    "difference": lambda x: x - x.sum(axis=1, keepdims=True),
    "running sums of the first": lambda x: np.cumsum(x, axis=0),
    "running sums of the last": lambda x: np.cumsum(x, axis=-1),
    "running sums of all": lambda x: np.cumsum(x),
    "transposed": lambda x: x.T * 2,
    "broadcast": lambda x: (x[:, None] * x[None, :]).sum(axis=-1),
    "slices": lambda x: x[1:] + x[:-1],
    "flat": lambda x: x.ravel() * 3,
    "mapped": lambda x: novac.vmap(lambda row: row * 2 + 1)(x) if isinstance(x, Traced) else x * 2 + 1,
}


@pytest.mark.parametrize("name", OF_ANY_SHAPE)
def test_extents_of_zero_and_one(name):
    for shape in SHAPES:
        agree(OF_ANY_SHAPE[name], np.arange(np.prod(shape), dtype=float).reshape(shape) + 1)


def test_products_without_elements():
    for shapes in [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0, 0), (0, 0))]:
        agree(lambda x, y: x @ y, *(np.zeros(shape) for shape in shapes))
