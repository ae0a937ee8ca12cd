"""How the core is compiled: one decorator, and the bit operations that Python has no operator for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile `function` with Numba on its first call and keep the machine code on disk.

    Compiled functions work on records, scalars, slices and fixed arrays alone: nothing is allocated and
    nothing raised, so that the same source compiles for Numba's CUDA target. `nogil` lets Python threads
    run several batches side by side.
    """
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


@intrinsic  # type: ignore[misc]
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the lowest bit set in a 64-bit word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[misc]
def highest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the highest bit set in a 64-bit word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, True))
        return builder.sub(context.get_constant(types.int64, 63), zeros)

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[misc]
def count_bits(typingctx: Any, word: Any) -> Any:
    """How many bits are set in a 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen
