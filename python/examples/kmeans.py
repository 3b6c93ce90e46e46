"""Clusters of the flowers of the iris table: `python kmeans.py iris.npy`."""

import sys

import novac
import numpy as np


@novac.jit
def step(points, centres):
    distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1)
    nearest = novac.vmap(lambda row: row.argmin())(distances)
    belongs = novac.vmap(lambda c: (nearest == c).astype(np.float32))(np.arange(3))
    return (belongs @ points) / belongs.sum(axis=1, keepdims=True), nearest


points = np.load(sys.argv[1])
centres = points[[0, 50, 100]]
for _ in range(20):
    centres, nearest = step(points, centres)
print(np.round(centres, 2), np.bincount(nearest))
