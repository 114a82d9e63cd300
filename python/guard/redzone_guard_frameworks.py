"""Lets frameworks allocate so that `redzone guard` sees each of their buffers: once the program imports
one, and before it allocates.

What cannot be done is one line on standard error; the program goes on as it would without the guard. Every
Python process imports this at its start, so it imports little itself.
"""
import contextlib
import functools
import os
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libredzone_guard.so")

# Setters of torch's allocator, and the functions of the library that they get.
TORCH_SETTERS = {
    "set_record_stream_fn": "redzone_guard_record_stream",
    "set_begin_allocate_to_pool": "redzone_guard_begin_pool",
    "set_end_allocate_to_pool_fn": "redzone_guard_end_pool",
    "set_release_pool": "redzone_guard_release_pool",
}


def library():
    """The preloaded library; None if this process has none, or it guards nothing of a device."""
    try:
        import ctypes
        loaded = ctypes.CDLL(None)
        return loaded if loaded.redzone_guard_is_on() == 1 else None
    except (AttributeError, ImportError, OSError):
        return None


# Keys of torch.cuda.memory_stats_as_nested_dict(); the values are filled in below.
TORCH_NUMBERS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc",
                 "num_device_free", "max_split_size")
TORCH_STATISTICS = ("allocation", "segment", "active", "inactive_split", "allocated_bytes",
                    "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes")
TORCH_OVERSIZE = ("oversize_allocations", "oversize_segments")


def no_statistics(device=None):
    """Zeros: the allocator that they are of is not in use, and torch itself would raise."""
    def zeros():
        return dict.fromkeys(("current", "peak", "allocated", "freed"), 0)

    out: dict = dict.fromkeys(TORCH_NUMBERS, 0)
    out.update({name: {pool: zeros() for pool in ("all", "small_pool", "large_pool")}
                for name in TORCH_STATISTICS})
    out.update({name: zeros() for name in TORCH_OVERSIZE})
    return out


def use_guard_for_torch(torch, guard):
    """Each tensor is a block, and its free and record_stream() are in the order of their streams."""
    import ctypes
    memory = torch.cuda.memory
    ours = memory.CUDAPluggableAllocator(LIBRARY, "redzone_guard_malloc", "redzone_guard_free")
    # Without the setters, memory would be reused that another stream or a graph still uses.
    for setter, name in TORCH_SETTERS.items():
        getattr(ours.allocator(), setter)(ctypes.cast(getattr(guard, name), ctypes.c_void_p).value)
    memory.change_current_allocator(ours)
    replaced = {"memory_stats_as_nested_dict": no_statistics,
                "reset_accumulated_memory_stats": lambda device=None: None,
                "reset_peak_memory_stats": lambda device=None: None}
    for name, function in replaced.items():
        setattr(memory, name, function)
        setattr(torch.cuda, name, function)


def hook_torch(torch, guard):
    """The allocator is replaced when torch begins to use CUDA, unless the program has done so before."""
    if torch.version.cuda is None:
        return
    memory = torch.cuda.memory
    change, begin = memory.change_current_allocator, torch._C._cuda_init
    state = {"is_decided": False}

    def change_current_allocator(allocator):
        change(allocator)
        state["is_decided"] = True

    def begin_cuda():
        if not state["is_decided"]:
            state["is_decided"] = True
            with said_of("torch"):
                memory.change_current_allocator = change
                use_guard_for_torch(torch, guard)
        return begin()

    memory.change_current_allocator = torch.cuda.change_current_allocator = change_current_allocator
    torch._C._cuda_init = begin_cuda


def hook_cupy(cupy, guard):
    """Each array is an allocation of the CUDA runtime, without CuPy's pool."""
    cupy.cuda.set_allocator(None)
    guard.redzone_guard_cupy_replaced()


HOOKS = {"torch": hook_torch, "cupy": hook_cupy}


@contextlib.contextmanager
def said_of(name):
    """What fails is said, and goes no further."""
    try:
        yield
    except Exception as problem:
        print(f"redzone: guard: the allocator of {name} was not replaced: {problem}", file=sys.stderr)


class HookedLoader:
    """Loads a module as its own loader does, then calls a function with it."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class HookedFinder:
    """Finds one module as the finders behind it do, with a hook for its loader."""

    def __init__(self, name, hook):
        self._name = name
        self._hook = hook

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if find is None or finder is self else find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = HookedLoader(spec.loader, self._hook)
                return spec
        return None


def run_hook(name, module):
    guard = library()
    if guard is not None:
        with said_of(name):
            HOOKS[name](module, guard)


def install(names):
    """`names`: those of HOOKS, with commas between them; others are for another version of the guard."""
    for name in names.split(","):
        if name not in HOOKS:
            continue
        if name in sys.modules:
            run_hook(name, sys.modules[name])
        else:
            sys.meta_path.insert(0, HookedFinder(name, functools.partial(run_hook, name)))
