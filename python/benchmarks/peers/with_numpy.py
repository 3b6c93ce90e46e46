"""The applications for which NumPy or SciPy have a form that a user would take: products of matrices by BLAS,
factors by LAPACK, counting, selection, and sparse products. All but BLAS and LAPACK have one thread."""

import numpy as np

try:
    import scipy.linalg
    import scipy.sparse
except ImportError:
    scipy = None

VERSION = np.__version__ + (f" with SciPy {scipy.__version__}" if scipy else "")
SIDES = {}


def prepare(function, given):
    return lambda: function(**given)


def side(function):
    SIDES[function.__name__] = function
    return function


def side_of_scipy(function):
    return side(function) if scipy else function


@side
def attention(Q, K, V):
    scores = Q @ K.T
    scores *= np.float32(1 / np.sqrt(Q.shape[1]))
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    out = scores @ V
    out /= scores.sum(axis=1, keepdims=True)
    return out


@side
def backprop(rate, momentum, input, target, w1, w2, old1, old2):
    one = np.float32(1)

    def forward(x, w):
        return one / (one + np.exp(-(w[0] + x @ w[1:])))

    def adjusted(w, delta, x, old):
        new = momentum * old
        new[0] += rate * delta
        new[1:] += x[:, None] * (rate * delta)
        new += w
        return new

    hidden = forward(input, w1)
    output = forward(hidden, w2)
    delta_out = output * (one - output) * (target - output)
    delta_hidden = hidden * (one - hidden) * (w2[1:] @ delta_out)
    c1, c2 = adjusted(w1, delta_hidden, input, old1), adjusted(w2, delta_out, hidden, old2)
    return np.abs(delta_out).sum(), np.abs(delta_hidden).sum(), c1, c2


@side
def convolution(pictures, filters, bias):
    outputs, channels, h, w = filters.shape
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (h, w), axis=(2, 3))
    count, _, rows, columns = windows.shape[:4]
    weights = filters.reshape(outputs, -1)
    out = np.empty((count, outputs, rows, columns), np.float32)
    for picture, to in zip(windows, out):
        matrix = picture.transpose(0, 3, 4, 1, 2).reshape(channels * h * w, rows * columns)
        np.matmul(weights, matrix, out=to.reshape(outputs, -1))
    out += bias[:, None, None]
    return np.maximum(out, np.float32(0), out=out)


@side
def covariance(data):
    centred = data - data.mean(axis=0)
    out = centred.T @ centred
    out /= len(data) - 1
    return out


@side
def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    B = np.stack([u1, u2], axis=1) @ np.stack([v1, v2])
    B += A
    x = beta * (y @ B) + z
    return B, x, alpha * (B @ x)


@side
def histogram(bins, pixels):
    return np.minimum(np.bincount(pixels, minlength=bins), 255).astype(np.uint8)


@side
def kmeans(rounds, points, start):
    centres, members = start.copy(), np.full(len(points), -1)
    for _ in range(rounds):
        distances = points @ (np.float32(-2) * centres.T)
        distances += (centres * centres).sum(axis=1)
        now = distances.argmin(axis=1)
        moved, members = np.count_nonzero(now != members), now
        one_of = (now[None, :] == np.arange(len(centres))[:, None]).astype(np.float32)
        sizes = np.bincount(now, minlength=len(centres)).astype(np.float32)
        sums = one_of @ points
        has = sizes > 0
        centres[has] = sums[has] / sizes[has, None]
        if moved == 0:
            break
    return centres, members


@side_of_scipy
def lu(A):
    # The largest element of each column is on the diagonal, so that LAPACK's pivots exchange nothing.
    return scipy.linalg.lu_factor(A, check_finite=False)[0]


@side
def nearest_records(count, latitude, longitude, records):
    x, y = records[0] - latitude, records[1] - longitude
    x *= x
    y *= y
    x += y
    nearest = np.sort(np.argpartition(x, count)[:count])
    nearest = nearest[np.argsort(x[nearest], kind="stable")]
    return np.sqrt(x[nearest]), nearest


@side_of_scipy
def pagerank(rounds, pages, links):
    source, target = links
    out = np.bincount(source, minlength=pages)
    matrix = scipy.sparse.csr_array((1 / out[source], (target, source)), shape=(pages, pages))
    rank, dangling = np.full(pages, 1 / pages), out == 0
    for _ in range(rounds):
        rank = 0.15 / pages + 0.85 * (matrix @ rank + rank[dangling].sum() / pages)
    return rank
