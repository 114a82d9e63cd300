// A process that serves trials through the C interface alone, with planted bugs: what a Python
// worker is, without Python.
#include <redzone/worker.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "worker_library/abi_targets.h"

namespace {

struct Instance {
  std::string target;
  int64_t first_n = 0;                      // of the first call
  std::vector<float> result;                // one buffer for all calls
  std::vector<std::vector<float>> results;  // one for each call
};

std::vector<Instance> instances;
int trials = 0;

int make(void*, const char* target) {
  if (std::strcmp(target, "abi.unmade") == 0) {
    rz_error("exception: ValueError", "my.py:3: nothing to make it of");
    return -1;
  }
  instances.push_back({target, 0, {}, {}});
  return static_cast<int>(instances.size()) - 1;
}

void destroy(void*, int instance) {
  instances[static_cast<std::size_t>(instance)] = {};
}

float* data_of(rz_call* call, const char* name) {
  rz_tensor tensor;
  return rz_call_tensor(call, name, &tensor) == 0 ? static_cast<float*>(tensor.data) : nullptr;
}

void run(void*, int id, rz_call* call) {
  Instance& instance = instances[static_cast<std::size_t>(id)];
  const std::string& target = instance.target;
  const int64_t n = rz_dim(call, "N");
  const float* const x = data_of(call, "x");
  float* const y = data_of(call, "y");
  if (rz_dim(call, "M") != -1 || data_of(call, "z") != nullptr || rz_knob_is_text(call, "k") != -1)
    return rz_call_fail(call, "abi", "an unknown name is known");
  if (target == "abi.raises" && n == 7)
    return rz_call_fail(call, "exception: ValueError", "my.py:12: seven");
  if (target == "abi.refuses") return rz_call_unsupported(call, "my.py:9: not today");
  if (target == "abi.returns" || target == "abi.returns_own") {
    instance.result.resize(static_cast<std::size_t>(n));
    for (int64_t i = 0; i < n; ++i) instance.result[static_cast<std::size_t>(i)] = 2 * x[i];
    if (target == "abi.returns_own") instance.results.push_back(instance.result);
    return;
  }
  if (target == "abi.scratch") {
    auto* const scratch = static_cast<float*>(
        rz_call_allocate(call, "scratch", static_cast<uint64_t>(n) * sizeof(float)));
    for (int64_t i = 0; i <= n; ++i) scratch[i] = x[i < n ? i : 0];
    rz_call_free(call, scratch);
  }
  if (instance.first_n == 0) instance.first_n = n;
  const int64_t count = target == "abi.first_shape" && instance.first_n < n ? instance.first_n
                        : target == "abi.overrun"                           ? n + 1
                        : target == "abi.tail"                              ? n / 8 * 8
                                                                            : n;
  for (int64_t i = 0; i < count; ++i) y[i] = 2 * x[i < n ? i : 0];
}

void collect(void*, int id, rz_call* call) {
  Instance& instance = instances[static_cast<std::size_t>(id)];
  float* const y = data_of(call, "y");
  const auto n = static_cast<std::size_t>(rz_dim(call, "N"));
  if (instance.target == "abi.returns") instance.result.resize(n);
  const std::vector<float>* result = nullptr;
  if (instance.target == "abi.returns") result = &instance.result;
  if (instance.target == "abi.returns_own") {
    result = &instance.results.front();
  }
  if (result == nullptr) return;
  for (std::size_t i = 0; i < n; ++i) y[i] = (*result)[i];
  if (instance.target == "abi.returns_own") instance.results.erase(instance.results.begin());
}

void reference(void*, const char* target, rz_reference* reference) {
  const double* x = nullptr;
  double* y = nullptr;
  uint64_t in = 0, out = 0;
  int64_t shape[RZ_MOST_RANK];
  int rank = 0;
  if (std::strcmp(target, "abi.bad_reference") == 0)
    return rz_reference_fail(reference, "my.py:20: no reference today");
  if (std::strcmp(target, "abi.wrong_reference") == 0)
    return rz_reference_returned(reference, "'y' of another shape");
  if (rz_reference_input(reference, "y", &x, &in, shape, &rank) == 0 ||
      rz_reference_input(reference, "x", &x, &in, shape, &rank) != 0 ||
      rz_reference_output(reference, "y", &y, &out, shape, &rank) != 0 || rank != 1 ||
      static_cast<uint64_t>(shape[0]) != out || in != out)
    return rz_reference_fail(reference, "the tensors are not those of the call");
  for (uint64_t i = 0; i < out; ++i) y[i] = 2 * x[i];
}

void trial(void*, int begins) {
  trials += begins != 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (rz_worker_abi() != RZ_WORKER_ABI) return 9;
  const rz_callbacks callbacks = {nullptr, make, destroy, run, collect, reference, trial};
  const std::vector<const char*> words(argv + 1, argv + argc);
  return rz_worker_main(argc - 1, words.data(), kAbiTargets, &callbacks);
}
