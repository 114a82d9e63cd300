#include "core/work.h"

namespace redzone {

double work_of(const TargetSpec& spec, const Dims& dims, const Config& config) {
  if (spec.work) return spec.work(dims, config);
  double elements = 0;
  for (const auto& tensor : spec.tensors) {
    double numel = 1;
    for (auto size : tensor.shape_for(dims, config)) numel *= static_cast<double>(size);
    elements += numel;
  }
  return elements;
}

}  // namespace redzone
