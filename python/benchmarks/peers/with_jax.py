"""The applications for JAX on the processor: whole arrays, `lax` loops, products by `jnp`, one `jit` each."""

import os
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, PartitionSpec

DEVICES = int(os.environ.get("NOVA_NUM_THREADS", "1"))
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", DEVICES)
MESH = jax.make_mesh((DEVICES,), ("rows",), axis_types=(AxisType.Auto,))
VERSION = jax.__version__
SIDES = {}
STATIC = ("width", "height", "most", "steps", "rounds", "pages", "bins", "count")
"""The numbers that are constants of a compilation, as those that decide shapes have to be."""


def prepare(function, given):
    static = {name: value for name, value in given.items() if name in STATIC}
    on_device = {name: jnp.asarray(value) for name, value in given.items() if name not in STATIC}
    compiled = jax.jit(partial(function, **static))
    return lambda: jax.block_until_ready(compiled(**on_device))


def over_rows(row, values):
    """Maps a function of a row of a picture. Each device, a thread of the processor, has a part of the rows."""
    rows = PartitionSpec("rows")
    if values.size % DEVICES != 0:
        return lax.map(row, values)
    divided = jax.shard_map(lambda part: lax.map(row, part), mesh=MESH, in_specs=rows, out_specs=rows, check_vma=False)
    return divided(values)


def side(function):
    SIDES[function.__name__] = function
    return function


@side
def attention(Q, K, V):
    scores = Q @ K.T * (1 / jnp.sqrt(jnp.float32(Q.shape[1])))
    return jax.nn.softmax(scores, axis=1) @ V


@side
def backprop(rate, momentum, input, target, w1, w2, old1, old2):
    def forward(x, w):
        return jax.nn.sigmoid(w[0] + x @ w[1:])

    def adjusted(w, delta, x, old):
        with_one = jnp.concatenate([jnp.ones(1, x.dtype), x])
        return w + (rate * delta * with_one[:, None] + momentum * old)

    hidden = forward(input, w1)
    output = forward(hidden, w2)
    delta_out = output * (1 - output) * (target - output)
    delta_hidden = hidden * (1 - hidden) * (w2[1:] @ delta_out)
    c1, c2 = adjusted(w1, delta_hidden, input, old1), adjusted(w2, delta_out, hidden, old2)
    return jnp.abs(delta_out).sum(), jnp.abs(delta_hidden).sum(), c1, c2


@side
def convolution(pictures, filters, bias):
    sums = lax.conv_general_dilated(pictures, filters, (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return jnp.maximum(sums + bias[:, None, None], 0)


@side
def covariance(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1)


@side
def floyd_warshall(lengths):
    def step(k, D):
        return jnp.minimum(D, lax.dynamic_index_in_dim(D, k, 1) + lax.dynamic_index_in_dim(D, k, 0))

    return lax.fori_loop(0, lengths.shape[0], step, lengths)


@side
def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    B = A + u1[:, None] * v1 + u2[:, None] * v2
    x = beta * (y @ B) + z
    return B, x, alpha * (B @ x)


@side
def histogram(bins, pixels):
    return jnp.minimum(jnp.zeros(bins, jnp.int32).at[pixels].add(1, mode="promise_in_bounds"), 255).astype(jnp.uint8)


@side
def hotspot(steps, rx, ry, rz, cap, power, start):
    def step(_, t):
        p = jnp.pad(t, 1, mode="edge")
        across, along = p[1:-1, :-2] + p[1:-1, 2:], p[:-2, 1:-1] + p[2:, 1:-1]
        return t + cap * (power + (ry * (along - 2 * t) + (rx * (across - 2 * t) + rz * (80 - t))))

    return lax.fori_loop(0, steps, step, start)


@side
def jacobi_2d(steps, A):
    def step(_, a):
        inner = 0.2 * (a[1:-1, 1:-1] + ((a[1:-1, :-2] + a[1:-1, 2:]) + (a[:-2, 1:-1] + a[2:, 1:-1])))
        rows = jnp.concatenate([a[1:-1, :1], inner, a[1:-1, -1:]], axis=1)
        return jnp.concatenate([a[:1], rows, a[-1:]])

    return lax.fori_loop(0, steps, step, A)


@side
def kmeans(rounds, points, start):
    n, k = points.shape[0], start.shape[0]

    def next_(state):
        centres, members, _, round = state
        # The square of a point is the same for all centres.
        distances = (centres * centres).sum(axis=1) - 2 * points @ centres.T
        now = distances.argmin(axis=1).astype(jnp.int32)
        one_of = (now[None, :] == jnp.arange(k, dtype=jnp.int32)[:, None]).astype(jnp.float32)
        sizes, sums = one_of.sum(axis=1), one_of @ points
        centres = jnp.where(sizes[:, None] > 0, sums / jnp.maximum(sizes, 1)[:, None], centres)
        return centres, now, (now != members).sum(), round + 1

    start = (start, jnp.full(n, -1, jnp.int32), jnp.int64(1), 0)
    return lax.while_loop(lambda s: (s[2] > 0) & (s[3] < rounds), next_, start)[:2]


@side
def leapfrog(steps, dt, masses, places, velocities):
    def step(_, state):
        P, V = state

        # What one body adds to all: whole vectors that stay in the cache, instead of a matrix of all pairs.
        def add(j, forces):
            x, y, z = (P[c, j] - P[c] for c in range(3))
            d2 = 1e-4 + (x * x + (y * y + z * z))
            w = masses[j] / (d2 * jnp.sqrt(d2))
            return forces[0] + w * x, forces[1] + w * y, forces[2] + w * z

        forces = lax.fori_loop(0, masses.size, add, (jnp.zeros_like(masses),) * 3)
        V = V + dt * jnp.stack(forces)
        return P + dt * V, V

    return lax.fori_loop(0, steps, step, (places, velocities))


@side
def lu(A):
    # The largest element of each column is on the diagonal, so that pivots exchange nothing.
    return lax.linalg.lu(A)[0]


@side
def mandelbrot(width, height, most, left, top, scale):
    def row(cy):
        cx = left + scale * jnp.arange(width, dtype=jnp.float32)

        def step(state):
            x, y, count, k, _ = state
            inside = x * x + y * y <= 4
            following = jnp.where(inside, cx + (x * x - y * y), x), jnp.where(inside, cy + 2 * (x * y), y)
            return *following, count + inside.astype(jnp.int32), k + 1, inside.any()

        zero = jnp.zeros_like(cx)
        start = (zero, zero, jnp.zeros(width, jnp.int32), 0, True)
        return lax.while_loop(lambda s: (s[3] < most) & s[4], step, start)[2]

    return over_rows(row, top - scale * jnp.arange(height, dtype=jnp.float32))


@side
def mri_q(kx, ky, kz, phi_re, phi_im, x, y, z):
    magnitude = phi_re * phi_re + phi_im * phi_im

    # What one sample adds to all voxels: no matrix of all pairs.
    def add(k, sums):
        angle = jnp.float32(6.2831853) * (kx[k] * x + (ky[k] * y + kz[k] * z))
        return sums[0] + magnitude[k] * jnp.cos(angle), sums[1] + magnitude[k] * jnp.sin(angle)

    return lax.fori_loop(0, kx.size, add, (jnp.zeros_like(x), jnp.zeros_like(x)))


@side
def nearest_records(count, latitude, longitude, records):
    x, y = records[0] - latitude, records[1] - longitude
    found, numbers = lax.top_k(-jnp.sqrt(x * x + y * y), count)
    return -found, numbers


@side
def pagerank(rounds, pages, links):
    source, target = links
    out = jnp.zeros(pages, jnp.int32).at[source].add(1, mode="promise_in_bounds")

    def round(_, rank):
        share = jnp.where(out > 0, rank / out, 0)
        got = jnp.zeros(pages).at[target].add(share.at[source].get(mode="promise_in_bounds"), mode="promise_in_bounds")
        lost = jnp.where(out == 0, rank, 0).sum()
        return 0.15 / pages + 0.85 * (got + lost / pages)

    return lax.fori_loop(0, rounds, round, jnp.full(pages, 1 / pages))


@side
def spheres(width, height, spheres, lamp):
    far = jnp.float32(1e30)

    def unit(v):
        return v / jnp.sqrt(sum(c * c for c in v))

    def nearest(place, ray):
        def step(k, state):
            best, at = state
            to = [spheres[c, k] - place[c] for c in range(3)]
            along = sum(t * r for t, r in zip(to, ray))
            inside = spheres[3, k] ** 2 - (sum(t * t for t in to) - along * along)
            near = along - jnp.sqrt(jnp.maximum(inside, 0))
            distance = jnp.where((inside >= 0) & (near > 0.001), near, far)
            return jnp.minimum(best, distance), jnp.where(distance < best, k, at)

        start = jnp.full(ray.shape[1:], far), jnp.zeros(ray.shape[1:], jnp.int32)
        return lax.fori_loop(jnp.int32(0), jnp.int32(spheres.shape[1]), step, start)

    def row(i):
        x = (jnp.arange(width, dtype=jnp.float32) - jnp.float32(width - 1) / 2) / width
        y = jnp.full(width, (jnp.float32(height - 1) / 2 - i) / width)
        ray = unit(jnp.stack([x, y, jnp.ones_like(x)]))
        distance, k = nearest(jnp.zeros((3, 1), jnp.float32), ray)
        place = jnp.where(distance < far, distance, 0) * ray
        normal, light = unit(place - spheres[:3, k]), unit(lamp[:, None] - place)
        shadow, _ = nearest(place, light)
        lit = jnp.maximum(jnp.float32(0.1), (normal * light).sum(axis=0))
        return jnp.where(distance >= far, 0, jnp.where(shadow < far, jnp.float32(0.1), lit))

    return over_rows(row, jnp.arange(height, dtype=jnp.float32))
