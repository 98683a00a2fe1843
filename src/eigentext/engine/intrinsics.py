"""Steps of compiled loops that are written in LLVM's own instructions.

Numba compiles plain loops well, with two exceptions: it cannot ask for memory ahead of time, and it
loads and stores a short row at every step where the row could stay in registers. Each function here
is one such step. They are called inside compiled loops (``@njit``), with C-contiguous arrays.

Every function has a plain twin in NumPy, in `PLAIN`. It is the definition, and it is used where
loops are not compiled (``NUMBA_DISABLE_JIT``). It is also used where this version of llvmlite
cannot build the instructions: then a warning says so, and the loops are slower. Every sum is in the
order of the rows. A multiplication and the addition after it may be one instruction (fused), so the
last bit may differ between a function and its twin.
"""

import warnings
from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic

from eigentext.engine.plain_twins import PLAIN

PANEL = 32  # columns of the matrices in `sum_rows`, `add_coded` and `spread_coded`
ROW_WIDTH = 8  # divides the columns of the matrices in `row_times` and the functions after it
ROW_GROUP = 4  # divides the rows in `add_products`
TOPIC_WIDTH = 8  # divides the columns of the matrices in `weigh` and `add_scaled`
_INT8, _INT32, _INT64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FUSED = ("contract",)

# The instructions. A matrix or a row is a pointer to its first number.


def _build_prefetch(builder, array, place):
    byte = _INT8.as_pointer()
    form = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
    name = "llvm.prefetch.p0i8"
    ask = builder.module.globals.get(name) or ir.Function(builder.module, form, name)
    address = builder.bitcast(builder.gep(array, [place]), byte)
    # To read, into all caches, data.
    builder.call(ask, [address, *(ir.Constant(_INT32, value) for value in (0, 3, 1))])


def _build_sum_rows(builder, indices, data, X, out, first, last, row, *, element):
    lanes = _Lanes(builder, element, PANEL)
    width = ir.Constant(_INT64, PANEL)

    def add(p, total):
        column = builder.load(builder.gep(indices, [p]))
        if column.type != _INT64:
            column = builder.zext(column, _INT64)
        x = lanes.load(X, builder.mul(column, width))
        a = lanes.spread(builder.load(builder.gep(data, [p])))
        return lanes.add_product(total, a, x)

    total = _loop(builder, first, last, 1, add, lanes.zero)
    lanes.store(total, out, builder.mul(row, width))


def _build_add_coded(
    builder, columns, codes, table, X, out, first, last, row, shift, base, *, element
):
    lanes = _Lanes(builder, element, PANEL)
    width = ir.Constant(_INT64, PANEL)
    own = builder.mul(row, width)

    def add(p, total):
        column = builder.add(shift, builder.zext(builder.load(builder.gep(columns, [p])), _INT64))
        x = lanes.load(X, builder.mul(column, width))
        return lanes.add_product(total, lanes.spread(_decoded(builder, codes, table, p, base)), x)

    lanes.store(_loop(builder, first, last, 1, add, lanes.load(out, own)), out, own)


def _build_spread_coded(
    builder, columns, codes, table, X, out, first, last, row, shift, base, *, element
):
    lanes = _Lanes(builder, element, PANEL)
    width = ir.Constant(_INT64, PANEL)
    x = lanes.load(X, builder.mul(row, width))

    def add(p, _):
        column = builder.add(shift, builder.zext(builder.load(builder.gep(columns, [p])), _INT64))
        place = builder.mul(column, width)
        a = lanes.spread(_decoded(builder, codes, table, p, base))
        lanes.store(lanes.add_product(lanes.load(out, place), a, x), out, place)

    _loop(builder, first, last, 1, add)


def _decoded(builder, codes, table, p, base):
    code = builder.zext(builder.load(builder.gep(codes, [p])), _INT64)
    return builder.load(builder.gep(table, [builder.add(base, code)]))


def _build_row_times(builder, x, M, out, n_rows, n_columns, *, element):
    start = ir.Constant(_INT64, 0)

    def block(lanes, k):
        def add(h, total):
            row = lanes.load(M, builder.add(builder.mul(h, n_columns), k))
            return lanes.add_product(total, lanes.spread(builder.load(builder.gep(x, [h]))), row)

        lanes.store(_loop(builder, start, n_rows, 1, add, lanes.zero), out, k)

    _in_blocks(builder, n_columns, (4, 2, 1), element, block)


def _build_add_products(builder, X, Y, M, first, last, n_rows, n_columns, *, element):
    start = ir.Constant(_INT64, 0)

    def block(lanes, k):
        def group(h, _):
            rows = [builder.add(h, ir.Constant(_INT64, i)) for i in range(ROW_GROUP)]
            places = [builder.add(builder.mul(row, n_columns), k) for row in rows]

            def add(t, totals):
                begin = builder.mul(t, n_columns)
                y = lanes.load(Y, builder.add(begin, k))
                factors = [
                    lanes.spread(builder.load(builder.gep(X, [builder.add(begin, row)])))
                    for row in rows
                ]
                return [lanes.add_product(*pair, y) for pair in zip(totals, factors)]

            sums = _loop(builder, first, last, 1, add, [lanes.load(M, place) for place in places])
            for total, place in zip(sums or [], places):
                lanes.store(total, M, place)

        _loop(builder, start, n_rows, ROW_GROUP, group)

    _in_blocks(builder, n_columns, (2, 1), element, block)


def _in_blocks(builder, n_columns, widths, element, block):
    """``block(lanes, k)`` for ranges of columns: the wide ones first, and the rest in narrow ones.

    The widths are multiples of `ROW_WIDTH`, which divides the columns.
    """
    begin = ir.Constant(_INT64, 0)
    for width in widths:
        lanes = _Lanes(builder, element, width * ROW_WIDTH)
        size = ir.Constant(_INT64, width * ROW_WIDTH)
        rest = builder.srem(builder.sub(n_columns, begin), size)
        end = builder.sub(n_columns, rest)
        _loop(builder, begin, end, width * ROW_WIDTH, lambda k, _, lanes=lanes: block(lanes, k))
        begin = end


def _build_dot(builder, x, y, n, *, element):
    lanes = _Lanes(builder, element, ROW_WIDTH)

    def add(h, total):
        return lanes.add_product(total, lanes.load(x, h), lanes.load(y, h))

    return lanes.sum(_loop(builder, ir.Constant(_INT64, 0), n, ROW_WIDTH, add, lanes.zero))


def _build_times(builder, x, y, factor, out, n, *, element):
    lanes = _Lanes(builder, element, ROW_WIDTH)
    factors = lanes.spread(factor)

    def step(h, total):
        product = builder.fmul(lanes.load(x, h), builder.fmul(lanes.load(y, h), factors))
        lanes.store(product, out, h)
        return builder.fadd(total, product)

    return lanes.sum(_loop(builder, ir.Constant(_INT64, 0), n, ROW_WIDTH, step, lanes.zero))


def _build_add_times(builder, x, y, out, n, *, element):
    lanes = _Lanes(builder, element, ROW_WIDTH)

    def step(h, _):
        lanes.store(
            lanes.add_product(lanes.load(out, h), lanes.load(x, h), lanes.load(y, h)), out, h
        )

    _loop(builder, ir.Constant(_INT64, 0), n, ROW_WIDTH, step)


def _build_add_multiple(builder, factor, x, out, n, *, element):
    lanes = _Lanes(builder, element, ROW_WIDTH)
    factors = lanes.spread(factor)

    def step(h, _):
        lanes.store(lanes.add_product(lanes.load(out, h), factors, lanes.load(x, h)), out, h)

    _loop(builder, ir.Constant(_INT64, 0), n, ROW_WIDTH, step)


def _build_weigh(builder, m, phi, p, lane_sums, w, K, *, element):
    lanes = _Lanes(builder, element, TOPIC_WIDTH)
    start = ir.Constant(_INT64, 0)

    def block(k, total):
        row = lanes.load(phi, builder.add(builder.mul(w, K), k))
        chances = builder.fmul(lanes.load(m, k), row)
        lanes.store(chances, p, k)
        return builder.fadd(total, chances)

    total = _loop(builder, start, K, TOPIC_WIDTH, block, lanes.zero)
    lanes.store(total, lane_sums, start)
    return lanes.sum(total)


def _build_add_scaled(builder, factor, p, expected, w, K, *, element):
    lanes = _Lanes(builder, element, TOPIC_WIDTH)
    factors = lanes.spread(factor)

    def block(k, _):
        place = builder.add(builder.mul(w, K), k)
        product = lanes.add_product(lanes.load(expected, place), factors, lanes.load(p, k))
        lanes.store(product, expected, place)

    _loop(builder, ir.Constant(_INT64, 0), K, TOPIC_WIDTH, block)


class _Lanes:
    """Vectors of `width` numbers: loaded, stored, multiplied and added as one."""

    def __init__(self, builder, element, width):
        self._builder, self._width = builder, width
        self._vector = ir.VectorType(element, width)
        self._alignment = 8 if isinstance(element, ir.DoubleType) else 4  # no more is known of rows
        self.zero = ir.Constant(self._vector, [0.0] * width)

    def _at(self, numbers, place):
        start = self._builder.gep(numbers, [place])
        return self._builder.bitcast(start, self._vector.as_pointer())

    def load(self, numbers, place):
        return self._builder.load(self._at(numbers, place), align=self._alignment)

    def store(self, vector, numbers, place):
        self._builder.store(vector, self._at(numbers, place), align=self._alignment)

    def spread(self, number):
        """A vector of one number."""
        undefined = ir.Constant(self._vector, ir.Undefined)
        places = ir.Constant(ir.VectorType(_INT32, self._width), [0] * self._width)
        single = self._builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
        return self._builder.shuffle_vector(single, undefined, places)

    def sum(self, total):
        """The sum of the numbers of a vector: the upper half is added to the lower."""
        half = self._width // 2
        while half:
            upper = [half + lane for lane in range(half)] + [0] * (self._width - half)
            places = ir.Constant(ir.VectorType(_INT32, self._width), upper)
            total = self._builder.fadd(total, self._builder.shuffle_vector(total, total, places))
            half //= 2
        return self._builder.extract_element(total, ir.Constant(_INT32, 0))

    def add_product(self, total, a, b):
        product = self._builder.fmul(a, b, flags=_FUSED)
        return self._builder.fadd(total, product, flags=_FUSED)


def _loop(builder, start, stop, step, body, value=None) -> Any:
    """``for i in range(start, stop, step): value = body(i, value)``; returns the last value.

    The value may be a list of values.
    """
    before = builder.block
    head, inside, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    values = value if isinstance(value, list) else [] if value is None else [value]
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_INT64)
    carried = [builder.phi(one.type) for one in values]
    builder.cbranch(builder.icmp_signed("<", i, stop), inside, done)
    builder.position_at_end(inside)
    result = carried if isinstance(value, list) else carried[0] if carried else None
    new = body(i, result)
    i.add_incoming(start, before)
    i.add_incoming(builder.add(i, ir.Constant(_INT64, step)), builder.block)
    for phi, old, later in zip(carried, values, new if isinstance(value, list) else [new]):
        phi.add_incoming(old, before)
        phi.add_incoming(later, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return result


# What Numba asks for: the types of a call, and a function that generates its code.


def _generator(name: str, build: Callable[..., Any], dtype: Any = None) -> Callable[..., Any]:
    def generate(context, builder, signature, args):
        try:
            values = [
                context.make_array(kind)(context, builder, value).data
                if isinstance(kind, types.Array)
                else value
                for kind, value in zip(signature.args, args)
            ]
            element = {} if dtype is None else {"element": context.get_value_type(dtype)}
            _check_builds(build, values, element)
        except Exception as error:  # whatever another version of llvmlite or Numba raises
            _warn(name, error)
            return context.compile_internal(builder, PLAIN[name], signature, args)
        result = build(builder, *values, **element)
        return context.get_dummy_value() if result is None else result

    return generate


def _check_builds(build: Callable[..., Any], values: list[Any], element: dict[str, Any]) -> None:
    """Raise unless LLVM accepts the instructions, in a module that is thrown away.

    A failure in the module itself would leave it half written.
    """
    module = ir.Module()
    form = ir.FunctionType(ir.VoidType(), [value.type for value in values])
    function = ir.Function(module, form, "check")
    builder = ir.IRBuilder(function.append_basic_block())
    build(builder, *function.args, **element)
    builder.ret_void()
    binding.parse_assembly(str(module)).verify()


def _warn(name: str, error: Exception) -> None:
    warnings.warn(
        f"the fast form of {name} cannot be compiled here ({error!r:.200}); loops that use it are "
        "slower. Install the versions of numba and llvmlite that eigentext is tested with",
        stacklevel=2,
    )


def _prefetch(typingctx, array, place):
    """Ask for what is at a place, which may be outside the array: nothing is read yet."""
    return types.void(array, types.int64), _generator("prefetch", _build_prefetch)


def _sum_rows(typingctx, indices, data, X, out, first, last, row):
    """Equivalent to ``out[row] = sum(data[p] * X[indices[p]] for p in range(first, last))``.

    X and out have `PANEL` columns.
    """
    place = types.int64
    signature = types.void(indices, data, X, out, place, place, place)
    return signature, _generator("sum_rows", _build_sum_rows, data.dtype)


def _add_coded(typingctx, columns, codes, table, X, out, first, last, row, shift, base):
    """Equivalent to ``out[row] += table[base + codes[p]] * X[shift + columns[p]]`` for each p.

    p runs from `first` to `last`. X and out have `PANEL` columns; columns and codes are unsigned.
    """
    place = types.int64
    signature = types.void(columns, codes, table, X, out, place, place, place, place, place)
    return signature, _generator("add_coded", _build_add_coded, table.dtype)


def _spread_coded(typingctx, columns, codes, table, X, out, first, last, row, shift, base):
    """Equivalent to ``out[shift + columns[p]] += table[base + codes[p]] * X[row]`` for each p."""
    place = types.int64
    signature = types.void(columns, codes, table, X, out, place, place, place, place, place)
    return signature, _generator("spread_coded", _build_spread_coded, table.dtype)


def _row_times(typingctx, x, M, out, n_rows, n_columns):
    """Equivalent to ``out[:n_columns] = x[:n_rows] @ M[:n_rows]``, in float64."""
    signature = types.void(x, M, out, types.int64, types.int64)
    return signature, _generator("row_times", _build_row_times, types.float64)


def _add_products(typingctx, X, Y, M, first, last, n_rows, n_columns):
    """Equivalent to ``M[:n_rows] += X[first:last, :n_rows].T @ Y[first:last]``, in float64.

    All three have `n_columns` columns. `ROW_GROUP` divides `n_rows`.
    """
    place = types.int64
    signature = types.void(X, Y, M, place, place, place, place)
    return signature, _generator("add_products", _build_add_products, types.float64)


def _dot(typingctx, x, y, n):
    """Equivalent to ``x[:n] @ y[:n]``, in float64. `ROW_WIDTH` divides n."""
    signature = types.float64(x, y, types.int64)
    return signature, _generator("dot", _build_dot, types.float64)


def _times(typingctx, x, y, factor, out, n):
    """Equivalent to ``out[:n] = x[:n] * (y[:n] * factor)``, in float64. Returns the sum of it."""
    signature = types.float64(x, y, types.float64, out, types.int64)
    return signature, _generator("times", _build_times, types.float64)


def _add_times(typingctx, x, y, out, n):
    """Equivalent to ``out[:n] += x[:n] * y[:n]``, in float64. `ROW_WIDTH` divides n."""
    return types.void(x, y, out, types.int64), _generator(
        "add_times", _build_add_times, types.float64
    )


def _add_multiple(typingctx, factor, x, out, n):
    """Equivalent to ``out[:n] += factor * x[:n]``, in float64. `ROW_WIDTH` divides n."""
    return types.void(types.float64, x, out, types.int64), _generator(
        "add_multiple", _build_add_multiple, types.float64
    )


def _weigh(typingctx, m, phi, p, lanes, w, K):
    """Equivalent to ``p[:] = m * phi[w]; lanes[:] = p.reshape(-1, 8).sum(axis=0)``, in float32.

    Returns ``p.sum()``.
    """
    signature = types.float32(m, phi, p, lanes, types.int64, types.int64)
    return signature, _generator("weigh", _build_weigh, types.float32)


def _add_scaled(typingctx, factor, p, expected, w, K):
    """Equivalent to ``expected[w] += factor * p``, in float32."""
    signature = types.void(types.float32, p, expected, types.int64, types.int64)
    return signature, _generator("add_scaled", _build_add_scaled, types.float32)


def _declared(definition: Callable[..., Any]) -> Any:
    if config.DISABLE_JIT:
        return PLAIN[definition.__name__[1:]]
    return intrinsic(definition)


prefetch: Any = _declared(_prefetch)
sum_rows: Any = _declared(_sum_rows)
add_coded: Any = _declared(_add_coded)
spread_coded: Any = _declared(_spread_coded)
row_times: Any = _declared(_row_times)
add_products: Any = _declared(_add_products)
dot: Any = _declared(_dot)
times: Any = _declared(_times)
add_times: Any = _declared(_add_times)
add_multiple: Any = _declared(_add_multiple)
weigh: Any = _declared(_weigh)
add_scaled: Any = _declared(_add_scaled)
