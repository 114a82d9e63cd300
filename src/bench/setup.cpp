#include "bench/setup.h"

namespace redzone::bench {
namespace {

constexpr std::size_t kQuickPuzzles = 4;

}  // namespace

std::vector<const TargetEntry*> enough_of(const std::vector<const TargetEntry*>& puzzles,
                                          bool quick) {
  if (!quick || puzzles.size() <= kQuickPuzzles) return puzzles;
  std::vector<const TargetEntry*> some;
  for (std::size_t i = 0; i < kQuickPuzzles; ++i)
    some.push_back(puzzles[i * puzzles.size() / kQuickPuzzles]);
  return some;
}

std::vector<const TargetEntry*> puzzles_to_find(const Setup& setup) {
  std::vector<const TargetEntry*> all;
  for (const auto& entry : setup.registry.entries())
    if (entry.device == setup.device && entry.spec.category == Category::puzzle &&
        !entry.is_package())
      all.push_back(&entry);
  return enough_of(all, setup.effort.quick);
}

}  // namespace redzone::bench
