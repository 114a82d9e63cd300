"""Lets frameworks allocate so that `redzone guard` sees each of their buffers: once the program imports
one, and before it allocates.

What cannot be done is one line on standard error; the program goes on as it would without the guard. Every
Python process imports this at its start, so it imports little itself.
"""
import os
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libredzone_guard.so")

# Of torch's allocator, and the functions of the library that they take.
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


def torch_says_nothing(torch):
    """Statistics of the caching allocator, which is not in use: 0, as before the first allocation. Torch
    itself would raise."""
    memory = torch.cuda.memory
    replaced: dict = {"memory_stats_as_nested_dict": lambda device=None: {},
                "reset_accumulated_memory_stats": lambda device=None: None,
                "reset_peak_memory_stats": lambda device=None: None}
    for name, function in replaced.items():
        setattr(memory, name, function)
        setattr(torch.cuda, name, function)


def replace_torch_allocator(torch, guard):
    """Each tensor is a block, and its free and record_stream() are in the order of their streams."""
    import ctypes
    if torch.version.cuda is None:
        return
    memory = torch.cuda.memory
    ours = memory.CUDAPluggableAllocator(LIBRARY, "redzone_guard_malloc", "redzone_guard_free")
    # Without the setters memory would be used again that another stream or a graph still uses.
    for setter, name in TORCH_SETTERS.items():
        getattr(ours.allocator(), setter)(ctypes.cast(getattr(guard, name), ctypes.c_void_p).value)
    memory.change_current_allocator(ours)
    torch_says_nothing(torch)
    guard.redzone_guard_torch_replaced()


def replace_cupy_allocator(cupy, guard):
    """Each array is an allocation of the CUDA runtime, without CuPy's pool."""
    cupy.cuda.set_allocator(None)


HOOKS = {"torch": replace_torch_allocator, "cupy": replace_cupy_allocator}


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


def hook_of(name):
    def hook(module):
        guard = library()
        if guard is None:
            return
        try:
            HOOKS[name](module, guard)
        except Exception as problem:
            print(f"redzone: guard: the allocator of {name} was not replaced: {problem}", file=sys.stderr)
    return hook


def install(names):
    """`names`: those of HOOKS, with commas between them; others are for another version of the guard."""
    for name in names.split(","):
        if name in HOOKS and name not in sys.modules:
            sys.meta_path.insert(0, HookedFinder(name, hook_of(name)))
