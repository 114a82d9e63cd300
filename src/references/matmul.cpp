#include "references/check.h"
#include "references/references.h"

namespace redzone::references {

void matmul(ReferenceCall& call, const Numbers&) {
  const std::int64_t M = call.dim("M"), N = call.dim("N"), K = call.dim("K");
  const auto a = call.input("a");
  const auto b = call.input("b");
  const auto c = call.output("c");
  check_size("a", a.size(), {M, K});
  check_size("b", b.size(), {K, N});
  check_size("c", c.size(), {M, N});
  const auto width = static_cast<std::size_t>(N);
  const auto depth = static_cast<std::size_t>(K);
  for (std::size_t i = 0; i < static_cast<std::size_t>(M); ++i) {
    const auto row = c.subspan(i * width, width);
    for (double& sum : row) sum = 0;
    // Along rows of b, so that memory is read in order.
    for (std::size_t k = 0; k < depth; ++k) {
      const double left = a[i * depth + k];
      for (std::size_t j = 0; j < width; ++j) row[j] += left * b[k * width + j];
    }
  }
}

}  // namespace redzone::references
