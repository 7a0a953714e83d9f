# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled, and the records of arrays they work on.

With numba, a kernel is machine code and a record is one pointer to it, so that a call from Python costs less than a
microsecond however many arrays it needs. Without numba the same source runs as plain Python: slow, but the same
numbers.
"""

from collections import namedtuple

try:
    import numba
    from numba import types
    from numba.experimental import structref
    from numba.extending import overload
except ImportError:
    numba = None

COMPILED = numba is not None

# Reassociation lets sums run in vector registers; NaN and infinity keep their meaning, divergence is found by them.
_FAST = {"contract", "reassoc", "arcp", "nsz"}


def _compile(function, **options):
    if numba is None:
        return function
    return numba.njit(cache=True, fastmath=_FAST, error_model="numpy", boundscheck=False, **options)(function)


def kernel(function):
    """Compile a function of scalars, arrays and records that Python calls."""
    return _compile(function)


def part(function):
    """A part of one kernel, compiled as if it stood there: each compiled function also compiles all that it calls, so
    functions with a single caller are not worth one of their own.
    """
    return _compile(function, inline="always")


if numba is None:
    from types import SimpleNamespace

    def new_record(record_type):
        return SimpleNamespace()

    def fill(record, values):
        for field, value in values._asdict().items():
            setattr(record, field, value)

    def _define(name, fields):
        return name

else:
    _SCALARS = {"f": types.float64, "i": types.int64}

    class _Record(types.StructRef):
        """A mutable record on the heap, passed to kernels as one pointer."""

    structref.register(_Record)
    structref.define_boxing(_Record, structref.StructRefProxy)

    new_record = structref.new

    def fill(record, values):
        raise NotImplementedError("only inside kernels")

    @overload(fill)
    def _fill_compiled(record, values):
        lines = [f"    record.{field} = values.{field}" for field in values.fields]
        scope = {}
        exec("def fill(record, values):\n" + "\n".join(lines), scope)
        return scope["fill"]

    def _define(name, fields):
        return _Record([(field, types.Array(_SCALARS[code[0]], int(code[1]), "C")) for field, code in fields.items()])


def record(name, **fields):
    """Define a record: a named tuple class for Python, and the record type that kernels see.

    fields map a name to "f1", "f2", "f3" (float64 arrays of that many dimensions) or "i1", "i2" (int64).
    """
    return namedtuple(name, fields), _define(name, fields)
