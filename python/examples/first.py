"""Clusters of flowers and edges of a picture: `python first.py iris.npy camera.npy edges.pgm`."""

import sys

import novac
import numpy as np


@novac.jit
def step(points, centres):
    nearest = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1).argmin(axis=1)
    belongs = novac.vmap(lambda c: (nearest == c).astype(np.float32))(np.arange(3))
    return (belongs @ points) / belongs.sum(axis=1, keepdims=True), nearest


@novac.jit
def edges(picture):
    p = picture.astype(np.float32)
    x = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    y = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return np.minimum(np.sqrt(x * x + y * y), 255).astype(np.uint8)


points = np.load(sys.argv[1])
centres = points[[0, 50, 100]]
for _ in range(20):
    centres, nearest = step(points, centres)
print(*np.bincount(nearest), *np.round(centres, 4).ravel(), flush=True)
found = edges(np.load(sys.argv[2]))
with open(sys.argv[3], "wb") as file:
    file.write(b"P5 %d %d 255\n" % found.shape[::-1] + found.tobytes())
