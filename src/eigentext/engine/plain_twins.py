"""The functions of :mod:`eigentext.engine.intrinsics` in plain NumPy: what their code must do.

They run if the compiler is off, and the tests compare the instructions with them.
"""

from collections.abc import Callable
from typing import Any


def _plain_prefetch(array, place):
    pass


def _plain_sum_rows(indices, data, X, out, first, last, row):
    out[row] = 0
    for p in range(first, last):
        out[row] += data[p] * X[indices[p]]


def _plain_add_coded(columns, codes, table, X, out, first, last, row, shift, base):
    for p in range(first, last):
        out[row] += table[base + codes[p]] * X[shift + columns[p]]


def _plain_spread_coded(columns, codes, table, X, out, first, last, row, shift, base):
    for p in range(first, last):
        out[shift + columns[p]] += table[base + codes[p]] * X[row]


def _plain_row_times(x, M, out, n_rows, n_columns):
    out[:n_columns] = 0
    for h in range(n_rows):
        out[:n_columns] += x[h] * M[h]


def _plain_add_products(X, Y, M, first, last, n_rows, n_columns):
    x, y, m = X.reshape(-1), Y.reshape(-1), M.reshape(-1)  # matrices may be flat
    n = n_columns
    for h in range(n_rows):
        for t in range(first, last):
            m[h * n : h * n + n] += x[t * n + h] * y[t * n : t * n + n]


def _plain_dot(x, y, n):
    return (x[:n] * y[:n]).sum()


def _plain_times(x, y, factor, out, n):
    out[:n] = x[:n] * (y[:n] * factor)
    return out[:n].sum()


def _plain_add_times(x, y, out, n):
    out[:n] += x[:n] * y[:n]


def _plain_add_multiple(factor, x, out, n):
    out[:n] += factor * x[:n]


def _plain_weigh(m, phi, p, lanes, w, K):
    p[:] = m * phi[w]
    lanes[:] = 0
    for k in range(0, K, len(lanes)):
        lanes += p[k : k + len(lanes)]
    return p.sum()


def _plain_add_scaled(factor, p, expected, w, K):
    expected[w] += factor * p


PLAIN: dict[str, Callable[..., Any]] = {
    "prefetch": _plain_prefetch,
    "sum_rows": _plain_sum_rows,
    "add_coded": _plain_add_coded,
    "spread_coded": _plain_spread_coded,
    "row_times": _plain_row_times,
    "add_products": _plain_add_products,
    "dot": _plain_dot,
    "times": _plain_times,
    "add_times": _plain_add_times,
    "add_multiple": _plain_add_multiple,
    "weigh": _plain_weigh,
    "add_scaled": _plain_add_scaled,
}
