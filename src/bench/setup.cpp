#include "bench/setup.h"

#include <algorithm>

namespace redzone::bench {
namespace {

constexpr std::size_t kQuickPuzzles = 4;

bool is_asked_for(const std::vector<std::string>& puzzles, const std::string& name) {
  return puzzles.empty() || std::find(puzzles.begin(), puzzles.end(), name) != puzzles.end();
}

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
        !entry.is_package() && is_asked_for(setup.effort.puzzles, entry.spec.name))
      all.push_back(&entry);
  return enough_of(all, setup.effort.quick && setup.effort.puzzles.empty());
}

}  // namespace redzone::bench
