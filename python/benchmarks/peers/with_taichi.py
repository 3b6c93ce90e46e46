"""The applications that are natural for Taichi: loops over the elements of a picture or a matrix, each of which is
one kernel over arrays of NumPy."""

import os

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, fast_math=True, cpu_max_num_threads=int(os.environ.get("NOVA_NUM_THREADS", "1")),
        log_level=ti.ERROR, offline_cache=False)  # fmt: skip
VERSION = ".".join(map(str, ti.__version__))
SIDES = {}

f32, f64, i32 = ti.f32, ti.f64, ti.i32
Floats = ti.types.ndarray(dtype=f32, ndim=1)
Picture = ti.types.ndarray(dtype=f32, ndim=2)
Matrix = ti.types.ndarray(dtype=f64, ndim=2)
Numbers = ti.types.ndarray(dtype=i32, ndim=1)
Table = ti.types.ndarray(dtype=i32, ndim=2)


def prepare(function, given):
    return lambda: function(**given)


def side(function):
    SIDES[function.__name__] = function
    return function


@ti.kernel
def count(pixels: Numbers, counts: Numbers):
    for k in range(pixels.shape[0]):
        ti.atomic_add(counts[pixels[k]], 1)


@side
def histogram(bins, pixels):
    counts = np.zeros(bins, np.int32)
    count(pixels, counts)
    return np.minimum(counts, 255).astype(np.uint8)


@ti.kernel
def heat(old: Picture, new: Picture, power: Picture, rx: f32, ry: f32, rz: f32, cap: f32):
    n, m = old.shape[0], old.shape[1]
    for i, j in ti.ndrange(n, m):
        t = old[i, j]
        along = old[ti.max(i - 1, 0), j] + old[ti.min(i + 1, n - 1), j] - 2 * t
        across = old[i, ti.max(j - 1, 0)] + old[i, ti.min(j + 1, m - 1)] - 2 * t
        new[i, j] = t + cap * (power[i, j] + (ry * along + (rx * across + rz * (80 - t))))


@side
def hotspot(steps, rx, ry, rz, cap, power, start):
    old, new = start, np.empty_like(start)
    for k in range(steps):
        heat(old, new, power, rx, ry, rz, cap)
        old, new = new, np.empty_like(start) if k == 0 else old
    return old


@ti.kernel
def means(old: Matrix, new: Matrix):
    for i in range(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = f64(0.2) * (old[i, j] + ((old[i, j - 1] + old[i, j + 1]) + (old[i - 1, j] + old[i + 1, j])))


@side
def jacobi_2d(steps, A):
    old, new = A.copy(), A.copy()
    for _ in range(steps):
        means(old, new)
        old, new = new, old
    return old


@ti.kernel
def pull(dt: f64, masses: ti.types.ndarray(dtype=f64, ndim=1), P: Matrix, V: Matrix):
    for i in range(P.shape[1]):
        a, b, c = f64(0.0), f64(0.0), f64(0.0)
        for j in range(P.shape[1]):
            x, y, z = P[0, j] - P[0, i], P[1, j] - P[1, i], P[2, j] - P[2, i]
            d2 = f64(1e-4) + (x * x + (y * y + z * z))
            w = masses[j] / (d2 * ti.sqrt(d2))
            a, b, c = a + w * x, b + w * y, c + w * z
        V[0, i] += dt * a
        V[1, i] += dt * b
        V[2, i] += dt * c


@side
def leapfrog(steps, dt, masses, places, velocities):
    P, V = places.copy(), velocities.copy()
    for _ in range(steps):
        pull(dt, masses, P, V)
        P += dt * V
    return P, V


@ti.kernel
def escape(out: Table, most: i32, left: f32, top: f32, scale: f32):
    for i, j in ti.ndrange(out.shape[0], out.shape[1]):
        cx, cy = left + scale * ti.cast(j, f32), top - scale * ti.cast(i, f32)
        x, y, k = f32(0.0), f32(0.0), 0
        while k < most and x * x + y * y <= 4:
            x, y = cx + (x * x - y * y), cy + 2 * (x * y)
            k += 1
        out[i, j] = k


@side
def mandelbrot(width, height, most, left, top, scale):
    out = np.empty((height, width), np.int32)
    escape(out, most, left, top, scale)
    return out


@ti.kernel
def samples(kx: Floats, ky: Floats, kz: Floats, weight: Floats,
            x: Floats, y: Floats, z: Floats, re: Floats, im: Floats):  # fmt: skip
    for i in range(x.shape[0]):
        r, s = f32(0.0), f32(0.0)
        for k in range(kx.shape[0]):
            angle = f32(6.2831853) * (kx[k] * x[i] + (ky[k] * y[i] + kz[k] * z[i]))
            r += weight[k] * ti.cos(angle)
            s += weight[k] * ti.sin(angle)
        re[i], im[i] = r, s


@side
def mri_q(kx, ky, kz, phi_re, phi_im, x, y, z):
    re, im = np.empty_like(x), np.empty_like(x)
    samples(kx, ky, kz, phi_re * phi_re + phi_im * phi_im, x, y, z, re, im)
    return re, im


@ti.func
def first(S: ti.template(), place, ray):
    best, at = f32(1e30), 0
    for k in range(S.shape[1]):
        to = ti.Vector([S[0, k], S[1, k], S[2, k]]) - place
        along = to.dot(ray)
        inside = S[3, k] * S[3, k] - (to.dot(to) - along * along)
        if inside >= 0:
            near = along - ti.sqrt(inside)
            if near > f32(0.001) and near < best:
                best, at = near, k
    return best, at


@ti.kernel
def cast(out: Picture, S: Picture, lamp: ti.types.vector(3, f32)):
    height, width = out.shape[0], out.shape[1]
    for i, j in ti.ndrange(height, width):
        x = (ti.cast(j, f32) - ti.cast(width - 1, f32) / 2) / ti.cast(width, f32)
        y = (ti.cast(height - 1, f32) / 2 - ti.cast(i, f32)) / ti.cast(width, f32)
        ray = ti.Vector([x, y, f32(1.0)]).normalized()
        distance, k = first(S, ti.Vector([f32(0.0), f32(0.0), f32(0.0)]), ray)
        shade = f32(0.0)
        if distance < f32(1e30):
            place = distance * ray
            normal = (place - ti.Vector([S[0, k], S[1, k], S[2, k]])).normalized()
            light = (lamp - place).normalized()
            shadow, _ = first(S, place, light)
            shade = f32(0.1) if shadow < f32(1e30) else ti.max(f32(0.1), normal.dot(light))
        out[i, j] = shade


@side
def spheres(width, height, spheres, lamp):
    out = np.empty((height, width), np.float32)
    cast(out, spheres, ti.Vector(lamp.tolist()))
    return out
