#include "bisect/smallest_set.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

namespace redzone::bisect {
namespace {

// Part number `i` when `set` is split into `parts` nearly equal parts.
Subset part_of(const Subset& set, std::size_t i, std::size_t parts) {
  const auto at = [&](std::size_t k) {
    return set.begin() + static_cast<std::ptrdiff_t>(set.size() * k / parts);
  };
  return {at(i), at(i + 1)};
}

Subset without(const Subset& set, const Subset& taken) {
  Subset out;
  std::set_difference(set.begin(), set.end(), taken.begin(), taken.end(), std::back_inserter(out));
  return out;
}

}  // namespace

Subset smallest_set(std::size_t n, const std::function<bool(const Subset&)>& holds) {
  Subset set(n);
  std::iota(set.begin(), set.end(), std::size_t{0});
  std::size_t parts = 2;
  while (set.size() > 1) {
    parts = std::min(parts, set.size());
    std::optional<Subset> smaller;
    for (std::size_t i = 0; i < parts && !smaller; ++i)
      if (auto part = part_of(set, i, parts); holds(part)) smaller = std::move(part);
    const bool to_part = smaller.has_value();
    for (std::size_t i = 0; i < parts && parts > 2 && !smaller; ++i)
      if (auto rest = without(set, part_of(set, i, parts)); holds(rest)) smaller = std::move(rest);
    if (smaller) {
      set = std::move(*smaller);
      parts = to_part ? 2 : std::max<std::size_t>(parts - 1, 2);
    } else if (parts == set.size()) {
      break;
    } else {
      parts *= 2;
    }
  }
  return set;
}

Subset complement(std::size_t n, const Subset& subset) {
  Subset all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return without(all, subset);
}

}  // namespace redzone::bisect
