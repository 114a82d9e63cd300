"""PyTorch's database of operators as targets: correct code, in which nothing should be found.

    redzone run torch_operators.py --device host --plans 1

A target for each operator: a call takes one of the samples of arguments that PyTorch's own tests use, and
returns a hash of all results. A finding says that an operator reads memory that nobody has written, or
beyond its tensors, or depends on earlier calls. It needs PyTorch, numpy and expecttest.

On a GPU the operators use deterministic algorithms. One that has none refuses its calls, because two runs of
it may differ.
"""

import ctypes
import hashlib
import os
import re
import warnings

import redzone as rz

# Required by PyTorch for deterministic algorithms of cuBLAS; must be set before cuBLAS is loaded.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

# Operators that return uninitialized memory by definition: only the metadata of their results is compared.
UNINITIALIZED = re.compile(r"(new_)?empty(_like|_strided|_permuted)?")
# Operators that need a GPU although the database does not record it: jiterator compiles CUDA.
ONLY_ON_A_GPU = re.compile(r"jiterator_.*")
MOST_SAMPLES = 32  # evenly spaced samples per operator: some operators have a thousand

if rz.device() != "cpu":
    torch.use_deterministic_algorithms(True)
    # Filling would hide reads of uninitialized memory
    torch.utils.deterministic.fill_uninitialized_memory = False

names: set[str] = set()


def samples_of(operator):
    """Arguments that do not need a gradient, of the first element type that the operator has."""
    supported = operator.supported_dtypes(rz.device())
    preferred = (torch.float32, torch.float64, torch.int64, torch.bool, *sorted(supported, key=str))
    dtype = next((d for d in preferred if d in supported), None)
    if dtype is None:
        return []
    torch.manual_seed(0)
    # Calls the function behind sample_inputs(), which would inspect the stack for each sample.
    made = list(operator.sample_inputs_func(operator, rz.device(), dtype, False))
    return made[:: -(-len(made) // MOST_SAMPLES)] if made else []


def copied(value):
    """A tensor with a storage of its own: a view stays a view of all that it was one of."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.layout is not torch.strided or value.is_conj() or value.is_neg():
        return value.clone()
    storage = value.untyped_storage().clone()
    return value.new_empty(0).set_(storage, value.storage_offset(), value.size(), value.stride())


def look_of(value):
    """What a result looks like, as bytes."""
    return f"{value.dtype} {tuple(value.shape)} {value.stride()}".encode()


def bytes_of(value):
    """What a result is, as bytes."""
    if not isinstance(value, torch.Tensor):
        return repr(value).encode()
    if value.layout is not torch.strided:
        value = value.to_dense()
    value = value.detach().resolve_conj().resolve_neg().cpu().clone(memory_format=torch.contiguous_format)
    return ctypes.string_at(value.data_ptr(), value.nbytes) if value.numel() else b""


def hashed(results, bytes_of):
    digest = hashlib.blake2b(digest_size=8)
    for leaf in tree_leaves(results):
        digest.update(bytes_of(leaf))
    return torch.frombuffer(bytearray(digest.digest()), dtype=torch.int64).to(rz.device())


def name_of(operator):
    """Other names than any before: torch has `T` and `t`."""
    name = f"{operator.name}.{operator.variant_test_name}" if operator.variant_test_name else operator.name
    name = "op." + re.sub(r"[^a-z0-9_.]", "_", name.lower())
    while name in names:
        name += "_"
    names.add(name)
    return name


def declare(operator, samples):
    compared = look_of if UNINITIALIZED.fullmatch(operator.name) else bytes_of

    def call(sample):
        given = samples[sample].transform(copied)
        try:
            results = operator(given.input, *given.args, **given.kwargs)
        except RuntimeError as error:
            if "does not have a deterministic implementation" in str(error):
                raise NotImplementedError(str(error).splitlines()[0]) from error
            raise
        return hashed(results, compared)

    rz.target(
        call, name=name_of(operator),
        sample=rz.dim("SAMPLE", 0, len(samples) - 1), returns=rz.Out("i64", 1),
        rejects=NotImplementedError,  # raised for unsupported arguments on this device
    )  # fmt: skip


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for operator in op_db:
        if rz.device() == "cpu" and ONLY_ON_A_GPU.fullmatch(operator.name):
            continue
        samples = samples_of(operator)
        if samples:
            declare(operator, samples)
