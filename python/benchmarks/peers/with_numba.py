"""The applications as loops for Numba: parallel loops over rows, threads with arrays of their own for scattered
sums, and products of matrices by BLAS.

Rows are taken as slices before an inner loop, whose index then begins at 0, so that Numba tests no index for its
sign and LLVM makes vectors. Constants have the type of the data, so that nothing is computed as double by chance.
"""

import ctypes
import glob
import math
import sys

# Intel's vector functions, where `pip install intel-cmplr-lib-rt` has put them. Numba finds what is loaded.
for library in ["libintlc.so.5", "libsvml.so"]:
    for path in glob.glob(f"{sys.prefix}/lib/{library}"):
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)

import numba  # noqa: E402
import numpy as np  # noqa: E402
import scipy.linalg.cython_blas  # noqa: E402, F401
from numba import prange  # noqa: E402
from threadpoolctl import ThreadpoolController  # noqa: E402

VERSION = numba.__version__ + (" with SVML" if numba.config.USING_SVML else "")
parallel = numba.njit(parallel=True, fastmath=True, error_model="numpy")
serial = numba.njit(fastmath=True, error_model="numpy")
SIDES = {}
BLAS = ThreadpoolController().select(user_api="blas")

F0, F1, F2 = np.float32(0), np.float32(1), np.float32(2)
FAR = np.float32(1e30)


def prepare(function, given):
    """Returns the call. The threads are Numba's, and each calls BLAS, SciPy's, for itself."""

    def call():
        with BLAS.limit(limits=1):
            return function(**given)

    return call


def side(function):
    SIDES[function.__name__] = function
    return function


@side
@parallel
def attention(Q, K, V):
    n, d = Q.shape
    m, block = K.shape[0], 64
    scale = F1 / np.float32(math.sqrt(d))
    out = np.empty((n, V.shape[1]), np.float32)
    for b in prange((n + block - 1) // block):
        # Scores of some queries stay in the cache.
        scores = np.dot(Q[b * block : (b + 1) * block], K.T)
        for i in range(scores.shape[0]):
            row = scores[i]
            most = -FAR
            for j in range(m):
                most = max(most, row[j])
            total = F0
            for j in range(m):
                row[j] = math.exp(scale * (row[j] - most))
                total += row[j]
            part = F1 / total
            for j in range(m):
                row[j] *= part
        out[b * block : (b + 1) * block] = np.dot(scores, V)
    return out


@side
@parallel
def backprop(rate, momentum, input, target, w1, w2, old1, old2):
    n, h, outputs = input.size, w1.shape[1], target.size
    threads = numba.get_num_threads()
    parts = np.zeros((threads, h), np.float32)
    for t in prange(threads):
        part = np.zeros(16, np.float32) if h == 16 else np.zeros(h, np.float32)
        for i in range(t * n // threads, (t + 1) * n // threads):
            x, w = input[i], w1[i + 1]
            for j in range(h):
                part[j] += x * w[j]
        parts[t] = part
    hidden = np.empty(h, np.float32)
    for j in range(h):
        hidden[j] = F1 / (F1 + math.exp(-(w1[0, j] + parts[:, j].sum())))
    delta_out = np.empty(outputs, np.float32)
    error_out = F0
    for o in range(outputs):
        total = w2[0, o]
        for j in range(h):
            total += hidden[j] * w2[j + 1, o]
        v = F1 / (F1 + math.exp(-total))
        delta_out[o] = v * (F1 - v) * (target[o] - v)
        error_out += abs(delta_out[o])
    delta = np.empty(h, np.float32)
    error_hidden = F0
    for j in range(h):
        back = F0
        for o in range(outputs):
            back += delta_out[o] * w2[j + 1, o]
        delta[j] = hidden[j] * (F1 - hidden[j]) * back
        error_hidden += abs(delta[j])
    new1 = np.empty_like(w1)
    for i in prange(n + 1):
        x = rate * (F1 if i == 0 else input[i - 1])
        new, w, old = new1[i], w1[i], old1[i]
        for j in range(h):
            new[j] = w[j] + (x * delta[j] + momentum * old[j])
    new2 = np.empty_like(w2)
    for j in range(h + 1):
        x = rate * (F1 if j == 0 else hidden[j - 1])
        for o in range(outputs):
            new2[j, o] = w2[j, o] + (x * delta_out[o] + momentum * old2[j, o])
    return error_out, error_hidden, new1, new2


@side
@parallel
def convolution(pictures, filters, bias):
    count, channels, height, width = pictures.shape
    outputs, _, h, w = filters.shape
    rows, columns = height - h + 1, width - w + 1
    weights = filters.reshape(outputs, channels * h * w)
    out = np.empty((count, outputs, rows, columns), np.float32)
    # The windows of some rows of a picture as columns of a matrix, and a product of matrices.
    block = 6
    blocks = (rows + block - 1) // block
    for t in prange(count * blocks):
        p, low = t // blocks, t % blocks * block
        high = min(low + block, rows)
        windows = np.empty((channels * h * w, (high - low) * columns), np.float32)
        for c in range(channels):
            for i in range(h):
                for j in range(w):
                    to = windows[(c * h + i) * w + j]
                    for y in range(high - low):
                        row, part = pictures[p, c, low + y + i, j:], to[y * columns :]
                        for x in range(columns):
                            part[x] = row[x]
        sums = np.dot(weights, windows)
        for o in range(outputs):
            for y in range(high - low):
                row, part, b = out[p, o, low + y], sums[o, y * columns :], bias[o]
                for x in range(columns):
                    row[x] = max(F0, part[x] + b)
    return out


@side
@parallel
def covariance(data):
    n, m = data.shape
    threads = numba.get_num_threads()
    parts = np.zeros((threads, m))
    for t in prange(threads):
        part = parts[t]
        for i in range(t * n // threads, (t + 1) * n // threads):
            row = data[i]
            for j in range(m):
                part[j] += row[j]
    means = parts.sum(axis=0) / n
    # Columns as rows, whose products are those of blocks. Half of the blocks are enough.
    centred = np.empty((m, n))
    block = 100
    blocks = (m + block - 1) // block
    for b in prange(blocks):
        for i in range(n):
            for j in range(b * block, min(b * block + block, m)):
                centred[j, i] = data[i, j] - means[j]
    out = np.empty((m, m))
    for t in prange(blocks * (blocks + 1) // 2):
        a = int((math.sqrt(8.0 * t + 1) - 1) / 2)
        b = t - a * (a + 1) // 2
        rows, columns = slice(a * block, min(a * block + block, m)), slice(b * block, min(b * block + block, m))
        product = np.dot(centred[rows], centred[columns].T) / (n - 1)
        out[rows, columns] = product
        out[columns, rows] = product.T
    return out


TILE = 64


@serial
def join_tiles(c, a, b, unrolled):
    """Paths of one step in `a` and then one in `b`. Four nodes at once, where `c` is neither of the two."""
    for i in range(TILE):
        to, first = c[i], a[i]
        if unrolled:
            for k in range(0, TILE, 8):
                a0, a1, a2, a3 = first[k], first[k + 1], first[k + 2], first[k + 3]
                a4, a5, a6, a7 = first[k + 4], first[k + 5], first[k + 6], first[k + 7]
                b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
                b4, b5, b6, b7 = b[k + 4], b[k + 5], b[k + 6], b[k + 7]
                for j in range(TILE):
                    p = min(np.int32(a0 + b0[j]), np.int32(a1 + b1[j]))
                    q = min(np.int32(a2 + b2[j]), np.int32(a3 + b3[j]))
                    r = min(np.int32(a4 + b4[j]), np.int32(a5 + b5[j]))
                    s = min(np.int32(a6 + b6[j]), np.int32(a7 + b7[j]))
                    to[j] = min(to[j], min(min(p, q), min(r, s)))
        else:
            for k in range(TILE):
                f, row = first[k], b[k]
                for j in range(TILE):
                    to[j] = min(to[j], np.int32(f + row[j]))


@serial
def close_tile(c):
    for k in range(TILE):
        row = c[k]
        for i in range(TILE):
            to, f = c[i], c[i, k]
            for j in range(TILE):
                to[j] = min(to[j], np.int32(f + row[j]))


@side
@parallel
def floyd_warshall(lengths):
    n = lengths.shape[0]
    count = (n + TILE - 1) // TILE
    tiles = np.full((count, count, TILE, TILE), np.int32(1 << 29), np.int32)
    for t in prange(count * count):
        rows, columns = t // count * TILE, t % count * TILE
        part = lengths[rows : rows + TILE, columns : columns + TILE]
        tiles[t // count, t % count, : part.shape[0], : part.shape[1]] = part
    for k in range(count):
        close_tile(tiles[k, k])
        for t in prange(2 * count):
            if t // 2 != k:
                if t % 2 == 0:
                    join_tiles(tiles[k, t // 2], tiles[k, k], tiles[k, t // 2], False)
                else:
                    join_tiles(tiles[t // 2, k], tiles[t // 2, k], tiles[k, k], False)
        for i in prange(count):
            if i != k:
                for j in range(count):
                    if j != k:
                        join_tiles(tiles[i, j], tiles[i, k], tiles[k, j], True)
    out = np.empty_like(lengths)
    for t in prange(count * count):
        rows, columns = t // count * TILE, t % count * TILE
        part = out[rows : rows + TILE, columns : columns + TILE]
        part[:] = tiles[t // count, t % count, : part.shape[0], : part.shape[1]]
    return out


@side
@parallel
def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    n = A.shape[0]
    B = np.empty_like(A)
    threads = numba.get_num_threads()
    parts = np.zeros((threads, n))
    for t in prange(threads):
        part = parts[t]
        for i in range(t * n // threads, (t + 1) * n // threads):
            row, to = A[i], B[i]
            p, q, weight = u1[i], u2[i], beta * y[i]
            for j in range(n):
                value = row[j] + (p * v1[j] + q * v2[j])
                to[j] = value
                part[j] += weight * value
    x = z + parts.sum(axis=0)
    w = np.empty(n)
    for i in prange(n):
        row = B[i]
        total = 0.0
        for j in range(n):
            total += row[j] * x[j]
        w[i] = alpha * total
    return B, x, w


@side
@parallel
def histogram(bins, pixels):
    threads = numba.get_num_threads()
    counts = np.zeros((threads, bins), np.int32)
    n = pixels.size
    for t in prange(threads):
        own = counts[t]
        for pixel in pixels[t * n // threads : (t + 1) * n // threads]:
            own[np.uint32(pixel)] += 1
    out = np.empty(bins, np.uint8)
    for k in prange(bins):
        total = 0
        for t in range(threads):
            total += counts[t, k]
        out[k] = min(255, total)
    return out


@serial
def heat(t, left, right, above, below, power, rx, ry, rz, cap):
    return t + cap * (power + (ry * (above + below - F2 * t) + (rx * (left + right - F2 * t) + rz * (np.float32(80) - t))))


@side
@parallel
def hotspot(steps, rx, ry, rz, cap, power, start):
    n, m = start.shape
    old, new = start.copy(), np.empty_like(start)
    for _ in range(steps):
        for i in prange(n):
            row, up, down = old[i], old[max(i - 1, 0)], old[min(i + 1, n - 1)]
            to, p = new[i], power[i]
            for j in (0, m - 1):
                left, right = row[max(j - 1, 0)], row[min(j + 1, m - 1)]
                to[j] = heat(row[j], left, right, up[j], down[j], p[j], rx, ry, rz, cap)
            inner, right, up, down, to, p = row[1:-1], row[2:], up[1:-1], down[1:-1], to[1:-1], p[1:-1]
            for j in range(m - 2):
                to[j] = heat(inner[j], row[j], right[j], up[j], down[j], p[j], rx, ry, rz, cap)
        old, new = new, old
    return old


@side
@parallel
def jacobi_2d(steps, A):
    n, m = A.shape
    old, new = A.copy(), A.copy()
    for _ in range(steps):
        for i in prange(1, n - 1):
            left, right, up, down = old[i], old[i, 2:], old[i - 1, 1:], old[i + 1, 1:]
            middle, to = old[i, 1:], new[i, 1:]
            for j in range(m - 2):
                to[j] = 0.2 * (middle[j] + ((left[j] + right[j]) + (up[j] + down[j])))
        old, new = new, old
    return old


@side
@parallel
def kmeans(rounds, points, start):
    n, d = points.shape
    k = start.shape[0]
    threads = numba.get_num_threads()
    centres, members = start.copy(), np.full(n, -1, np.int32)
    sums, sizes = np.empty((threads, k, d), np.float32), np.empty((threads, k), np.int64)
    moved = np.empty(threads, np.int64)
    for _ in range(rounds):
        for t in prange(threads):
            own, size, changes = sums[t], sizes[t], 0
            own[:] = F0
            size[:] = 0
            for i in range(t * n // threads, (t + 1) * n // threads):
                point = points[i]
                best, at = FAR, k
                for c in range(k):
                    centre = centres[c]
                    total = F0
                    for j in range(d):
                        difference = point[j] - centre[j]
                        total += difference * difference
                    if total < best:
                        best, at = total, c
                changes += members[i] != at
                members[i] = at
                size[at] += 1
                sum = own[at]
                for j in range(d):
                    sum[j] += point[j]
            moved[t] = changes
        for c in range(k):
            size = sizes[:, c].sum()
            if size > 0:
                for j in range(d):
                    centres[c, j] = sums[:, c, j].sum() / np.float32(size)
        if moved.sum() == 0:
            break
    return centres, members


@side
@parallel
def leapfrog(steps, dt, masses, places, velocities):
    n = masses.size
    P, V = places.copy(), velocities.copy()
    for _ in range(steps):
        px, py, pz = P[0], P[1], P[2]
        for i in prange(n):
            a = b = c = 0.0
            for j in range(n):
                x, y, z = px[j] - px[i], py[j] - py[i], pz[j] - pz[i]
                d2 = 1e-4 + (x * x + (y * y + z * z))
                w = masses[j] / (d2 * math.sqrt(d2))
                a += w * x
                b += w * y
                c += w * z
            V[0, i] += dt * a
            V[1, i] += dt * b
            V[2, i] += dt * c
        for i in prange(n):
            P[0, i] += dt * V[0, i]
            P[1, i] += dt * V[1, i]
            P[2, i] += dt * V[2, i]
    return P, V


PANEL = 64


@serial
def factor_panel(panel):
    """The factors of some columns, from their diagonal down."""
    columns = panel.shape[1]
    for k in range(columns):
        inverse, above = F1 / panel[k, k], panel[k, k + 1 :]
        for i in range(k + 1, panel.shape[0]):
            factor = panel[i, k] * inverse
            panel[i, k] = factor
            row = panel[i, k + 1 :]
            for j in range(columns - k - 1):
                row[j] -= factor * above[j]


@side
@parallel
def lu(A):
    n = A.shape[0]
    A = A.copy()
    threads = numba.get_num_threads()
    for low in range(0, n, PANEL):
        high = min(low + PANEL, n)
        depth = high - low
        # Columns that lie close together, since rows a power of two apart share a place in the cache.
        panel = A[low:, low:high].copy()
        factor_panel(panel)
        A[low:, low:high] = panel
        rest = n - high
        for t in prange(2 * threads):
            first, last = high + rest * t // (2 * threads), high + rest * (t + 1) // (2 * threads)
            upper = A[low:high, first:last].copy()
            for k in range(depth):
                above = upper[k]
                for i in range(k + 1, depth):
                    factor, row = panel[i, k], upper[i]
                    for j in range(last - first):
                        row[j] -= factor * above[j]
            A[low:high, first:last] = upper
            product = np.dot(panel[depth:], upper)
            for i in range(rest):
                row, by = A[high + i, first:last], product[i]
                for j in range(last - first):
                    row[j] -= by[j]
    return A


LANES = 64


@side
@parallel
def mandelbrot(width, height, most, left, top, scale):
    out = np.empty((height, width), np.int32)
    for i in prange(height):
        cy = top - scale * np.float32(i)
        cx, x, y = np.empty(LANES, np.float32), np.empty(LANES, np.float32), np.empty(LANES, np.float32)
        count = np.empty(LANES, np.int32)
        for first in range(0, width, LANES):
            for j in range(LANES):
                cx[j] = left + scale * np.float32(first + j)
                x[j] = y[j] = F0
                count[j] = 0
            done = 0
            while done < most:
                inside = np.int32(0)
                # A count that stays behind is final.
                for j in range(LANES):
                    a, b = x[j], y[j]
                    aa, bb = a * a, b * b
                    here = aa + bb <= np.float32(4)
                    x[j] = cx[j] + (aa - bb) if here else a
                    y[j] = cy + F2 * (a * b) if here else b
                    count[j] += np.int32(here)
                    inside |= np.int32(here)
                done += 1
                if inside == 0:
                    break
            row = out[i, first : first + LANES]
            for j in range(row.size):
                row[j] = count[j]
    return out


@side
@parallel
def mri_q(kx, ky, kz, phi_re, phi_im, x, y, z):
    magnitude = phi_re * phi_re + phi_im * phi_im
    n, samples = x.size, kx.size
    re, im = np.empty(n, np.float32), np.empty(n, np.float32)
    for i in prange(n):
        a, b, c = x[i], y[i], z[i]
        r = s = F0
        for k in range(samples):
            angle = np.float32(6.2831853) * (kx[k] * a + (ky[k] * b + kz[k] * c))
            r += magnitude[k] * math.cos(angle)
            s += magnitude[k] * math.sin(angle)
        re[i], im[i] = r, s
    return re, im


@side
@parallel
def nearest_records(count, latitude, longitude, records):
    n = records.shape[1]
    threads = numba.get_num_threads()
    distances = np.full((threads, count), FAR, np.float32)
    numbers = np.full((threads, count), n, np.int32)
    for t in prange(threads):
        distance, number = distances[t], numbers[t]
        end = (t + 1) * n // threads
        squares = np.empty(256, np.float32)
        for first in range(t * n // threads, end, 256):
            a, b = records[0, first : min(first + 256, end)], records[1, first : min(first + 256, end)]
            least = FAR
            for k in range(a.size):
                x, y = a[k] - latitude, b[k] - longitude
                squares[k] = x * x + y * y
                least = min(least, squares[k])
            if least >= distance[count - 1]:
                continue
            for k in range(a.size):
                if squares[k] < distance[count - 1]:
                    at = count - 1
                    while at > 0 and distance[at - 1] > squares[k]:
                        distance[at], number[at] = distance[at - 1], number[at - 1]
                        at -= 1
                    distance[at], number[at] = squares[k], first + k
    order = np.argsort(distances.ravel(), kind="mergesort")[: min(count, n)]
    return np.sqrt(distances.ravel()[order]), numbers.ravel()[order]


@side
@parallel
def pagerank(rounds, pages, links):
    source, target = links[0], links[1]
    n, threads = source.size, numba.get_num_threads()
    # The links by the page that they lead to, by counting.
    out, starts = np.zeros(pages, np.int32), np.zeros(pages + 1, np.int32)
    for k in range(n):
        out[source[k]] += 1
        starts[target[k] + 1] += 1
    for k in range(pages):
        starts[k + 1] += starts[k]
    by_target, free = np.empty(n, np.int32), starts[:-1].copy()
    for k in range(n):
        by_target[free[target[k]]] = source[k]
        free[target[k]] += 1
    rank, share = np.full(pages, 1 / pages), np.empty(pages)
    first = np.searchsorted(starts, np.arange(threads + 1) * (n // threads)) if n > 0 else np.zeros(threads + 1, np.int64)
    first[0], first[threads] = 0, pages
    for _ in range(rounds):
        lost = 0.0
        for k in prange(pages):
            if out[k] == 0:
                lost += rank[k]
                share[k] = 0.0
            else:
                share[k] = rank[k] / out[k]
        for t in prange(threads):
            for k in range(first[t], first[t + 1]):
                got = 0.0
                for link in range(starts[k], starts[k + 1]):
                    got += share[by_target[link]]
                rank[k] = 0.15 / pages + 0.85 * (got + lost / pages)
    return rank


@serial
def first_of_row(a, b, c, spheres, best, at):
    """How far the rays of a row go from the eye, and to which spheres."""
    best[:] = FAR
    at[:] = 0
    for k in range(spheres.shape[1]):
        cx, cy, cz, radius = spheres[0, k], spheres[1, k], spheres[2, k], spheres[3, k]
        within, number = radius * radius - (cx * cx + (cy * cy + cz * cz)), np.int32(k)
        for j in range(a.size):
            along = cx * a[j] + (cy * b[j] + cz * c[j])
            inside = within + along * along
            near = along - np.sqrt(max(inside, F0))
            distance = near if (inside >= F0) & (near > np.float32(0.001)) else FAR
            old, old_number = best[j], at[j]
            nearer = distance < old
            best[j] = distance if nearer else old
            at[j] = number if nearer else old_number


@serial
def shadows_of_row(x, y, z, u, v, w, spheres, best):
    """How far one goes from the places of a row toward the lamp."""
    best[:] = FAR
    for k in range(spheres.shape[1]):
        cx, cy, cz, radius = spheres[0, k], spheres[1, k], spheres[2, k], spheres[3, k]
        within = radius * radius
        for j in range(x.size):
            p, q, r = cx - x[j], cy - y[j], cz - z[j]
            along = p * u[j] + (q * v[j] + r * w[j])
            inside = within - ((p * p + (q * q + r * r)) - along * along)
            near = along - np.sqrt(max(inside, F0))
            distance = near if (inside >= F0) & (near > np.float32(0.001)) else FAR
            best[j] = min(best[j], distance)


@side
@parallel
def spheres(width, height, spheres, lamp):
    out = np.empty((height, width), np.float32)
    for i in prange(height):
        # A row of pixels at once, so that vectors hold neighbours: rays, places, and directions to the lamp.
        a, b, c = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
        x, y, z = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
        u, v, w = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
        best, at, shade = np.empty(width, np.float32), np.empty(width, np.int32), out[i]
        down = (np.float32(height - 1) / F2 - np.float32(i)) / np.float32(width)
        middle, inverse = np.float32(width - 1) / F2, F1 / np.float32(width)
        for j in range(width):
            right = (np.float32(j) - middle) * inverse
            part = F1 / np.float32(math.sqrt(right * right + (down * down + F1)))
            a[j], b[j], c[j] = part * right, part * down, part
        first_of_row(a, b, c, spheres, best, at)
        for j in range(width):
            k, distance = np.uint32(at[j]), best[j] if best[j] < FAR else F0
            x[j], y[j], z[j] = distance * a[j], distance * b[j], distance * c[j]
            p, q, r = x[j] - spheres[0, k], y[j] - spheres[1, k], z[j] - spheres[2, k]
            part = F1 / np.float32(math.sqrt(p * p + (q * q + r * r)))
            d, e, f = lamp[0] - x[j], lamp[1] - y[j], lamp[2] - z[j]
            toward = F1 / np.float32(math.sqrt(d * d + (e * e + f * f)))
            u[j], v[j], w[j] = d * toward, e * toward, f * toward
            light = max(np.float32(0.1), part * toward * (p * d + (q * e + r * f)))
            shade[j] = light if best[j] < FAR else F0
        shadows_of_row(x, y, z, u, v, w, spheres, best)
        for j in range(width):
            shade[j] = min(shade[j], np.float32(0.1)) if best[j] < FAR else shade[j]
    return out
