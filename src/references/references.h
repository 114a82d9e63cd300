// References in float64 for kernels that have no reference of their own, such as those of kernel
// packages. Looked up by the names in descriptions.
#pragma once

#include <redzone/target.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::references {

// The numeric arguments of a kernel, by name.
using Numbers = std::map<std::string, double, std::less<>>;

struct Reference {
  std::string_view name;
  // Everything that the reference reads and writes: names of dims, of tensors, and of Numbers.
  std::vector<std::string_view> dims, inputs, outputs, numbers;
  // Throws std::invalid_argument if the size of a tensor contradicts its dims.
  void (*run)(ReferenceCall& call, const Numbers& numbers) = nullptr;
};

// Null for an unknown name. The reference lives as long as the process.
const Reference* find(std::string_view name);
std::vector<std::string> names();

// y = factor * x, element by element.
void scale(ReferenceCall& call, const Numbers& numbers);
// c [M, N] = a [M, K] b [K, N].
void matmul(ReferenceCall& call, const Numbers& numbers);
// o [B, HQ, S, D] = softmax(q k^T / sqrt(D)) v, row by row, with k and v [B, HKV, S, D]: query head
// h reads key head h / (HQ / HKV). With `causal` other than 0, row i sees columns 0 .. i.
void attention(ReferenceCall& call, const Numbers& numbers);

}  // namespace redzone::references
