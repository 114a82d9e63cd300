#include "libraries/memory_context.h"

#include <cmath>
#include <limits>
#include <set>

namespace redzone::test {

MemoryContext::MemoryContext(const TargetSpec& spec, const Call& call, std::uint64_t seed)
    : call_(call) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> value(1, 3);
  for (const auto& tensor : spec.tensors) {
    Memory& memory = tensors_[tensor.name];
    const auto layout = call.layouts.find(tensor.name);
    memory.view = make_view(tensor.shape_for(call.dims, call.config),
                            layout == call.layouts.end() ? Layout{} : layout->second)
                      .value();
    memory.storage.assign(static_cast<std::size_t>(memory.view.storage_elems),
                          std::numeric_limits<float>::quiet_NaN());
    if (tensor.role == Role::out) continue;
    for (const std::size_t place : places(memory.view))
      memory.storage[place] = static_cast<float>(value(random));
  }
}

TensorArg MemoryContext::tensor(std::string_view name) const {
  const Memory& memory = tensors_.find(name)->second;
  auto* const base = const_cast<float*>(memory.storage.data());
  return {base + memory.view.offset_elems + memory.view.origin_elems, DType::f32, memory.view.shape,
          memory.view.strides};
}

std::vector<double> MemoryContext::elements(std::string_view name) const {
  const Memory& memory = tensors_.find(name)->second;
  std::vector<double> out;
  for (const std::size_t place : places(memory.view)) out.push_back(memory.storage[place]);
  return out;
}

bool MemoryContext::gaps_are_untouched(std::string_view name) const {
  const Memory& memory = tensors_.find(name)->second;
  const auto used = places(memory.view);
  const std::set<std::size_t> elements(used.begin(), used.end());
  for (std::size_t i = 0; i < memory.storage.size(); ++i)
    if (!elements.contains(i) && !std::isnan(memory.storage[i])) return false;
  return true;
}

std::vector<std::size_t> MemoryContext::places(const View& view) {
  std::vector<std::size_t> out;
  std::int64_t elements = 1;
  for (const auto extent : view.shape) elements *= extent;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t rest = i, place = view.offset_elems + view.origin_elems;
    for (std::size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d])
      place += rest % view.shape[d] * view.strides[d];
    out.push_back(static_cast<std::size_t>(place));
  }
  return out;
}

}  // namespace redzone::test
