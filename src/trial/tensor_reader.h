// Reads the contents of a tensor on the device, as doubles in logical (row-major) order.
#pragma once

#include <cstddef>
#include <vector>

#include "trial/session.h"
#include "trial/tensor_buffer.h"

namespace redzone::trial {

// Keeps its memory from one tensor to the next, up to a limit.
class TensorReader {
 public:
  // The device must be idle. `fetched`: a copy of the tensor's storage to read instead of the
  // device, or null. Returns null if the session has stopped; the result is valid until the next
  // call.
  const std::vector<double>* read(Session& session, const TensorBuffer& tensor,
                                  const std::byte* fetched = nullptr);
  // Frees memory that only a large tensor needs.
  void forget_large();

 private:
  std::vector<double> in_memory_order_, values_;
  std::vector<std::byte> bytes_;
};

// Frees the vector if it exceeds the memory that is kept for the next tensor.
template <class T>
void forget_if_large(std::vector<T>& kept) {
  constexpr std::size_t kKeptBytes = std::size_t{8} << 20;
  if (kept.capacity() * sizeof(T) > kKeptBytes) kept = {};
}

}  // namespace redzone::trial
