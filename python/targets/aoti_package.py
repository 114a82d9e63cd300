"""Packages of AOTInductor: each is built once, by the first process that needs it, and kept in Inductor's
cache folder. No file of targets itself."""

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
from typing import Any

import torch
import torch._inductor
from torch._dynamo.callback import CallbackTrigger, callback_handler
from torch._inductor.runtime.runtime_utils import cache_dir


class _Calls(torch.nn.Module):
    """A function as the module that torch.export wants."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *tensors):
        return self.function(*tensors)


class Package:
    """What a package does with tensors of a CPU. `example` has such tensors, `dims` the dynamic dims of each,
    and `source` is the file that the function is of: where that changes, the package is another.

    AOTInductor takes tensors with the strides and the alignment of their examples, and does not check that.
    """

    def __init__(self, name, source, function, example, dims):
        path = _path(name, source)
        # The driver counts this as compilation, which may take longer than the deadline of a trial.
        with callback_handler.install_callbacks(CallbackTrigger.DYNAMO, f"package {name}"):
            if not path.exists():
                _build(path, function, example, dims)
        self._run = torch._inductor.aoti_load_package(str(path))
        # The folder can be removed, because the library is mapped. A worker ends without running destructors
        # and would leave it.
        shutil.rmtree(_unpacked(path), ignore_errors=True)

    def __call__(self, *tensors):
        return self._run(*tensors)


def _path(name, source):
    digest = hashlib.blake2b(digest_size=8)
    for file in (source, __file__):
        digest.update(pathlib.Path(file).read_bytes())
    # Inductor compiles for this exact processor model, and machines may share a cache folder.
    digest.update(_processor().encode())
    made_for = torch.backends.cpu.get_cpu_capability().lower()
    file_name = f"{name}-{torch.__version__}-{made_for}-{digest.hexdigest()}.pt2"
    return pathlib.Path(cache_dir(), "redzone", file_name)


def _processor() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return "".join(
        dict.fromkeys(line for line in lines if line.startswith(("model name", "flags", "Features")))
    )


def _build(path: pathlib.Path, function: Any, example: Any, dims: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as lock:
        # Other workers wait for the lock, which is released even if its process is killed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return
        folder = path.with_suffix(".building")
        shutil.rmtree(folder, ignore_errors=True)  # left by a process that was killed
        folder.mkdir()
        # strict=True is not used, because it resets the code and the callbacks of Dynamo in this process.
        exported = torch.export.export(_Calls(function), example, dynamic_shapes={"tensors": dims})
        made = torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / path.name))
        os.replace(made, path)
        shutil.rmtree(folder, ignore_errors=True)


def _unpacked(path: pathlib.Path) -> str:
    """The folder that the loader has made for the library of the package."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    found = re.findall(rf" (/tmp/\w{{6}})/{re.escape(path.stem)}/.*(?<! \(deleted\))$", maps, re.M)
    return found[-1] if found else ""
