// The description of the targets of abi_worker.cpp.
#pragma once

#define ABI_TARGET(name, returned)                                                         \
  R"({"name": ")" name R"(", "file": "my.py", "line": 1, "deterministic": true,)"          \
  R"("code_hash": "fedcba9876543210fedcba9876543210",)"                                    \
  R"("has_reference": true, "state": "trial", "dim": [{"name": "N", "min": 1, "max": 64,)" \
  R"("multiple_of": 1}], "tensor": [{"name": "x", "dtype": "f32", "role": "in",)"          \
  R"("shape": ["N"], "align_bytes": 4}, {"name": "y", "dtype": "f32", "role": "out",)"     \
  R"("shape": ["N"], "align_bytes": 4, "returned": )" returned "}]}"

inline constexpr const char* kAbiTargets =
    R"({"redzone_python": 1, "python": "3.11.2", "torch": "", "triton": "",)"
    R"("code_hash": "0123456789abcdef0123456789abcdef", "target": [)"
    ABI_TARGET("abi.good", "false") "," ABI_TARGET("abi.overrun", "false") ","
    ABI_TARGET("abi.tail", "false") "," ABI_TARGET("abi.first_shape", "false") ","
    ABI_TARGET("abi.scratch", "false") "," ABI_TARGET("abi.raises", "false") ","
    ABI_TARGET("abi.refuses", "false") "," ABI_TARGET("abi.unmade", "false") ","
    ABI_TARGET("abi.bad_reference", "false") ","
    ABI_TARGET("abi.wrong_reference", "false") ","
    ABI_TARGET("abi.returns", "true") "," ABI_TARGET("abi.returns_own", "true") "]}";
