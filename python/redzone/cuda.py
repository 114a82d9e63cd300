"""What a worker changes in PyTorch on a GPU: who allocates, the current stream, and what happens
before the host waits."""

from __future__ import annotations

import ctypes
import os
from typing import Any

# If set to "guarded", PyTorch allocates from the library, between guard pages. Otherwise PyTorch keeps its
# own allocator, and only the tensors of calls are guarded.
ALLOCATOR = "REDZONE_TORCH_ALLOCATOR"


def connect_torch(library: ctypes.CDLL) -> None:
    """Opens the library's gate before PyTorch waits for the device, and makes the library PyTorch's
    allocator where the environment asks for it, which must be done before PyTorch allocates. No
    effect without PyTorch."""
    try:
        import torch
    except ImportError:
        return
    if os.environ.get(ALLOCATOR) == "guarded":
        _allocate_by(library, torch)
    _open_before_waits(library)


def _allocate_by(library: ctypes.CDLL, torch: Any) -> None:
    plugged = torch.cuda.memory.CUDAPluggableAllocator(library._name, "rz_allocate", "rz_free")
    use_on = ctypes.cast(library.rz_use_on, ctypes.c_void_p).value
    plugged.allocator().set_record_stream_fn(use_on)
    torch.cuda.memory.change_current_allocator(plugged)
    library.rz_use_allocator()


def _open_before_waits(library: ctypes.CDLL) -> None:
    import torch
    from torch.cuda import _gpu_trace as trace

    trace.register_callback_for_device_synchronization(library.rz_host_waits)
    trace.register_callback_for_stream_synchronization(lambda _stream: library.rz_host_waits())
    trace.register_callback_for_event_synchronization(lambda _event: library.rz_host_waits())
    torch._C._activate_gpu_trace()


class CurrentStream:
    """Makes the stream of a call PyTorch's current one."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self._streams: dict[int, Any] = {}

    def enter(self, handle: int) -> None:
        stream = self._streams.get(handle)
        if stream is None:
            stream = self._streams[handle] = self._torch.cuda.ExternalStream(handle)
        self._torch.cuda.set_stream(stream)

    def leave(self) -> None:
        """The streams of a trial may end with it."""
        self._streams.clear()
        self._torch.cuda.set_stream(self._torch.cuda.default_stream())
