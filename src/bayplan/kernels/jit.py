"""How kernels are compiled: what Python calls becomes machine code, once; what only kernels call is linked into its callers.

Numba optimises, wraps and emits every function by itself, and then once more inside each of its callers. Python calls a fifth of
our kernels; the others are only *parts*. A part is translated to LLVM's language and linked in, nothing else.

Every kernel has one signature: constants and narrow integers are passed as 64-bit integers, arrays that may not be written to as
arrays (a kernel that writes to one that it was only given to read is found by the comparison with its naive twin).
"""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from numba import _dynfunc, types
from numba.core import codegen, compiler, funcdesc, typed_passes, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import BaseNativeLowering
from numba.core.typing import Context

from bayplan.kernels.lowering import KernelContext, KernelLower
from bayplan.kernels.machine_code import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])
Signature: TypeAlias = tuple[Any, ...]  # Numba's types of the arguments

ENTRIES: dict[str, "Kernel"] = {}  # by name: every kernel whose module is imported


def kernel(function: Function) -> Function:
    """The function as a kernel that allocates nothing; other threads run beside it.

    Reference counting is off: with it every access to an array of a tuple costs two atomic operations.
    """
    return _kernel(function, nogil=True, _nrt=False)


def inlined(function: Function) -> Function:
    """A kernel that is always put into its callers: for short parts of inner loops, since a tuple of arrays is many arguments."""
    return _kernel(function, nogil=True, _nrt=False, forceinline=True)


def allocating_kernel(function: Function) -> Function:
    """The function as a kernel that allocates arrays; other threads run beside it."""
    return _kernel(function, nogil=True)


def _kernel(function: Function, **options: Any) -> Function:
    """An entry that Python calls, and a part that kernels call."""
    options = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options}
    entry: Any = Kernel(function, targetoptions=options, pipeline_class=_EntryCompiler)
    entry.part = _Part(function, targetoptions={**options, "no_cpython_wrapper": True}, pipeline_class=_PartCompiler)
    entry._cache = KernelCache(function)
    ENTRIES[entry.name] = entry
    return entry


class _Noting(threading.local):
    """Whether this thread only notes calls of kernels."""

    calls: "dict[str, Signature] | None" = None


_noting = _Noting()


@contextmanager
def noting_calls() -> "Iterator[dict[str, Signature]]":
    """The signatures of kernels that this thread calls. Those that are not compiled yet are noted instead of run."""
    calls: dict[str, Signature] = {}
    _noting.calls = calls
    try:
        yield calls
    finally:
        _noting.calls = None


def _do_nothing(*_: Any) -> None:
    """Called in place of a kernel."""


class Kernel(CPUDispatcher):
    """What Python calls; kernels that call it link in its part."""

    part: "_Part"

    @property
    def name(self) -> str:
        """Folder, module and function."""
        return f"{self.py_func.__module__.removeprefix('bayplan.kernels.')}.{self.py_func.__name__}"

    def on_disk(self, signature: "Signature") -> bool:
        """Is machine code for it kept in the folder or shipped?"""
        cache: KernelCache = self._cache
        return cache.has(signature, self.targetctx.codegen())

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.part)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Called by Numba if no machine code for these arguments is loaded."""
        if _noting.calls is None:
            return super()._compile_for_args(*args, **kws)
        _noting.calls[self.name] = tuple(plain_type(self.typeof_pyval(value)) for value in args)
        return _do_nothing

    def compile(self, sig: Any) -> Any:
        """The machine code for a signature, which is that of the plain types."""
        args = tuple(sig.args if hasattr(sig, "args") else sig)
        plain = tuple(map(plain_type, args))
        with _no_garbage_collection():
            code = super().compile(plain)
        if args != plain:
            compiled = self.overloads[plain]
            self._insert([kind._code for kind in args], compiled.entry_point, cuda=False)
        return code


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Within it, cycles of objects are not looked for: a compiler makes millions, and looking takes a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Part(CPUDispatcher):
    """What kernels call."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(plain_type, args)), {name: plain_type(kind) for name, kind in kws.items()})


def plain_type(kind: Any) -> Any:
    """The type that a kernel is compiled for, if it gets this one."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer) and kind.signed and kind.bitwidth < 64:
        return types.int64
    if isinstance(kind, types.Array) and not kind.mutable:
        return kind.copy(readonly=False)
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple(tuple(map(plain_type, kind.types)), kind.instance_class)
    if isinstance(kind, types.NamedUniTuple):
        return types.NamedUniTuple(plain_type(kind.dtype), kind.count, kind.instance_class)
    return kind


class _PartLibrary(codegen.JITCodeLibrary):
    """LLVM code to link into others; never made machine code. It is simplified here, once, and not in every caller."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self) -> None:
        """Nothing: an entry links in what its parts call, each once."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None exists."""
        return 0


class _EntryLibrary(codegen.JITCodeLibrary):
    """LLVM code with all its parts, made machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link in every part that it calls, directly or not, before all is optimised as one."""
        libraries = self._linking_libraries  # it grows while it is read
        for library in libraries:
            if isinstance(library, _PartLibrary):
                libraries += [part for part in library._linking_libraries if part not in libraries]
        super().finalize()

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(BaseNativeLowering):
    """Numba's lowering, without wrappers and without emission."""

    _name = "part_lowering"
    lowering_class = KernelLower

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = _PartLibrary(context.codegen(), state.func_id.func_qualname)
        library._reload_init.update(state.reload_init)
        description = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=state.flags.forceinline,
            noalias=state.flags.noalias,
            abi_tags=[state.flags.get_mangle_string()],
        )
        with context.push_code_library(library):
            lower = self.lowering_class(context, library, description, state.func_ir, metadata=state.metadata)
            lower.lower()
            environment, call_helper = lower.env, lower.call_helper
        library._ensure_finalized()
        name = description.qualname.split(".")[-1]
        function = _dynfunc.make_function(description.lookup_module(), name, "never called", 0, environment, (library,))
        context.insert_user_function(function, description, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = compiler._LowerResult(description, call_helper, cfunc=function, env=environment)
        state.metadata["prune_stats"] = state.metadata["llvm_pass_timings"] = None
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(BaseNativeLowering):
    """Numba's lowering; the environments of the parts are made known, since nothing else did."""

    _name = "entry_lowering"
    lowering_class = KernelLower

    def run_pass(self, state: Any) -> bool:
        state.library = library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        super().run_pass(state)
        for variable in library._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    library.codegen.set_env(variable.name, environment)
        return True


PASSES = (
    (untyped_passes.TranslateByteCode, "analyzing bytecode"),
    (untyped_passes.FixupArgs, "fix up args"),
    (untyped_passes.IRProcessing, "processing IR"),
    (untyped_passes.GenericRewrites, "nopython rewrites"),
    (untyped_passes.ReconstructSSA, "ssa"),
    (typed_passes.NopythonTypeInference, "nopython frontend"),
    (typed_passes.PreLowerStripPhis, "remove phis nodes"),
    (typed_passes.NopythonRewrites, "nopython rewrites"),
    (typed_passes.IRLegalization, "ensure IR is legal prior to lowering"),
)


class _Typing(Context):
    """Numba's typing context, which remembers how a call of a function of Numba's own was resolved."""

    def __init__(self) -> None:
        self.__dict__ = cpu_target.typing_context.__dict__

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, types.Dispatcher | str) or kws:
            return super().resolve_function_type(func, args, kws)
        args = tuple(args)
        if all(isinstance(kind, types.Number | types.Boolean | types.Literal) for kind in args):
            args = tuple(map(types.unliteral, args))
        signature = _RESOLVED.get((func, args))
        if signature is None:
            signature = super().resolve_function_type(func, args, kws)
            if signature is not None:
                _RESOLVED[func, args] = signature
        return signature


_RESOLVED: dict[Any, Any] = {}


def _compiler(lowering_pass: type) -> type:
    class Compiler(CompilerBase):
        def __init__(self, typingctx: Any, *rest: Any) -> None:
            super().__init__(_Typing(), *rest)
            self.state.targetctx = KernelContext.of(self.state.targetctx)

        def define_pipelines(self) -> list[PassManager]:
            passes = PassManager("kernel")
            for step, text in PASSES:
                passes.add_pass(step, text)
            passes.add_pass(lowering_pass, "lowering")
            passes.add_pass(typed_passes.NoPythonBackend, "nopython mode backend")
            passes.finalize()
            return [passes]

    return Compiler


_PartCompiler, _EntryCompiler = _compiler(_PartLowering), _compiler(_EntryLowering)
