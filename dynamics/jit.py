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


def kernel(function):
    """Compile a function of scalars, arrays and records."""
    if numba is None:
        return function
    return numba.njit(cache=True, fastmath=_FAST, error_model="numpy", boundscheck=False)(function)


if numba is None:
    from types import SimpleNamespace

    def _new_record(record_type):
        return SimpleNamespace()

    def _fill(record, values):
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

    def _new_record(record_type):
        raise NotImplementedError("only inside kernels")

    @overload(_new_record)
    def _new_record_compiled(record_type):
        built = record_type.instance_type
        return lambda record_type: structref.new(built)

    def _fill(record, values):
        raise NotImplementedError("only inside kernels")

    @overload(_fill)
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


@kernel
def build(values, record_type):
    """The record that kernels see, sharing its arrays with the named tuple `values`."""
    built = _new_record(record_type)
    _fill(built, values)
    return built
