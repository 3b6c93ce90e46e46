"""The edges of a grey picture: `python sobel.py camera.npy edges.pgm`."""

import sys

import novac
import numpy as np


@novac.jit
def edges(picture):
    p = picture.astype(np.float32)
    x = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    y = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return np.minimum(np.sqrt(x * x + y * y), 255).astype(np.uint8)


found = edges(np.load(sys.argv[1]))
with open(sys.argv[2], "wb") as file:
    file.write(b"P5 %d %d 255\n" % found.shape[::-1] + found.tobytes())
