"""Numbers of up to 1 in magnitude as 16 bits: IEEE half precision of ``32768 x``.

The factor uses the whole range of exponents, so that only numbers below 2e-9 lose digits. All steps
are those of integers and one multiplication by a power of two, which every processor does in
vectors.
"""

import numpy as np

from eigentext.engine.compiled import njit

_TO_HALF = np.float32(2.0**-97)  # 2**15, and 2**-112: the difference of the two exponents' zeros
_FROM_HALF = np.float32(2.0**97)


@njit(cache=True, nogil=True)
def narrow(X, scratch, out):
    """Equivalent to ``out[:] = (X * 32768).astype(np.float16).view(np.uint16)``.

    X is float32, from -1 to 1. `scratch` is a float32 row, and ``scratch.view(np.uint32)`` another
    name for it.
    """
    numbers, bits = scratch
    for r in range(X.shape[0]):
        for k in range(X.shape[1]):
            numbers[k] = X[r, k] * _TO_HALF
        for k in range(X.shape[1]):
            magnitude = bits[k] & np.uint32(0x7FFFFFFF)
            sign = (bits[k] >> np.uint32(16)) & np.uint32(0x8000)
            odd = (magnitude >> np.uint32(13)) & np.uint32(1)  # ties go to even
            out[r, k] = sign | ((magnitude + np.uint32(0xFFF) + odd) >> np.uint32(13))


@njit(cache=True, nogil=True)
def widen(H, first, column, out, bits):
    """Equivalent to ``out[:] = H[first:, column:].view(np.float16).astype(np.float32) / 32768``.

    Only as many rows and columns as `out` has. `bits` is ``out.view(np.uint32)``.
    """
    for r in range(out.shape[0]):
        for k in range(out.shape[1]):
            h = np.uint32(H[first + r, column + k])
            magnitude = (h & np.uint32(0x7FFF)) << np.uint32(13)
            bits[r, k] = magnitude | ((h & np.uint32(0x8000)) << np.uint32(16))
        for k in range(out.shape[1]):
            out[r, k] *= _FROM_HALF
