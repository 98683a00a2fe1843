"""Sparse times dense, for a panel of 32 columns.

Narrow panels keep the rows they touch in cache: for hundreds of columns, panel after panel is
several times faster than all at once. The row that is being summed stays in registers, which takes
a line of LLVM's vector code: from a plain loop the compiler makes one that loads and stores the row
at every entry, and takes 3 times as long. Every output is one sum in the order of the matrix's
entries, so how panels and rows are dealt out to threads never changes a bit.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from eigentext.engine.compiled import njit

PANEL = 32
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_FUSED = ("contract",)  # a multiplication and the addition after it may be one instruction


@njit(cache=True, nogil=True)
def csr_times_panel(indptr, indices, data, X, out, start, stop):
    """Equivalent to ``out[start:stop] = A[start:stop] @ X`` for a CSR matrix A; X has 32 columns.

    All arrays are C-contiguous, X and out of the type of `data`.
    """
    for r in range(start, stop):
        sum_rows(indices, data, X, out, np.int64(indptr[r]), np.int64(indptr[r + 1]), r)


def _sum_rows(typingctx, indices, data, X, out, first, last, row):
    """Equivalent to ``out[row] = sum(data[p] * X[indices[p]] for p in range(first, last))``."""

    def generate(context, builder, signature, args):
        indices, data, X, out = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:4], args[:4])
        )
        first, last, row = args[4:]
        vector = ir.VectorType(context.get_value_type(signature.args[1].dtype), PANEL)
        undefined = ir.Constant(vector, ir.Undefined)

        def row_of(matrix, place):
            start = builder.gep(matrix, [builder.mul(place, ir.Constant(_INT64, PANEL))])
            return builder.bitcast(start, vector.as_pointer())

        def spread(number):
            lanes = ir.Constant(ir.VectorType(_INT32, PANEL), [0] * PANEL)
            single = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
            return builder.shuffle_vector(single, undefined, lanes)

        before = builder.block
        head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        p, total = builder.phi(_INT64), builder.phi(vector)
        builder.cbranch(builder.icmp_signed("<", p, last), body, done)
        builder.position_at_end(body)
        column = builder.load(builder.gep(indices, [p]))
        if column.type != _INT64:
            column = builder.zext(column, _INT64)
        alignment = context.get_abi_alignment(vector.element)
        x = builder.load(row_of(X, column), align=alignment)
        a = spread(builder.load(builder.gep(data, [p])))
        more = builder.fadd(total, builder.fmul(a, x, flags=_FUSED), flags=_FUSED)
        after = builder.add(p, ir.Constant(_INT64, 1))
        builder.branch(head)
        p.add_incoming(first, before)
        p.add_incoming(after, body)
        total.add_incoming(ir.Constant(vector, [0.0] * PANEL), before)
        total.add_incoming(more, body)
        builder.position_at_end(done)
        builder.store(total, row_of(out, row), align=alignment)
        return context.get_dummy_value()

    place = types.int64
    return types.void(indices, data, X, out, place, place, place), generate


def _plain_sum_rows(indices, data, X, out, first, last, row):
    out[row] = data[first:last] @ X[indices[first:last]]


sum_rows: Any = _plain_sum_rows if config.DISABLE_JIT else intrinsic(_sum_rows)
