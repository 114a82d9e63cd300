#include "references/check.h"
#include "references/references.h"

namespace redzone::references {

void scale(ReferenceCall& call, const Numbers& numbers) {
  const double factor = numbers.at("factor");
  const auto x = call.input("x");
  const auto y = call.output("y");
  check_size("y", y.size(), {static_cast<std::int64_t>(x.size())});
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = factor * x[i];
}

}  // namespace redzone::references
