#include "bench/setup.h"

namespace redzone::bench {
namespace {

constexpr std::size_t kQuickPuzzles = 4;

}  // namespace

std::vector<const TargetEntry*> puzzles_to_find(const Setup& setup) {
  std::vector<const TargetEntry*> all;
  for (const auto& entry : setup.registry.entries())
    if (entry.device == setup.device && entry.spec.category == Category::puzzle &&
        !entry.is_package)
      all.push_back(&entry);
  if (!setup.effort.quick || all.size() <= kQuickPuzzles) return all;
  std::vector<const TargetEntry*> some;  // evenly spaced
  for (std::size_t i = 0; i < kQuickPuzzles; ++i)
    some.push_back(all[i * all.size() / kQuickPuzzles]);
  return some;
}

}  // namespace redzone::bench
