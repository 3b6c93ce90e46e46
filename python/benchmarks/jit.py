"""Compares `novac.jit` with NumPy, Numba and JAX on ten kernels.

All four run in turn, in one process, with as many threads as the machine has cores (NumPy with one, but for
products of matrices). Numba has loops written as its documentation advises; JAX gets what NumPy gets, with its
own loops. The table has the least time of each in milliseconds, the median over the rounds of the ratio to
NOVA's time of the same round, and the seconds from the first call to its result, compilation included. Each
result is compared with NumPy's.

    pip install numba jax
    python python/benchmarks/jit.py [--rounds 7] [--json FILE] [KERNELS]
"""

import argparse
import json
import math
import platform
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import novac
import numba
import numpy as np

jax.config.update("jax_enable_x64", True)
prange = numba.prange
parallel = numba.njit(parallel=True, fastmath=True)
RANDOM = np.random.default_rng(1)


def floats(*shape, dtype=np.float32):
    return RANDOM.random(shape).astype(dtype)


KERNELS = {}


def kernel(arrays, loops, **by_library):
    """Adds a kernel: a function of the library, `np` or `jnp`, or one for each, and its loops for Numba."""

    def add(function):
        KERNELS[function.__name__] = (function, loops, arrays, by_library)
        return function

    return add


@parallel
def axpy_loops(x, y):
    out = np.empty_like(x)
    for k in prange(x.size):
        out[k] = np.float32(2.5) * x[k] + y[k]
    return out


@kernel(lambda: (floats(10_000_000), floats(10_000_000)), axpy_loops)
def axpy(np, x, y):
    return np.float32(2.5) * x + y


@parallel
def distance_loops(x, y):
    total = 0.0
    for k in prange(x.size):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return math.sqrt(total)


@kernel(lambda: (floats(10_000_000, dtype=float), floats(10_000_000, dtype=float)), distance_loops)
def distance(np, x, y):
    return np.sqrt(((x - y) ** 2).sum())


@parallel
def running_mean_loops(x):
    out = np.empty(x.size - 4)
    for k in prange(x.size - 4):
        out[k] = (x[k] + x[k + 1] + x[k + 2] + x[k + 3] + x[k + 4]) / 5
    return out


@kernel(lambda: (floats(10_000_000, dtype=float),), running_mean_loops)
def running_mean(np, x):
    return (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5


@parallel
def black_scholes_loops(spot, strike, years):
    out = np.empty_like(spot)
    for k in prange(spot.size):
        width = 0.3 * math.sqrt(years[k])
        d1 = (math.log(spot[k] / strike[k]) + 0.065 * years[k]) / width
        d2 = d1 - width
        n1 = 0.5 * (1 + math.tanh(0.7978845608 * (d1 + 0.044715 * d1 * d1 * d1)))
        n2 = 0.5 * (1 + math.tanh(0.7978845608 * (d2 + 0.044715 * d2 * d2 * d2)))
        out[k] = spot[k] * n1 - strike[k] * math.exp(-0.02 * years[k]) * n2
    return out


@kernel(lambda: tuple(1 + floats(1_000_000, dtype=float) for _ in range(3)), black_scholes_loops)
def black_scholes(np, spot, strike, years):
    width = 0.3 * np.sqrt(years)
    d1 = (np.log(spot / strike) + 0.065 * years) / width
    d2 = d1 - width
    n1 = 0.5 * (1 + np.tanh(0.7978845608 * (d1 + 0.044715 * d1 * d1 * d1)))
    n2 = 0.5 * (1 + np.tanh(0.7978845608 * (d2 + 0.044715 * d2 * d2 * d2)))
    return spot * n1 - strike * np.exp(-0.02 * years) * n2


@parallel
def softmax_loops(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        top = x[i].max()
        total = np.float32(0)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@kernel(lambda: (floats(2000, 1000),), softmax_loops)
def softmax(np, x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@parallel
def nearest_loops(points, means):
    out = np.empty(points.shape[0], np.int64)
    for i in prange(points.shape[0]):
        best, at = np.inf, 0
        for k in range(means.shape[0]):
            total = 0.0
            for c in range(points.shape[1]):
                total += (points[i, c] - means[k, c]) ** 2
            if total < best:
                best, at = total, k
        out[i] = at
    return out


@kernel(lambda: (floats(200_000, 4, dtype=float), floats(16, 4, dtype=float)), nearest_loops)
def nearest(np, points, means):
    return ((points[:, None, :] - means[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)


@parallel
def layer_loops(x, weights, bias):
    out = x @ weights
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = max(out[i, j] + bias[j], 0)
    return out


@kernel(lambda: (floats(512, 512), floats(512, 512), floats(512)), layer_loops)
def layer(np, x, weights, bias):
    return np.maximum(x @ weights + bias, np.float32(0))


@parallel
def forces_loops(p):
    out = np.empty_like(p)
    for i in prange(p.shape[0]):
        x = y = z = 0.0
        for j in range(p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            d = dx * dx + dy * dy + dz * dz + 0.01
            w = 1 / (d * math.sqrt(d))
            x, y, z = x + w * dx, y + w * dy, z + w * dz
        out[i, 0], out[i, 1], out[i, 2] = x, y, z
    return out


@kernel(lambda: (floats(1500, 3, dtype=float),), forces_loops)
def forces(np, p):
    d = p[None, :, :] - p[:, None, :]
    squares = (d * d).sum(axis=2) + 0.01
    return (d * (1 / (squares * np.sqrt(squares)))[:, :, None]).sum(axis=1)


STEPS = 100


@numba.njit(parallel=True, fastmath=True)
def heat_loops(u):
    u = u.copy()
    for _ in range(STEPS):
        new = np.empty_like(u)
        n = u.size
        for k in prange(n):
            left, right = u[k - 1] if k > 0 else u[n - 1], u[k + 1] if k < n - 1 else u[0]
            new[k] = u[k] + 0.25 * (left - 2 * u[k] + right)
        u = new
    return u


def heat_step(np, u):
    at = np.arange(u.shape[0])
    return u + 0.25 * (np.take(u, at - 1) - 2 * u + np.take(u, (at + 1) % u.shape[0]))


AT = np.arange(1_000_000)
LEFT, RIGHT = (AT - 1) % AT.size, (AT + 1) % AT.size


def heat_numpy(u):
    for _ in range(STEPS):
        u = u + 0.25 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


def heat_novac(u):
    return novac.iterate(STEPS, lambda u: u + 0.25 * (novac.take(u, LEFT) - 2 * u + novac.take(u, RIGHT)), u)


def heat_jax(u):
    return jax.lax.fori_loop(0, STEPS, lambda _, u: u + 0.25 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)), u)


@kernel(lambda: (floats(1_000_000, dtype=float),), heat_loops, numpy=heat_numpy, novac=heat_novac, jax=heat_jax)
def heat(np, u):
    raise NotImplementedError


DEPTH = 100


@parallel
def mandelbrot_loops(x, y):
    out = np.empty((y.size, x.size), np.int64)
    for i in prange(y.size):
        for j in range(x.size):
            a = b = 0.0
            count = 0
            while count < DEPTH and a * a + b * b <= 4:
                a, b = a * a - b * b + x[j], 2 * a * b + y[i]
                count += 1
            out[i, j] = count
    return out


def mandelbrot_numpy(x, y):
    c = x[None, :] + 1j * y[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for _ in range(DEPTH):
        inside = z.real**2 + z.imag**2 <= 4
        count += inside
        z[inside] = z[inside] ** 2 + c[inside]
    return count


def mandelbrot_novac(x, y):
    def point(cx, cy):
        return novac.while_loop(
            lambda s: (s[2] < DEPTH) & (s[0] * s[0] + s[1] * s[1] <= 4),
            lambda s: (s[0] * s[0] - s[1] * s[1] + cx, 2 * s[0] * s[1] + cy, s[2] + 1),
            (cx * 0, cx * 0, np.int64(0)),
        )[2]

    return novac.vmap(lambda cy: novac.vmap(lambda cx: point(cx, cy))(x))(y)


def mandelbrot_jax(x, y):
    def point(cx, cy):
        return jax.lax.while_loop(
            lambda s: (s[2] < DEPTH) & (s[0] * s[0] + s[1] * s[1] <= 4),
            lambda s: (s[0] * s[0] - s[1] * s[1] + cx, 2 * s[0] * s[1] + cy, s[2] + 1),
            (cx * 0, cx * 0, 0),
        )[2]

    return jax.vmap(lambda cy: jax.vmap(lambda cx: point(cx, cy))(x))(y)


@kernel(lambda: (np.linspace(-2, 1, 512), np.linspace(-1.5, 1.5, 512)), mandelbrot_loops,
        numpy=mandelbrot_numpy, novac=mandelbrot_novac, jax=mandelbrot_jax)  # fmt: skip
def mandelbrot(np, x, y):
    raise NotImplementedError


def sides(name):
    """Returns NumPy's arguments, and each side's function, by its name."""
    function, loops, arrays, own = KERNELS[name]
    given = arrays()
    on_device = [jnp.asarray(array) for array in given]
    numpy = own.get("numpy", lambda *a: function(np, *a))
    traced = novac.jit(own.get("novac", lambda *a: function(np, *a)), target="pthreads")
    jitted = jax.jit(own.get("jax", lambda *a: function(jnp, *a)))
    return {
        "novac": lambda: traced(*given),
        "numpy": lambda: numpy(*given),
        "numba": lambda: loops(*given),
        "jax": lambda: jax.block_until_ready(jitted(*on_device)),
    }


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def measure(name, rounds):
    """Returns the times in seconds and the first of them, by side. Results that differ are an error."""
    calls = sides(name)
    first, times, results = {}, {side: [] for side in calls}, {}
    for side, call in calls.items():
        first[side], results[side] = timed(call)
    for side, result in results.items():
        np.testing.assert_allclose(np.asarray(result), results["numpy"], rtol=2e-4, atol=1e-5, err_msg=side)
    for _ in range(rounds):
        for side, call in calls.items():
            times[side].append(timed(call)[0])
    return {"first_s": first, "times_s": times}


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    options = parser.parse_args()
    print(f"{processor()}; Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
          f"JAX {jax.__version__}, {numba.get_num_threads()} threads")  # fmt: skip
    order = ["novac", "numpy", "numba", "jax"]
    print(f"{'kernel':14}" + "".join(f"{side + ' ms':>10}" for side in order)
          + "".join(f"{side + ' ×':>9}" for side in order[1:]) + "".join(f"{side + ' 1st':>11}" for side in order))  # fmt: skip
    record, ratios = {}, {side: [] for side in order[1:]}
    for name in options.kernels:
        found = record[name] = measure(name, options.rounds)
        times = found["times_s"]
        line = f"{name:14}" + "".join(f"{1000 * min(times[side]):10.2f}" for side in order)
        for side in order[1:]:
            ratios[side].append(statistics.median(t / n for t, n in zip(times[side], times["novac"])))
            line += f"{ratios[side][-1]:9.2f}"
        print(line + "".join(f"{found['first_s'][side]:11.2f}" for side in order))
        sys.stdout.flush()
    means = "".join(f"{statistics.geometric_mean(found):9.2f}" for found in ratios.values())
    print(f"{'geometric mean':54}{means}")
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"processor": processor(), "kernels": record}, out, indent=1)


if __name__ == "__main__":
    main()
