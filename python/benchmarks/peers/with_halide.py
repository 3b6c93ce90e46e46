"""The applications that are natural for Halide: stencils and convolutions, with schedules for vectors and threads."""

import importlib.metadata
import os

import halide as hl
import numpy as np

os.environ.setdefault("HL_NUM_THREADS", os.environ.get("NOVA_NUM_THREADS", "1"))
VERSION = importlib.metadata.version("halide")
SIDES = {}
x, y, c, n = hl.vars("x y c n")


def prepare(function, given):
    """Compiles the pipeline, with the first call."""
    made = []

    def call():
        if not made:
            made.append(function(**given))
        return made[0]()

    return call


def side(function):
    SIDES[function.__name__] = function
    return function


def lanes(size):
    return hl.get_host_target().natural_vector_size(size)


def repeated(step, into, start, steps):
    """Returns a call that takes so many steps between two arrays, each of which may be the result."""

    def call():
        old, new = start, np.empty_like(start)
        for k in range(steps):
            into.set(hl.Buffer(old))
            step.realize(hl.Buffer(new))
            old, new = new, np.empty_like(start) if k == 0 else old
        return old

    return call


@side
def hotspot(steps, rx, ry, rz, cap, power, start):
    t, p, out = hl.ImageParam(hl.Float(32), 2), hl.Buffer(power), hl.Func("hotspot")
    m, rows = start.shape[1], start.shape[0]
    near = hl.BoundaryConditions.repeat_edge(t)
    along = near[x, y - 1] + near[x, y + 1] - 2.0 * near[x, y]
    across = near[x - 1, y] + near[x + 1, y] - 2.0 * near[x, y]
    rx, ry, rz, cap = (hl.f32(float(value)) for value in (rx, ry, rz, cap))
    out[x, y] = near[x, y] + cap * (p[x, y] + (ry * along + (rx * across + rz * (80.0 - near[x, y]))))
    out.bound(x, 0, m).bound(y, 0, rows)
    if m > 4 * lanes(hl.Float(32)):
        out.vectorize(x, lanes(hl.Float(32)))
    out.parallel(y, 16).compile_jit()
    return repeated(out, t, start, steps)


@side
def jacobi_2d(steps, A):
    a, out = hl.ImageParam(hl.Float(64), 2), hl.Func("jacobi")
    rows, m = A.shape
    near = hl.BoundaryConditions.repeat_edge(a)
    border = (x == 0) | (x == m - 1) | (y == 0) | (y == rows - 1)
    mean = hl.f64(0.2) * (near[x, y] + ((near[x - 1, y] + near[x + 1, y]) + (near[x, y - 1] + near[x, y + 1])))
    out[x, y] = hl.select(border, near[x, y], mean)
    out.bound(x, 0, m).bound(y, 0, rows)
    if m > 4 * lanes(hl.Float(64)):
        out.vectorize(x, lanes(hl.Float(64)))
    out.parallel(y, 16).compile_jit()
    return repeated(out, a, A, steps)


@side
def convolution(pictures, filters, bias):
    count, channels, height, width = pictures.shape
    outputs, _, h, w = filters.shape
    rows, columns = height - h + 1, width - w + 1
    by_output = np.ascontiguousarray(filters.transpose(1, 2, 3, 0))
    given, weights, b = hl.Buffer(pictures), hl.Buffer(by_output), hl.Buffer(bias)
    window = hl.RDom([(0, w), (0, h), (0, channels)])
    sums, out = hl.Func("sums"), hl.Func("convolution")
    sums[c, x, y, n] = b[c]
    # Filters lie in vectors: a register block is some of them by some places of a row.
    sums[c, x, y, n] += weights[c, window.x, window.y, window.z] * given[x + window.x, y + window.y, window.z, n]
    out[x, y, c, n] = hl.max(0.0, sums[c, x, y, n])
    vector, places = lanes(hl.Float(32)), 6
    task, xo, xi, co, ci = hl.vars("task xo xi co ci")
    out.bound(x, 0, columns).bound(y, 0, rows).bound(c, 0, outputs).bound(n, 0, count)
    out.reorder(x, c, y, n).fuse(y, n, task).parallel(task)
    out.vectorize(x, vector, hl.TailStrategy.GuardWithIf)
    sums.compute_at(out, task).bound_extent(c, outputs)
    sums.vectorize(c, vector)
    update = sums.update()
    update.split(x, xo, xi, places, hl.TailStrategy.GuardWithIf).split(c, co, ci, 2 * vector)
    update.reorder(ci, xi, window.x, window.y, window.z, xo, co).vectorize(ci, vector).unroll(ci).unroll(xi)
    out.compile_jit()

    def call(kept=by_output):  # Halide's buffers do not keep the arrays that they are over.
        result = np.empty((count, outputs, rows, columns), np.float32)
        out.realize(hl.Buffer(result))
        return result

    return call
