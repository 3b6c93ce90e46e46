"""The applications that `applications.py` measures, their sizes, and their inputs.

Sizes and distributions are those of `bench --applications` (`tests/src/bench/applications/table.rs`). The first
size is one that a cache holds. Inputs are NumPy's arrays by the names of the program's inputs. A vector of tuples
is an array with a row for each part, which is the best layout for the peers. `as_nova` converts it.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """How far floats may differ, over the largest of their array, and the part of elements that may differ more."""

    relative: float
    outliers: float = 0.0


@dataclass(frozen=True)
class Application:
    """A program of `nova-examples/applications`."""

    sizes: tuple[int, int]
    tiny: int
    """The size that `--check` takes."""
    draw: object
    """A function of the random numbers and the size that returns the inputs."""
    tolerance: Tolerance
    tuples: tuple[str, ...] = ()
    """The inputs that are vectors of tuples, or tuples."""


FLOATS = Tolerance(1e-4)
DOUBLES = Tolerance(1e-9)
DECISIONS = Tolerance(1e-3, 1e-3)
EDGES = Tolerance(1e-3, 0.02)
APPLICATIONS: dict[str, Application] = {}


def application(sizes, tiny, tolerance, tuples=()):
    """Adds an application, whose name is that of the function that draws its inputs."""

    def add(draw):
        APPLICATIONS[draw.__name__] = Application(sizes, tiny, draw, tolerance, tuples)
        return draw

    return add


def draw(name, size):
    """Returns the inputs of a program, the same ones in each run."""
    return APPLICATIONS[name].draw(np.random.default_rng(1), size)


def as_nova(name, value, application):
    """Returns an input in the form that NOVA takes without a copy."""
    if name not in application.tuples:
        return value
    if value.ndim == 1:
        return tuple(value.tolist())
    fields = np.dtype([(f"e{k}", value.dtype) for k in range(len(value))])
    return np.ascontiguousarray(value.T).view(fields).reshape(-1)


def floats(random, shape, low, high):
    return random.uniform(low, high, shape).astype(np.float32)


@application((512, 2048), 33, FLOATS)
def attention(random, n):
    return {name: floats(random, (n, 64), -1, 1) for name in "QKV"}


@application((1 << 16, 1 << 20), 100, FLOATS)
def backprop(random, n):
    return {
        "rate": np.float32(0.3),
        "momentum": np.float32(0.3),
        "input": floats(random, n, 0, 1),
        "target": floats(random, 1, 0, 1),
        "w1": floats(random, (n + 1, 16), -0.01, 0.01),
        "w2": floats(random, (17, 1), -1, 1),
        "old1": floats(random, (n + 1, 16), 0, 0.01),
        "old2": floats(random, (17, 1), 0, 0.01),
    }


@application((1, 8), 0, FLOATS)
def convolution(random, n):
    count, channels, outputs, extent = (n, 64, 64, 56) if n > 0 else (2, 3, 32, 18)
    return {
        "pictures": floats(random, (count, channels, extent, extent), -1, 1),
        "filters": floats(random, (outputs, channels, 3, 3), -0.1, 0.1),
        "bias": floats(random, outputs, -1, 1),
    }


@application((240, 1200), 24, DOUBLES)
def covariance(random, n):
    return {"data": random.random((n + n // 6, n))}


@application((256, 1024), 70, Tolerance(0))
def floyd_warshall(random, n):
    return {"lengths": random.integers(0, 1000, (n, n), dtype=np.int32)}


@application((400, 4000), 21, DOUBLES)
def gemver(random, n):
    vectors = {name: random.random(n) for name in ["u1", "v1", "u2", "v2", "y", "z"]}
    return {"alpha": 1.5, "beta": 1.2, "A": random.random((n, n)), **vectors}


@application((1 << 20, 1 << 24), 10_000, Tolerance(0))
def histogram(random, n):
    bins = 1 << 16 if n > 100_000 else 16
    pixels = (random.uniform(0, 0.25, (4, n)).sum(axis=0) * bins).astype(np.int32)
    return {"bins": bins, "pixels": pixels}


@application((512, 2048), 17, FLOATS)
def hotspot(random, n):
    return {
        "steps": 3 if n < 100 else max(60 * 512 * 512 // (n * n), 2),
        "rx": np.float32(0.2),
        "ry": np.float32(0.1),
        "rz": np.float32(0.05),
        "cap": np.float32(0.3),
        "power": floats(random, (n, n), 0, 1),
        "start": floats(random, (n, n), 70, 90),
    }


@application((250, 1300), 17, DOUBLES)
def jacobi_2d(random, n):
    return {"steps": 5 if n < 100 else 40, "A": random.random((n, n))}


@application((10_000, 100_000), 500, DECISIONS)
def kmeans(random, n):
    centres = random.integers(0, 10, (5, 34)).astype(np.float32)

    def around(count):
        return centres[np.arange(count) % 5] + floats(random, (count, 34), -1, 1)

    return {"rounds": 10, "points": around(n), "start": around(5)}


@application((1000, 8000), 50, DOUBLES, ("places", "velocities"))
def leapfrog(random, n):
    return {
        "steps": 3 if n < 100 else max(8_000_000 // (n * n), 1),
        "dt": 0.001,
        "masses": random.uniform(0.1, 1, n),
        "places": random.uniform(-1, 1, (3, n)),
        "velocities": random.uniform(-0.1, 0.1, (3, n)),
    }


@application((256, 1024), 70, Tolerance(1e-3))
def lu(random, n):
    # Without pivots, the diagonal has to be large.
    return {"A": floats(random, (n, n), -1, 1) + np.float32(n) * np.eye(n, dtype=np.float32)}


@application((256, 1024), 32, EDGES)
def mandelbrot(random, n):
    return {
        "width": n,
        "height": n,
        "most": 256,
        "left": np.float32(-2.2),
        "top": np.float32(1.5),
        "scale": np.float32(3 / n),
    }


@application((4096, 32_768), 50, Tolerance(1e-3))
def mri_q(random, n):
    count = 2048 if n > 100 else 70
    samples = {name: floats(random, count, -0.5, 0.5) for name in ["kx", "ky", "kz", "phi_re", "phi_im"]}
    return samples | {name: floats(random, n, -1, 1) for name in "xyz"}


@application((42_764, 1 << 20), 3000, FLOATS, ("records",))
def nearest_records(random, n):
    records = np.stack([floats(random, n, 0, 90), floats(random, n, 0, 180)])
    return {"count": 10, "latitude": np.float32(30), "longitude": np.float32(90), "records": records}


@application((1 << 14, 1 << 18), 300, DOUBLES, ("links",))
def pagerank(random, n):
    count = 16 * n
    popular = (random.random(count) ** 3 * n).astype(np.int32)
    return {"rounds": 10, "pages": n, "links": np.stack([random.integers(0, n, count, dtype=np.int32), popular])}


@application((256, 1024), 16, EDGES, ("spheres", "lamp"))
def spheres(random, n):
    drawn = [floats(random, 64, low, high) for low, high in [(-3, 3), (-3, 3), (4, 12), (0.1, 0.6)]]
    return {"width": n, "height": n, "spheres": np.stack(drawn), "lamp": np.array([5, 8, -2], np.float32)}
