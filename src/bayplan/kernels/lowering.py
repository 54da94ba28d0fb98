"""Numba's translation of a kernel to LLVM's language, shorter: half the text, for machine code of the same speed.

Numba writes for every program; LLVM then removes most of it again, and both cost seconds at a first start. What is left out here:

- a stack slot for a variable that is assigned once, before all its uses: its value is used;
- the clearing of variables that are no longer used, which only matters where references are counted;
- a copy of an array's description for each item that is read or written: its fields are used;
- the tests for Python's exceptions and `try` after each call: a call failed or not;
- names that spell out all types of the arguments: a hash stands for them.
"""

import copy
import hashlib
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import analysis, callconv, cpu, ir, lowering
from numba.core.errors import LoweringError
from numba.np import arrayobj

DATA, SHAPE = 4, 5  # fields of an array
LONGEST_NAME = 80  # characters; a longer one is cut, and a hash stands for the rest

_CALL_TYPES: dict[Any, Any] = {}


class KernelContext(cpu.CPUContext):
    """Numba's knowledge of the processor, with our calls and names."""

    @staticmethod
    def of(context: Any) -> Any:
        """A copy of Numba's."""
        ours = copy.copy(context)
        ours.__class__ = KernelContext
        return ours

    @property
    def call_conv(self) -> "KernelCalls":
        """How functions call each other."""
        return KernelCalls(self)

    def mangler(self, name: str, types: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
        """The name of a function for the linker."""
        full: str = super().mangler(name, types, abi_tags=abi_tags, uid=uid)
        if len(full) <= LONGEST_NAME:
            return full
        return f"{super().mangler(name, ())}_{hashlib.sha256(full.encode()).hexdigest()[:20]}"


class KernelCalls(callconv.CPUCallConv):
    """Calls of kernels by kernels. None catches an exception."""

    def _get_return_status(self, builder: Any, code: Any, excinfoptr: Any) -> "_Status":
        return _Status(builder, code, excinfoptr)

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Return what a failed call returned."""
        builder.store(status.excinfoptr, self._get_excinfo_argument(builder.function))
        self._return_errcode_raw(builder, status.code)


class _Status:
    """How a call ended. A test is written where it is asked for."""

    def __init__(self, builder: Any, code: Any, excinfoptr: Any) -> None:
        self._builder, self.code, self.excinfoptr = builder, code, excinfoptr

    @property
    def is_ok(self) -> Any:
        return self._builder.or_(self._is("==", callconv.RETCODE_OK), self.is_none)

    @property
    def is_error(self) -> Any:
        return self._builder.not_(self.is_ok)

    @property
    def is_none(self) -> Any:
        return self._is("==", callconv.RETCODE_NONE)

    @property
    def is_python_exc(self) -> Any:
        return self._is("==", callconv.RETCODE_EXC)

    @property
    def is_stop_iteration(self) -> Any:
        return self._is("==", callconv.RETCODE_STOPIT)

    @property
    def is_user_exc(self) -> Any:
        return self._is(">=", callconv.RETCODE_USEREXC)

    def _is(self, comparison: str, code: Any) -> Any:
        return self._builder.icmp_signed(comparison, self.code, code)


class KernelLower(lowering.Lower):
    """Numba's translation of a typed function, with short ways for what kernels do most."""

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that need no stack slot: assigned once, in a block that comes before all others that use them."""
        if self.context.enable_nrt:
            super()._find_singly_assigned_variable()
            return
        blocks = self.func_ir.blocks
        assigned: dict[str, list[int]] = {}
        for offset, block in blocks.items():
            for assignment in block.find_insts(ir.Assign):
                assigned.setdefault(assignment.target.name, []).append(offset)
        before = analysis.compute_cfg_from_blocks(blocks).dominators()
        once = {name: offsets[0] for name, offsets in assigned.items() if len(offsets) == 1}
        for offset, names in analysis.compute_use_defs(blocks).usemap.items():
            for name in names:
                if name in once and not (once[name] < offset and once[name] in before[offset]):
                    del once[name]
        self._singly_assigned_vars = set(once)
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_block(self, block: Any) -> None:
        """Translate a block; what follows from reference counting is left out where there is none."""
        counted = self.context.enable_nrt
        self.pre_block(block)
        for inst in block.body:
            if counted or not isinstance(inst, ir.Del):
                self.loc = inst.loc
                try:
                    self.lower_inst(inst)
                except Exception as error:
                    raise LoweringError(f"cannot translate '{inst}': {error}", self.loc) from error
        self.post_block(block)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Set a variable. What it was needs no clean-up where references are not counted."""
        if self.context.enable_nrt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operator. How its implementation is called is looked up once for operands of the same types."""
        if expr.static_lhs is not ir.UNDEFINED or expr.static_rhs is not ir.UNDEFINED:
            return super().lower_binop(resty, expr, op)
        kinds = self.fndesc.calltypes[expr].args
        call = _CALL_TYPES.get((op, kinds))
        typing = self.context.typing_context
        function = typing.resolve_value_type(op)
        if call is None:
            call = _CALL_TYPES[op, kinds] = function.get_call_type(typing, kinds, {})
        operands = [self._cast_var(operand, kind) for operand, kind in zip((expr.lhs, expr.rhs), kinds, strict=True)]
        result = self.context.get_function(function, call)(self.builder, operands)
        return self.context.cast(self.builder, result, self.fndesc.calltypes[expr].return_type, resty)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """An expression."""
        if expr.op == "getattr" and not self.context.enable_nrt:
            kind = self.typeof(expr.value.name)
            if isinstance(kind, types.BaseNamedTuple) and expr.attr in kind.fields:
                return self.builder.extract_value(self.loadvar(expr.value.name), kind.fields.index(expr.attr))
        if expr.op == "static_getitem" and self._is_item(expr.value, expr.index_var):
            return self._load_item(expr.value, expr.index_var, resty)
        return super().lower_expr(resty, expr)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """What stands at an index."""
        if self._is_item(value, index):
            return self._load_item(value, index, resty)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> None:
        """Write a value to an index."""
        if not self._is_item(target_var, index_var):
            super().lower_setitem(target_var, index_var, value_var, signature)
            return
        kind = self.typeof(target_var.name)
        value = self._cast_var(value_var, kind.dtype)
        arrayobj.store_item(self.context, self.builder, kind, value, self._item_pointer(target_var, index_var))

    def _load_item(self, array: Any, index: Any, resty: Any) -> Any:
        kind = self.typeof(array.name)
        value = arrayobj.load_item(self.context, self.builder, kind, self._item_pointer(array, index))
        return self.context.cast(self.builder, value, kind.dtype, resty)

    def _is_item(self, array: Any, index: Any) -> bool:
        """Is it one item of an array whose rows follow each other without gaps?"""
        kind = self.typeof(array.name)
        if type(kind) is not types.Array or kind.layout != "C" or index is None or self.context.enable_boundscheck:
            return False
        kinds = _index_types(self.typeof(index.name))
        return len(kinds) == kind.ndim and all(isinstance(one, types.Integer) for one in kinds)

    def _item_pointer(self, array: Any, index: Any) -> Any:
        """Where an item is. A negative index counts from the end."""
        builder, value, kind = self.builder, self.loadvar(array.name), self.typeof(index.name)
        indices = self.loadvar(index.name)
        place = None
        for axis, one in enumerate(_index_types(kind)):
            at = builder.extract_value(indices, axis) if isinstance(kind, types.BaseTuple) else indices
            at = self.context.cast(builder, at, one, types.intp if one.signed else types.uintp)
            if one.signed and not (isinstance(at, llvm.Constant) and at.constant >= 0):
                from_end = builder.add(at, builder.extract_value(value, [SHAPE, axis]))
                at = builder.select(builder.icmp_signed("<", at, at.type(0)), from_end, at)
            place = at if place is None else builder.add(builder.mul(place, builder.extract_value(value, [SHAPE, axis])), at)
        return builder.gep(builder.extract_value(value, DATA), [place])


def _index_types(kind: Any) -> tuple[Any, ...]:
    return tuple(kind.types) if isinstance(kind, types.BaseTuple) else (kind,)
