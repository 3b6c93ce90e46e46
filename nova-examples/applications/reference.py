"""Writes the test lines of the applications: inputs, and what their definitions give, in plain Python.

    python3 reference.py [NAMES]

Nothing here is taken from the programs. Numbers of Python are doubles; results of programs in floats agree with
them to the digits that `novac test` compares.
"""

import cmath
import math
import os
import random
import sys

TESTS = {}


def tests(function):
    TESTS[function.__name__] = function
    return function


def text(value):
    """Returns a value as NOVA writes it."""
    if isinstance(value, list):
        return "[" + " ".join(map(text, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text, value)) + ")"
    return repr(value)


def line(result, **inputs):
    return f";; test {' '.join(f'{name}={text(value)}' for name, value in inputs.items())} => {text(result)}"


def floats(draw, *shape, low=0.0, high=1.0):
    """Returns random numbers of few digits, which floats hold exactly enough."""
    if not shape:
        return round(draw.uniform(low, high), 3)
    return [floats(draw, *shape[1:], low=low, high=high) for _ in range(shape[0])]


@tests
def srad(draw):
    def step(image, rate):
        n, m = len(image), len(image[0])
        pixels = [x for row in image for x in row]
        mean = sum(pixels) / len(pixels)
        variance = sum(x * x for x in pixels) / len(pixels) - mean * mean
        speckle = variance / (mean * mean)

        def at(values, i, j):
            return values[min(max(i, 0), n - 1)][min(max(j, 0), m - 1)]

        def coefficient(i, j):
            x = image[i][j]
            steps = [at(image, i + di, j + dj) - x for di, dj in [(-1, 0), (1, 0), (0, -1), (0, 1)]]
            gradient, laplacian = sum(d * d for d in steps) / (x * x), sum(steps) / x
            q = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
            return min(1, max(0, 1 / (1 + (q - speckle) / (speckle * (1 + speckle)))))

        c = [[coefficient(i, j) for j in range(m)] for i in range(n)]

        def diffused(i, j):
            x = image[i][j]
            flow = c[i][j] * (at(image, i - 1, j) - x) + c[i][j] * (at(image, i, j - 1) - x)
            flow += at(c, i + 1, j) * (at(image, i + 1, j) - x) + at(c, i, j + 1) * (at(image, i, j + 1) - x)
            return x + rate / 4 * flow

        return [[diffused(i, j) for j in range(m)] for i in range(n)]

    for steps, n, m in [(1, 3, 4), (3, 5, 2), (2, 1, 6)]:
        image = floats(draw, n, m, low=0.5, high=2.0)
        result = image
        for _ in range(steps):
            result = step(result, 0.5)
        yield line(result, steps=steps, lambda0=0.5, image=image)


@tests
def hotspot(draw):
    for steps, n, m in [(0, 2, 2), (1, 1, 1), (3, 4, 3)]:
        power, start = floats(draw, n, m), floats(draw, n, m, low=70.0, high=90.0)
        t = start
        for _ in range(steps):
            new = []
            for i in range(n):
                row = []
                for j in range(m):
                    beside = [(i - 1, j, 0.1), (i + 1, j, 0.1), (i, j - 1, 0.2), (i, j + 1, 0.2)]
                    flow = sum(r * (t[a][b] - t[i][j]) for a, b, r in beside if 0 <= a < n and 0 <= b < m)
                    row.append(t[i][j] + 0.5 * (power[i][j] + flow + 0.05 * (80 - t[i][j])))
                new.append(row)
            t = new
        yield line(t, steps=steps, rx=0.2, ry=0.1, rz=0.05, cap=0.5, power=power, start=start)


@tests
def mri_q(draw):
    for samples, voxels in [(0, 2), (5, 3), (9, 0)]:
        k = [floats(draw, samples, low=-1.0) for _ in range(3)]
        phi = [floats(draw, samples, low=-1.0) for _ in range(2)]
        at = [floats(draw, voxels, low=-1.0) for _ in range(3)]
        sums = []
        for v in zip(*at):
            total = 0
            for s in range(samples):
                angle = 2 * math.pi * sum(axis[s] * x for axis, x in zip(k, v))
                total += (phi[0][s] ** 2 + phi[1][s] ** 2) * cmath.exp(1j * angle)
            sums.append(complex(total))
        result = ([q.real for q in sums], [q.imag for q in sums])
        yield line(result, kx=k[0], ky=k[1], kz=k[2], phi_re=phi[0], phi_im=phi[1], x=at[0], y=at[1], z=at[2])


@tests
def kmeans(draw):
    for rounds, n, d, k in [(10, 9, 2, 3), (1, 5, 3, 2), (0, 2, 1, 1)]:
        points, start = floats(draw, n, d), floats(draw, k, d)
        centres, members = start, [-1] * n
        for _ in range(rounds):
            now = [min(range(k), key=lambda c: math.dist(p, centres[c])) for p in points]
            groups = [[p for p, c in zip(points, now) if c == g] for g in range(k)]
            centres = [[sum(x) / len(g) for x in zip(*g)] if g else old for g, old in zip(groups, centres)]
            if now == members:
                break
            members = now
        yield line((centres, members), rounds=rounds, points=points, start=start)


@tests
def pathfinder(draw):
    for n, m in [(1, 3), (4, 5), (3, 1)]:
        costs = [[draw.randrange(10) for _ in range(m)] for _ in range(n)]

        def cheapest(i, j):
            if j < 0 or j >= m:
                return math.inf
            return costs[i][j] + (min(cheapest(i - 1, j + d) for d in (-1, 0, 1)) if i > 0 else 0)

        yield line([cheapest(n - 1, j) for j in range(m)], costs=costs)


@tests
def needleman_wunsch(draw):
    for n, m in [(0, 2), (3, 0), (5, 6)]:
        scores = [[draw.randrange(-4, 5) for _ in range(4)] for _ in range(4)]
        a, b = ([draw.randrange(4) for _ in range(length)] for length in (n, m))

        def best(i, j):
            if i == 0 or j == 0:
                return -2 * (i + j)
            through = best(i - 1, j - 1) + scores[a[i - 1]][b[j - 1]]
            return max(through, best(i - 1, j) - 2, best(i, j - 1) - 2)

        yield line([best(n, j) for j in range(m + 1)], gap=2, scores=scores, a=a, b=b)


@tests
def bfs(draw):
    for n, edges in [(1, 0), (6, 7), (12, 16)]:
        lists = [[] for _ in range(n)]
        for _ in range(edges):
            lists[draw.randrange(n)].append(draw.randrange(n))
        starts = [sum(map(len, lists[:k])) for k in range(n + 1)]
        levels = [-1] * n
        levels[0], queue = 0, [0]
        for u in queue:
            for v in lists[u]:
                if levels[v] < 0:
                    levels[v] = levels[u] + 1
                    queue.append(v)
        yield line(levels, source=0, starts=starts, neighbours=sum(lists, []))


@tests
def floyd_warshall(draw):
    for n in [1, 3, 5]:
        lengths = [[0 if i == j else draw.randrange(1, 30) for j in range(n)] for i in range(n)]
        result = [row[:] for row in lengths]
        for source in result:
            # Bellman and Ford's way: along one more edge, n times.
            for _ in range(n):
                for j in range(n):
                    source[j] = min(source[k] + lengths[k][j] for k in range(n))
        yield line(result, lengths=lengths)


@tests
def mandelbrot(draw):
    width, height, most = 7, 4, 30
    counts = []
    for i in range(height):
        row = []
        for j in range(width):
            c, z, k = complex(-2 + 0.4 * j, 1.1 - 0.4 * i), 0j, 0
            while k < most and abs(z) <= 2:
                z, k = z * z + c, k + 1
            row.append(k)
        counts.append(row)
    yield line(counts, width=width, height=height, most=most, left=-2.0, top=1.1, scale=0.4)
    yield line([], width=3, height=0, most=most, left=0.0, top=0.0, scale=1.0)


@tests
def cg(draw):
    for n in [1, 4]:
        # Symmetric, with a diagonal that dominates; a solution in n steps.
        dense = [[0.0] * n for _ in range(n)]
        for _ in range(n):
            i, j = draw.randrange(n), draw.randrange(n)
            dense[i][j] = dense[j][i] = 1.0
        for i in range(n):
            dense[i][i] = 5.0 + i
        solution = [float(draw.randrange(-5, 6)) or 1.0 for _ in range(n)]
        b = [sum(a * x for a, x in zip(row, solution)) for row in dense]
        rows = [[(j, a) for j, a in enumerate(row) if a] for row in dense]
        starts = [sum(map(len, rows[:k])) for k in range(n + 1)]
        x, r = [0.0] * n, b
        p, rho = r, sum(v * v for v in r)
        for _ in range(2):
            q = [sum(a * p[j] for j, a in row) for row in rows]
            down = sum(u * v for u, v in zip(p, q))
            if n == 1:
                break
            x = [u + rho / down * v for u, v in zip(x, p)]
            r = [u - rho / down * v for u, v in zip(r, q)]
            rho, before = sum(v * v for v in r), rho
            p = [u + rho / before * v for u, v in zip(r, p)]
        yield line(
            (x, math.sqrt(rho)),
            steps=0 if n == 1 else 2,
            starts=starts,
            columns=[j for row in rows for j, _ in row],
            values=[a for row in rows for _, a in row],
            b=b,
        )


@tests
def attention(draw):
    for n, m, d, e in [(1, 1, 1, 1), (3, 4, 2, 3), (0, 2, 2, 2)]:
        q, k, v = floats(draw, n, d), floats(draw, m, d, low=-3.0, high=3.0), floats(draw, m, e)
        result = []
        for query in q:
            powers = [math.exp(sum(map(lambda a, b: a * b, query, key)) / math.sqrt(d)) for key in k]
            result.append([sum(p * row[j] for p, row in zip(powers, v)) / sum(powers) for j in range(e)])
        yield line(result, Q=q, K=k, V=v)


def directions(draw, count):
    result = []
    for _ in range(count):
        height, angle = draw.uniform(-1, 1), draw.uniform(0, 2 * math.pi)
        ring = math.sqrt(1 - height * height)
        result.append((ring * math.cos(angle), ring * math.sin(angle), height))
    return result


@tests
def tpacf(draw):
    for bins, n, m in [(0, 2, 2), (3, 4, 5), (6, 1, 0)]:
        cosines = sorted((draw.uniform(-1, 1) for _ in range(bins)), reverse=True)
        x, y = directions(draw, n), directions(draw, m)
        counts = [0] * (bins + 1)
        for p in x:
            for q in y:
                counts[sum(sum(map(lambda a, b: a * b, p, q)) < c for c in cosines)] += 1
        yield line(counts, cosines=cosines, X=x, Y=y)


@tests
def quickhull(draw):
    for count, side in [(0, 1), (1, 1), (5, 1), (9, 3), (30, 12)]:
        points = [(float(draw.randrange(side)), float(draw.randrange(side))) for _ in range(count)]

        def chain(row):
            hull = []
            for x, y in row:
                while len(hull) > 1:
                    (ax, ay), (bx, by) = hull[-2:]
                    if (bx - ax) * (y - ay) - (by - ay) * (x - ax) < 0:
                        break
                    hull.pop()
                hull.append((x, y))
            return hull

        row = sorted(set(points))
        hull = row if len(row) < 2 else chain(row)[:-1] + chain(row[::-1])[:-1]
        yield line(hull, points=points)


@tests
def multigrid(draw):
    def stencil(weights, x):
        n = len(x)
        result = [[[0.0] * n for _ in range(n)] for _ in range(n)]
        for place in range(27 * n**3):
            i, j, k = place // 27 // n // n, place // 27 // n % n, place // 27 % n
            step = (place % 27 // 9 - 1, place % 9 // 3 - 1, place % 3 - 1)
            other = x[(i + step[0]) % n][(j + step[1]) % n][(k + step[2]) % n]
            result[i][j][k] += weights[sum(s != 0 for s in step)] * other
        return result

    def combine(function, x, y):
        return [[[function(a, b) for a, b in zip(*rows)] for rows in zip(*planes)] for planes in zip(x, y)]

    def residual(r, z):
        return combine(lambda a, b: a - b, r, stencil((-8 / 3, 0, 1 / 6, 1 / 12), z))

    def cycle(r):
        n, smoother = len(r), (-3 / 8, 1 / 32, -1 / 64, 0)
        if n <= 2:
            return stencil(smoother, r)
        small = cycle([[row[1::2] for row in plane[1::2]] for plane in stencil((1 / 2, 1 / 4, 1 / 8, 1 / 16), r)[1::2]])
        spread = [[[0.0] * n for _ in range(n)] for _ in range(n)]
        for i, plane in enumerate(small):
            for j, row in enumerate(plane):
                spread[2 * i + 1][2 * j + 1][1::2] = row
        z = stencil((1, 1 / 2, 1 / 4, 1 / 8), spread)
        return combine(lambda a, b: a + b, z, stencil(smoother, residual(r, z)))

    for n in [2, 4]:
        v = floats(draw, n, n, n, low=-1.0)
        u = cycle(v)
        left = [x for plane in residual(v, u) for row in plane for x in row]
        yield line((u, math.sqrt(sum(x * x for x in left) / len(left))), v=v)


@tests
def lu(draw):
    for n in [1, 2, 5]:
        lower = [floats(draw, n, low=-1.0) for _ in range(n)]
        upper = [floats(draw, n, low=1.0, high=2.0) for _ in range(n)]
        a = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                a[i][j] = sum((lower[i][k] if k < i else 1.0) * upper[k][j] for k in range(min(i, j) + 1))
        factors = [[lower[i][j] if j < i else upper[i][j] for j in range(n)] for i in range(n)]
        yield line(factors, A=a)


@tests
def covariance(draw):
    for n, m in [(2, 1), (5, 3)]:
        data = floats(draw, n, m)
        columns = list(zip(*data))

        def shared(x, y):
            # The mean product minus the product of means.
            return (sum(a * b for a, b in zip(x, y)) - sum(x) * sum(y) / n) / (n - 1)

        yield line([[shared(x, y) for y in columns] for x in columns], data=data)


@tests
def histogram(draw):
    for bins, count in [(3, 0), (4, 20), (2, 700)]:
        pixels = [draw.randrange(bins) if count < 100 else int(draw.random() < 0.2) for _ in range(count)]
        yield line([min(255, pixels.count(k)) for k in range(bins)], bins=bins, pixels=pixels)


@tests
def pagerank(draw):
    for rounds, pages, count in [(0, 2, 1), (5, 4, 6), (1, 3, 0)]:
        links = [(draw.randrange(pages), draw.randrange(pages)) for _ in range(count)]
        # As a product with a matrix: the part of its rank that page j gives to page i.
        table = [[0.0] * pages for _ in range(pages)]
        for j in range(pages):
            targets = [b for a, b in links if a == j] or list(range(pages))
            for i in targets:
                table[i][j] += 1 / len(targets)
        rank = [1 / pages] * pages
        for _ in range(rounds):
            rank = [0.15 / pages + 0.85 * sum(map(lambda a, r: a * r, row, rank)) for row in table]
        yield line(rank, rounds=rounds, pages=pages, links=links)


@tests
def leapfrog(draw):
    for steps, count in [(3, 4), (2, 1), (1, 0)]:
        masses = floats(draw, count)
        places, velocities = ([tuple(floats(draw, 3)) for _ in range(count)] for _ in range(2))
        p, v = [list(x) for x in places], [list(x) for x in velocities]
        for _ in range(steps):
            forces = []
            for a in p:
                force = [0.0] * 3
                for m, b in zip(masses, p):
                    weight = m / (math.dist(a, b) ** 2 + 1e-4) ** 1.5
                    force = [f + weight * (y - x) for f, x, y in zip(force, a, b)]
                forces.append(force)
            v = [[a + 0.01 * f for a, f in zip(*both)] for both in zip(v, forces)]
            p = [[a + 0.01 * b for a, b in zip(*both)] for both in zip(p, v)]
        result = ([tuple(x) for x in p], [tuple(x) for x in v])
        yield line(result, steps=steps, dt=0.01, masses=masses, places=places, velocities=velocities)


def graph(draw, n, edges):
    """Returns the neighbours of the nodes of a graph without direction, and where those of each begin."""
    lists = [[] for _ in range(n)]
    for _ in range(edges):
        u, v = draw.sample(range(n), 2)
        lists[u].append(v)
        lists[v].append(u)
    return lists, [sum(map(len, lists[:k])) for k in range(n + 1)]


@tests
def independent_set(draw):
    for n, edges in [(0, 0), (1, 0), (8, 9), (15, 30)]:
        lists, starts = graph(draw, n, edges)
        order = draw.sample(range(100), n)
        chosen = [False] * n
        for u in sorted(range(n), key=order.__getitem__):
            # One after the other, in their order.
            chosen[u] = not any(chosen[v] for v in lists[u])
        text = line([0], order=order, starts=starts, neighbours=sum(lists, []))
        yield text.replace("=> [0]", f"=> [{' '.join(map(str, chosen)).lower()}]")


@tests
def ep(draw):
    for streams, pairs, seed in [(1, 50, 271828183), (4, 25, 271828183), (2, 0, 1)]:
        x, sums, rings = seed, [0.0, 0.0], [0] * 10
        for _ in range(streams * pairs):
            place = []
            for _ in range(2):
                x = x * 5**13 % 2**46
                place.append(2 * x / 2**46 - 1)
            t = place[0] ** 2 + place[1] ** 2
            if t <= 1:
                normal = [v * math.sqrt(-2 * math.log(t) / t) for v in place]
                sums = [s + v for s, v in zip(sums, normal)]
                rings[int(max(map(abs, normal)))] += 1
        yield line((*sums, rings), streams=streams, pairs=pairs, seed=seed)


@tests
def jacobi_2d(draw):
    for steps, n, m in [(1, 3, 3), (4, 5, 6), (2, 1, 3)]:
        start = floats(draw, n, m)
        a = {(i, j): start[i][j] for i in range(n) for j in range(m)}
        for _ in range(steps):
            beside = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
            means = {}
            for i, j in a:
                places = [(i + u, j + v) for u, v in beside]
                inside = all(place in a for place in places)
                means[i, j] = sum(a[place] for place in places) / 5 if inside else a[i, j]
            a = means
        yield line([[a[i, j] for j in range(m)] for i in range(n)], steps=steps, A=start)


@tests
def gemver(draw):
    for n in [1, 4]:
        a = floats(draw, n, n)
        u1, v1, u2, v2, y, z = (floats(draw, n) for _ in range(6))
        b = [[a[i][j] + u1[i] * v1[j] + u2[i] * v2[j] for j in range(n)] for i in range(n)]
        x = [z[j] + 1.5 * sum(b[i][j] * y[i] for i in range(n)) for j in range(n)]
        w = [0.5 * sum(b[i][j] * x[j] for j in range(n)) for i in range(n)]
        yield line((b, x, w), alpha=0.5, beta=1.5, A=a, u1=u1, v1=v1, u2=u2, v2=v2, y=y, z=z)


@tests
def lava(draw):
    for boxes, count in [(1, 2), (2, 1), (3, 1)]:
        everywhere = [(x, y, z) for z in range(boxes) for y in range(boxes) for x in range(boxes)]
        places = [[tuple(floats(draw, 3)) for _ in range(count)] for _ in everywhere]
        charges = [floats(draw, count) for _ in everywhere]
        result = []
        for box, own in zip(everywhere, places):
            row = []
            for p in own:
                total = [0.0] * 4
                for other, points, sizes in zip(everywhere, places, charges):
                    if max(abs(a - b) for a, b in zip(box, other)) > 1:
                        continue
                    for q, charge in zip(points, sizes):
                        apart = [a - b for a, b in zip(p, q)]
                        v = math.exp(-0.5 * sum(d * d for d in apart))
                        total = [t + d for t, d in zip(total, [charge * v] + [2 * charge * v * d for d in apart])]
                row.append(tuple(total))
            result.append(row)
        yield line(result, boxes=boxes, alpha=0.5, places=places, charges=charges)


@tests
def nearest_records(draw):
    for count, n in [(3, 8), (5, 2), (0, 3)]:
        records = [tuple(floats(draw, 2, low=-90.0, high=90.0)) for _ in range(n)]
        order = sorted((math.dist(r, (10.0, 20.0)), k) for k, r in enumerate(records))
        yield line(order[:count], count=count, latitude=10.0, longitude=20.0, records=records)


@tests
def backprop(draw):
    for n, h, o in [(1, 1, 1), (4, 3, 2)]:
        x, target = floats(draw, n), floats(draw, o)
        w1, w2 = floats(draw, n + 1, h, low=-1.0), floats(draw, h + 1, o, low=-1.0)
        old1, old2 = floats(draw, n + 1, h), floats(draw, h + 1, o)

        def layer(values, w):
            return [1 / (1 + math.exp(-sum(map(lambda v, r: v * r[j], [1.0] + values, w)))) for j in range(len(w[0]))]

        hidden = layer(x, w1)
        output = layer(hidden, w2)
        d2 = [v * (1 - v) * (t - v) for v, t in zip(output, target)]
        d1 = [v * (1 - v) * sum(map(lambda d, w: d * w, d2, w2[j + 1])) for j, v in enumerate(hidden)]

        def changed(w, old, d, values):
            values = [1.0] + values
            return [
                [w[i][j] + 0.3 * d[j] * values[i] + 0.6 * old[i][j] for j in range(len(d))]
                for i in range(len(values))
            ]

        result = (sum(map(abs, d2)), sum(map(abs, d1)), changed(w1, old1, d1, x), changed(w2, old2, d2, hidden))
        yield line(result, rate=0.3, momentum=0.6, input=x, target=target, w1=w1, w2=w2, old1=old1, old2=old2)


@tests
def convolution(draw):
    for count, channels, outputs, n, m, h, w in [(1, 1, 1, 2, 2, 1, 1), (2, 2, 3, 4, 5, 3, 2)]:
        pictures = floats(draw, count, channels, n, m, low=-1.0)
        filters, bias = floats(draw, outputs, channels, h, w, low=-1.0), floats(draw, outputs, low=-1.0)

        def at(p, o, y, x):
            window = [(c, i, j) for c in range(channels) for i in range(h) for j in range(w)]
            total = sum(pictures[p][c][y + i][x + j] * filters[o][c][i][j] for c, i, j in window)
            return max(0.0, bias[o] + total)

        result = [
            [[[at(p, o, y, x) for x in range(m - w + 1)] for y in range(n - h + 1)] for o in range(outputs)]
            for p in range(count)
        ]
        yield line(result, pictures=pictures, filters=filters, bias=bias)


@tests
def spheres(draw):
    for count, width, height in [(0, 2, 1), (1, 3, 3), (4, 5, 4)]:
        balls = []
        for _ in range(count):
            balls.append((*floats(draw, 2, low=-1.0), floats(draw, low=3.0, high=6.0), floats(draw, low=0.5, high=1.2)))
        lamp = (2.0, 3.0, 0.0)

        def unit(v):
            return [x / math.hypot(*v) for x in v]

        def meet(start, ray):
            found = []
            for k, (x, y, z, radius) in enumerate(balls):
                # |start + t ray - centre| = radius, the smaller t.
                to = [a - b for a, b in zip(start, (x, y, z))]
                half = sum(map(lambda a, b: a * b, to, ray))
                root = half * half - sum(a * a for a in to) + radius * radius
                if root >= 0 and -half - math.sqrt(root) > 0.001:
                    found.append((-half - math.sqrt(root), k))
            return min(found, default=None)

        def light(i, j):
            ray = unit([(j - (width - 1) / 2) / width, ((height - 1) / 2 - i) / width, 1.0])
            hit = meet([0.0] * 3, ray)
            if hit is None:
                return 0.0
            place = [hit[0] * r for r in ray]
            normal, to_lamp = unit([a - b for a, b in zip(place, balls[hit[1]])]), unit([a - b for a, b in zip(lamp, place)])
            return 0.1 if meet(place, to_lamp) else max(0.1, sum(map(lambda a, b: a * b, normal, to_lamp)))

        result = [[light(i, j) for j in range(width)] for i in range(height)]
        yield line(result, width=width, height=height, spheres=balls, lamp=lamp)


@tests
def remove_duplicates(draw):
    for n, most in [(0, 1), (6, 1), (12, 6), (9, 2**31)]:
        x = [draw.randrange(-most, most) for _ in range(n)]
        yield line(list(dict.fromkeys(x)), X=x)


@tests
def local_volatility(draw):
    def derivative(g):
        n = len(g)
        rows = [[0.0] * n for _ in range(n)]
        for i in range(1, n - 1):
            l, r = g[i] - g[i - 1], g[i + 1] - g[i]
            rows[i][i - 1 : i + 2] = [2 / l / (l + r), -2 / l / r, 2 / r / (l + r)]
        return rows

    def solved(matrix, right):
        # By Gauss, with the largest pivots.
        n = len(right)
        rows = [row[:] + [b] for row, b in zip(matrix, right)]
        for k in range(n):
            best = max(range(k, n), key=lambda i: abs(rows[i][k]))
            rows[k], rows[best] = rows[best], rows[k]
            for i in range(n):
                if i != k:
                    factor = rows[i][k] / rows[k][k]
                    rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
        return [rows[k][n] / rows[k][k] for k in range(n)]

    def implicit(dt, weights, variances):
        n = len(weights)
        return [[(i == j) * dt - 0.25 * variances[i] * weights[i][j] for j in range(n)] for i in range(n)]

    for n, m, steps in [(3, 3, 1), (6, 4, 3)]:
        x = [round(0.4 + 0.3 * i + draw.uniform(0, 0.1), 3) for i in range(n)]
        y = [round(-1.0 + 0.4 * j + draw.uniform(0, 0.1), 3) for j in range(m)]
        times, nu, beta = [round(0.25 * k, 2) for k in range(steps + 1)], 0.4, 0.7
        dxx, dyy = derivative(x), derivative(y)
        prices = []
        for strike in [0.5, 0.9]:
            v = [[max(0.0, p - strike) for p in x] for _ in y]
            for k in reversed(range(steps)):
                dt = 1 / (times[k + 1] - times[k])
                var = [[math.exp(2 * (beta * math.log(p) + q - nu * nu * times[k] / 2)) for p in x] for q in y]
                vx = [[0.5 * var[j][i] * sum(dxx[i][l] * v[j][l] for l in range(n)) for i in range(n)] for j in range(m)]
                vy = [[0.5 * nu * nu * sum(dyy[j][l] * v[l][i] for l in range(m)) for i in range(n)] for j in range(m)]
                u = []
                for j in range(m):
                    right = [dt * v[j][i] + 0.5 * vx[j][i] + vy[j][i] for i in range(n)]
                    u.append(solved(implicit(dt, dxx, var[j]), right))
                columns = []
                for i in range(n):
                    right = [dt * u[j][i] - 0.5 * vy[j][i] for j in range(m)]
                    columns.append(solved(implicit(dt, dyy, [nu * nu] * m), right))
                v = [list(row) for row in zip(*columns)]
            prices.append(v[m // 2][n // 2])
        yield line(prices, x=x, y=y, times=times, nu=nu, beta=beta, strikes=[0.5, 0.9])


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in sys.argv[1:] or TESTS:
        path = os.path.join(folder, f"{name}.nova")
        with open(path) as file:
            kept = [row for row in file.read().splitlines() if not row.startswith(";; test")]
        rows = kept + list(TESTS[name](random.Random(name)))
        with open(path, "w") as file:
            file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
