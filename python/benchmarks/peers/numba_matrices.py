"""The applications on matrices for Numba: loops over blocks, whose products are BLAS's."""

import math

import numpy as np
from numba_loops import F0, F1, FAR, numba, parallel, prange, serial, side


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
