"""What the applications for Numba share: how loops are compiled, and how a program is called.

The other files import Numba from here, since it looks for vector functions when it is loaded. Rows are taken as
slices before an inner loop, whose index then begins at 0, so that Numba tests no index for its sign and LLVM makes
vectors. Constants have the type of the data, so that nothing is computed as double by chance.
"""

import ctypes
import glob
import sys

# Intel's vector functions, where `pip install intel-cmplr-lib-rt` has put them. Numba finds what is loaded.
for library in ["libintlc.so.5", "libsvml.so"]:
    for path in glob.glob(f"{sys.prefix}/lib/{library}"):
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)

import numba  # noqa: E402
import numpy as np  # noqa: E402
import scipy.linalg.cython_blas  # noqa: E402, F401
from numba import prange  # noqa: E402, F401
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
