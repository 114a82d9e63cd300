// repros/ holds the reduced plan of each puzzle, as `redzone export` wrote it.
#include <gtest/gtest.h>

#include "core/repro.h"
#include "e2e/cli.h"
#include "puzzles/notes.h"
#include "puzzles/shipped.h"

namespace redzone::e2e {
namespace {

using std::filesystem::path;

TEST(Repros, HoldTheMinimumOfEveryPuzzle) {
  int puzzles = 0;
  for (const auto& note : puzzles::shipped_notes()) {
    if (note.control) continue;
    ++puzzles;
    const path file = path(REPROS) / (note.name + ".toml");
    const auto repro = parse_repro(read_text(file), file.filename().string());
    ASSERT_TRUE(repro) << repro.error().message;
    ASSERT_TRUE(repro->signature) << file << " expects nothing";
    const TargetSpec& spec = puzzles::shipped_spec(note.puzzle());
    bool minimal = false;
    for (const auto& expectation : note.expectations)
      for (const auto& minimum : expectation.minima)
        minimal = minimal || (puzzles::matches(expectation, *repro->signature) &&
                              puzzles::is_minimum(repro->plan, minimum, spec));
    EXPECT_TRUE(minimal) << file << " is not what the note calls minimal";
  }
  EXPECT_GE(puzzles, 15);
}

}  // namespace
}  // namespace redzone::e2e
