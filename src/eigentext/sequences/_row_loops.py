"""A row times a matrix, and the outer product added to one, sixteen columns at a time.

Hidden Markov models have few states, and a compiler makes little of loops that short: these take
half the time, with lines of LLVM's vector code that keep sixteen sums in registers. Every sum is in
the order of the rows. Matrices are C-contiguous, and `WIDTH` divides their columns: see `padded`.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

WIDTH = 16
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_ALIGNMENT = 8  # bytes; no more is known of rows
_FUSED = ("contract",)  # a multiplication and the addition after it may be one instruction


def padded(matrix: np.ndarray) -> np.ndarray:
    """The matrix with columns of zeros up to a multiple of `WIDTH`."""
    return np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % WIDTH)))


def _row_times(typingctx, x, M, out, n_rows, n_columns):
    """Equivalent to ``out[:n_columns] = x[:n_rows] @ M[:n_rows]``."""

    def generate(context, builder, signature, args):
        x, M, out = _starts(context, builder, signature, args)
        n_rows, n_columns = args[3:]

        def block(k, _):
            def add(h, total):
                row = builder.load(_columns(builder, M, h, n_columns, k), align=_ALIGNMENT)
                factor = _spread(builder, builder.load(builder.gep(x, [h])))
                product = builder.fmul(factor, row, flags=_FUSED)
                return builder.fadd(total, product, flags=_FUSED)

            total = _loop(builder, n_rows, 1, add, ir.Constant(_VECTOR, [0.0] * WIDTH))
            place = _columns(builder, out, ir.Constant(_INT64, 0), n_columns, k)
            builder.store(total, place, align=_ALIGNMENT)

        _loop(builder, n_columns, WIDTH, block)
        return context.get_dummy_value()

    return types.void(x, M, out, types.int64, types.int64), generate


def _add_outer(typingctx, x, y, M, n_rows, n_columns):
    """Equivalent to ``M[:n_rows] += outer(x[:n_rows], y[:n_columns])``."""

    def generate(context, builder, signature, args):
        x, y, M = _starts(context, builder, signature, args)
        n_rows, n_columns = args[3:]

        def block(k, _):
            place = _columns(builder, y, ir.Constant(_INT64, 0), n_columns, k)
            columns = builder.load(place, align=_ALIGNMENT)

            def add(h, _):
                row = _columns(builder, M, h, n_columns, k)
                factor = _spread(builder, builder.load(builder.gep(x, [h])))
                product = builder.fmul(factor, columns, flags=_FUSED)
                before = builder.load(row, align=_ALIGNMENT)
                builder.store(builder.fadd(before, product, flags=_FUSED), row, align=_ALIGNMENT)

            _loop(builder, n_rows, 1, add)

        _loop(builder, n_columns, WIDTH, block)
        return context.get_dummy_value()

    return types.void(x, y, M, types.int64, types.int64), generate


def _starts(context, builder, signature, args):
    """Where the numbers of the first three arguments, arrays, begin."""
    return (
        context.make_array(kind)(context, builder, array).data
        for kind, array in zip(signature.args[:3], args[:3])
    )


def _columns(builder, matrix, row, n_columns, first):
    """Where the sixteen columns from `first` of a row begin."""
    place = builder.add(builder.mul(row, n_columns), first)
    return builder.bitcast(builder.gep(matrix, [place]), _VECTOR.as_pointer())


def _spread(builder, number):
    """A vector of one number."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH)
    single = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(single, undefined, lanes)


def _loop(builder, stop, step, body, value=None):
    """``for i in range(0, stop, step): value = body(i, value)``; returns the last value."""
    before = builder.block
    head, inside, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_INT64)
    carried = None if value is None else builder.phi(value.type)
    builder.cbranch(builder.icmp_signed("<", i, stop), inside, done)
    builder.position_at_end(inside)
    new = body(i, carried)
    i.add_incoming(ir.Constant(_INT64, 0), before)
    i.add_incoming(builder.add(i, ir.Constant(_INT64, step)), builder.block)
    if carried is not None:
        carried.add_incoming(value, before)
        carried.add_incoming(new, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return carried


def _plain_row_times(x, M, out, n_rows, n_columns):
    out[:n_columns] = x[:n_rows] @ M[:n_rows]


def _plain_add_outer(x, y, M, n_rows, n_columns):
    M[:n_rows] += np.outer(x[:n_rows], y[:n_columns])


row_times: Any = _plain_row_times if config.DISABLE_JIT else intrinsic(_row_times)
add_outer: Any = _plain_add_outer if config.DISABLE_JIT else intrinsic(_add_outer)
