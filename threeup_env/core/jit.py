"""How the core is compiled: one decorator, and the bit operations that Python has no operator for."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def _core_stamp() -> tuple[float, int]:
    """A stamp of all that is compiled: Numba's cache looks at a function's own file, but callees are inlined in it."""
    core = Path(__file__).parent
    sources = sorted(core.glob("*.py")) + [core.parent / name for name in ("actions.py", "cards.py", "observation.py")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return 0.0, int.from_bytes(digest.digest()[:6])


_STAMP = _core_stamp()


def compiled(function: F) -> F:
    """Compile `function` with Numba on its first call and keep the machine code on disk.

    Compiled functions work on records, scalars, slices and fixed arrays alone: nothing is allocated and
    nothing raised, so that the same source compiles for Numba's CUDA target. `nogil` lets Python threads
    run several batches side by side. Calls are inlined, because an array passed to a function costs more
    than most of these functions do.
    """
    return cast(F, _cached(njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function)))


def threaded(function: F) -> F:
    """Compile `function` so that its `prange` loops run in threads; nothing else differs from `compiled`."""
    return cast(F, _cached(njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function)))


def called(function: F) -> F:
    """Compile a function that is called, not inlined: a large one, of which copies would take long to compile."""
    return cast(F, _cached(njit(cache=True, nogil=True, error_model="numpy")(function)))


@contextlib.contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Let Numba use up to `count` threads, in this Python thread, while the context lasts."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _cached(dispatcher: Any) -> Any:
    # Numba has no public way to say what else a cache entry depends on; tests/test_jit.py watches this one.
    dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher


def _store_in_row(context: Any, builder: Any, kind: Any, rows: Any, row: Any, at: Any, value: Any) -> None:
    """Store a value of any size, not aligned, in a row of an array `(N, D)` of the Numba type `kind`."""
    array = context.make_array(kind)(context, builder, rows)
    stride = builder.extract_value(array.strides, 0)
    place = builder.gep(array.data, [builder.add(builder.mul(row, stride), at)])
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=1)


@intrinsic
def store_word(typingctx: Any, rows: Any, row: Any, at: Any, word: Any) -> Any:
    """Store the bytes of a word, lowest first, in a row of a C-contiguous int8 array `(N, D)`, from entry `at` on.

    As many entries as the type of the word has bytes; they need not be aligned.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], args[3])
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, word), codegen


LANES = 16
"""Counts that are coded at once: the 13 kinds of a zone, and three bytes of whatever follows it in the record."""


def _interleave(builder: Any, evens: Any, odds: Any, size: int) -> Any:
    """The entries of two vectors of `size` entries in turn."""
    order = [index for pair in zip(range(size), range(size, 2 * size), strict=True) for index in pair]
    return builder.shuffle_vector(evens, odds, ir.Constant(ir.VectorType(ir.IntType(32), 2 * size), order))


def _store_code(steps: tuple[int, ...], last: int) -> Any:
    """An intrinsic that stores a code of `LANES` counts: whether each is at least each step, and how far beyond `last`.

    It stores as many entries for each of the LANES, so what stands after the zone must be written after it.
    """

    @intrinsic
    def store_code(typingctx: Any, rows: Any, row: Any, at: Any, counts: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = ir.VectorType(ir.IntType(8), LANES)

            def all_lanes(value: int) -> Any:
                return ir.Constant(vector, [value] * LANES)

            source = context.make_array(signature.args[3])(context, builder, args[3]).data
            loaded = builder.load(builder.bitcast(source, vector.as_pointer()), align=1)
            entries = [builder.zext(builder.icmp_signed(">=", loaded, all_lanes(step)), vector) for step in steps]
            beyond = builder.icmp_signed(">", loaded, all_lanes(last))
            entries.append(builder.select(beyond, builder.sub(loaded, all_lanes(last)), all_lanes(0)))
            size = LANES
            while len(entries) > 1:
                half = len(entries) // 2
                pairs = zip(entries[:half], entries[half:], strict=True)
                entries = [_interleave(builder, evens, odds, size) for evens, odds in pairs]
                size *= 2
            _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], entries[0])
            return context.get_dummy_value()

        return types.void(rows, types.int64, types.int64, counts), codegen

    return store_code


store_counts = _store_code((1, 2, 3), 3)
"""`store_counts(rows, row, at, counts)`: count codes of a zone, int8 `(13,)` (observation.py)."""
store_pairs = _store_code((1,), 1)
"""`store_pairs(rows, row, at, counts)`: pair codes of a zone."""


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the lowest bit set in a 64-bit word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), codegen


@intrinsic
def highest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the highest bit set in a 64-bit word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, True))
        return builder.sub(context.get_constant(types.int64, 63), zeros)

    return types.int64(types.int64), codegen


@intrinsic
def count_bits(typingctx: Any, word: Any) -> Any:
    """How many bits are set in a 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen
