"""Memory of tensors: between guard pages, or between canaries on a GPU."""

import ctypes
import itertools
import mmap
import struct
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from .failure import Failed
from .fills import BYTES, fill_bits, mix


class HostMemory:
    """Bytes between two pages that nobody may access, at one of them as the trial says."""

    kept: ClassVar[list[mmap.mmap]] = []  # kept mapped until the process ends

    def __init__(self, size: int, align: int, after: bool, skew: int) -> None:
        page = mmap.PAGESIZE
        room = max(-(-(size + align + skew) // page), 1) * page
        whole = mmap.mmap(-1, room + 2 * page)
        HostMemory.kept.append(whole)
        base = ctypes.addressof(ctypes.c_char.from_buffer(whole))
        for guard in (base, base + page + room):
            if ctypes.CDLL(None).mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) != 0:
                raise OSError("mprotect() of a guard page failed")
        self.begin, self.room = base + page, room
        self.before = skew + ((room - size - skew) // align * align if after else 0)
        self.at = self.begin + self.before

    def write(self, image: bytes) -> None:
        ctypes.memmove(self.begin, image, self.room)

    def read(self) -> bytes:
        return ctypes.string_at(self.begin, self.room)

    def buffer(self, size: int) -> Any:
        return (ctypes.c_ubyte * size).from_address(self.at)


class CudaMemory:
    """Bytes between canaries; memory of a GPU has no guard pages without its driver's functions."""

    WINDOW = 4096

    def __init__(self, size: int, align: int, after: bool, skew: int) -> None:
        import torch

        self.room, self.before = size + 2 * self.WINDOW + skew, self.WINDOW + skew
        self.whole = torch.empty(self.room, dtype=torch.uint8, device="cuda")

    def write(self, image: bytes) -> None:
        import torch

        self.whole.copy_(torch.frombuffer(bytearray(image), dtype=torch.uint8))

    def read(self) -> bytes:
        host = self.whole.cpu()
        return ctypes.string_at(host.data_ptr(), self.room)


class Buffer:
    """A tensor of a call, filled, with canaries around its storage and in its gaps."""

    def __init__(self, name: str, tensor: Mapping[str, Any], trial: Mapping[str, Any], cuda: bool) -> None:
        self.name, self.tensor = name, tensor
        size, poison = tensor["storage_bytes"], trial["poison"]
        memory = CudaMemory if cuda else HostMemory
        self.memory: Any = memory(size, tensor["align"], trial["after"], tensor["skew"])
        canary = (mix(poison ^ 0xCA9A51) | 0x80808080) & 0xFFFFFFFF
        image = bytearray(struct.pack("<I", canary) * (self.memory.room // 4 + 1))[: self.memory.room]
        width = BYTES[tensor["real"]]
        for index, at in enumerate(self.positions()):
            image[at : at + width] = fill_bits(tensor, index, poison).to_bytes(width, "little")
        self.image = bytes(image)
        self.memory.write(self.image)

    def positions(self) -> Iterator[int]:
        """Where each element lies from the beginning of the memory, in memory order."""
        tensor = self.tensor
        *outer, row = tensor["size"]
        width = BYTES[tensor["real"]]
        base = self.memory.before + tensor["lead_bytes"]
        if tensor["numel"] == 0:
            return
        for index in itertools.product(*map(range, outer)):
            begin = base + width * sum(i * s for i, s in zip(index, tensor["stride"]))
            yield from range(begin, begin + row * width, width)

    def check(self) -> None:
        """Raises Failed if memory was written that must stay as it was."""
        now, expected = self.memory.read(), bytearray(self.image)
        if now == self.image:
            return
        width = BYTES[self.tensor["real"]]
        for index, at in enumerate(self.positions()):
            if self.tensor["role"] != "in":
                expected[at : at + width] = now[at : at + width]
            elif now[at : at + width] != self.image[at : at + width]:
                raise Failed(f"the input '{self.name}' was overwritten at element {index}")
        changed = next((i for i, (a, b) in enumerate(zip(now, expected)) if a != b), None)
        if changed is None:
            return
        begin, end = self.memory.before, self.memory.before + self.tensor["storage_bytes"]
        place = f"a gap between the rows of '{self.name}'"
        if changed < begin:
            place = f"the byte {begin - changed} before '{self.name}'"
        elif changed >= end:
            place = f"the byte {changed - end + 1} after '{self.name}'"
        raise Failed(f"{place} was overwritten")
