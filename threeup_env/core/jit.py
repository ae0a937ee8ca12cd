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


def _load(builder: Any, place: Any, kind: Any) -> Any:
    """A value of the LLVM type `kind` from the bytes at a place, not aligned."""
    return builder.load(builder.bitcast(place, kind.as_pointer()), align=1)


@intrinsic
def store_word(typingctx: Any, rows: Any, row: Any, at: Any, word: Any) -> Any:
    """Store the bytes of a word, lowest first, in a row of a C-contiguous int8 array `(N, D)`, from entry `at` on.

    As many entries as the type of the word has bytes; they need not be aligned.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], args[3])
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, word), codegen


@intrinsic
def copy_word(typingctx: Any, rows: Any, row: Any, at: Any, counts: Any, start: Any) -> Any:
    """Copy eight entries of a field of bytes, from `start` on, and of the fields that follow it in the record."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(signature.args[3])(context, builder, args[3]).data
        loaded = _load(builder, builder.gep(source, [args[4]]), ir.IntType(64))
        _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], loaded)
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, counts, types.int64), codegen


@intrinsic
def store_filled(typingctx: Any, rows: Any, row: Any, at: Any, slots: Any, empty: Any) -> Any:
    """Store whether each slot of uint8 `(3,)` is not `empty`, and a fourth entry, which is to be overwritten."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(signature.args[3])(context, builder, args[3]).data
        loaded = _load(builder, source, ir.VectorType(ir.IntType(8), 4))
        nothing = builder.insert_element(
            ir.Constant(loaded.type, ir.Undefined), builder.trunc(args[4], ir.IntType(8)), ir.IntType(32)(0)
        )
        order = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4)
        filled = builder.icmp_unsigned("!=", loaded, builder.shuffle_vector(nothing, nothing, order))
        entries = builder.zext(filled, loaded.type)
        _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], entries)
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, slots, types.int64), codegen


def _store_bits(entries: int) -> Any:
    """An intrinsic that stores the lowest `entries` bits of a word as that many entries, 0 or 1."""

    @intrinsic
    def store_bits(typingctx: Any, rows: Any, row: Any, at: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = builder.trunc(args[3], ir.IntType(entries)) if entries < 64 else args[3]
            flags = builder.bitcast(word, ir.VectorType(ir.IntType(1), entries))
            spread = builder.zext(flags, ir.VectorType(ir.IntType(8), entries))
            _store_in_row(context, builder, signature.args[0], args[0], args[1], args[2], spread)
            return context.get_dummy_value()

        return types.void(rows, types.int64, types.int64, types.int64), codegen

    return store_bits


store_16_bits = _store_bits(16)
"""`store_16_bits(rows, row, at, bits)`: 16 entries of a mask from a word."""
store_32_bits = _store_bits(32)
"""The same for 32 entries."""
store_64_bits = _store_bits(64)
"""The same for 64 entries."""


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
