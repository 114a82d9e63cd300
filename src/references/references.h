// References in float64 for kernels that come without one, such as those of kernel packages, by the
// names that descriptions give.
#pragma once

#include <redzone/target.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::references {

// The numbers among a kernel's arguments, by name.
using Numbers = std::map<std::string, double, std::less<>>;

struct Reference {
  std::string_view name;
  // What it reads and writes, all of it: names of dims, of tensors, and of Numbers.
  std::vector<std::string_view> dims, inputs, outputs, numbers;
  // Throws std::invalid_argument when a tensor has another size than its dims say.
  void (*run)(ReferenceCall& call, const Numbers& numbers) = nullptr;
};

// Null for a name that there is not. The reference lives as long as the process.
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
