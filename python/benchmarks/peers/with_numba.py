"""The applications as loops for Numba: parallel loops over rows, and threads with arrays of their own for scattered
sums. Those on matrices are in `numba_matrices`."""

import math

import numba_matrices  # noqa: F401
import numpy as np
from numba_loops import F0, F1, F2, FAR, SIDES, VERSION, numba, parallel, prange, prepare, serial, side  # noqa: F401


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
    along, across = above + below - F2 * t, left + right - F2 * t
    return t + cap * (power + (ry * along + (rx * across + rz * (np.float32(80) - t))))


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
    # The pages of each thread have about as many links.
    first = np.searchsorted(starts, np.arange(threads + 1) * (n // threads))
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
