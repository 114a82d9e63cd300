// The notes at the top of the puzzles are well formed and agree with the registered targets.
#include "puzzles/notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/validate.h"
#include "puzzles/causes.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {
namespace {

std::vector<std::string> names_of_dims(const TargetSpec& spec) {
  std::vector<std::string> names;
  for (const auto& d : spec.dims)
    names.push_back(d.name + " " + std::to_string(d.min) + ".." + std::to_string(d.max));
  return names;
}

std::vector<std::string> names_of_tensors(const TargetSpec& spec) {
  std::vector<std::string> names;
  for (const auto& t : spec.tensors) names.push_back(t.name);
  return names;
}

TEST(Notes, EveryFileHasOneAndIsNamedAfterIt) {
  const auto files = puzzle_files();
  ASSERT_GE(files.size(), 14u);
  for (const auto& file : files) {
    const auto note = read_note(file);
    ASSERT_TRUE(note) << note.error().message;
    EXPECT_EQ(note->name, file.stem().string());
  }
}

TEST(Notes, EveryRegisteredTargetHasANote) {
  std::set<std::string> noted;
  for (const auto& note : shipped_notes()) {
    if (!note.control) noted.insert(note.puzzle());
    noted.insert(note.twin());
  }
  const auto registered = shipped_registry().names();
  EXPECT_EQ(std::set<std::string>(registered.begin(), registered.end()), noted);
}

// The long suite bisects each puzzle and compares what it finds with its row.
TEST(Notes, EveryPuzzleHasItsCausesAndAReducedPlan) {
  std::set<std::string> puzzles;
  for (const auto& note : shipped_notes()) {
    if (note.control) continue;
    puzzles.insert(note.name);
    EXPECT_TRUE(causes().contains(note.name))
        << note.name << " has no row in tests/puzzles/causes.h";
    const auto repro = std::filesystem::path(REPROS) / (note.name + ".toml");
    EXPECT_TRUE(std::filesystem::exists(repro)) << "export its reduced plan into " << repro;
  }
  for (const auto& [name, rows] : causes())
    EXPECT_TRUE(puzzles.contains(name)) << "causes.h names '" << name << "', which is no puzzle";
}

TEST(Notes, APuzzleAndItsTwinTakeTheSamePlans) {
  for (const auto& note : shipped_notes()) {
    SCOPED_TRACE(note.name);
    const TargetSpec& twin = shipped_spec(note.twin());
    EXPECT_EQ(twin.category, Category::twin);
    EXPECT_TRUE(twin.has_reference);
    if (note.control) continue;
    const TargetSpec& puzzle = shipped_spec(note.puzzle());
    EXPECT_EQ(puzzle.category, Category::puzzle);
    EXPECT_EQ(names_of_dims(puzzle), names_of_dims(twin));
    EXPECT_EQ(names_of_tensors(puzzle), names_of_tensors(twin));
    for (const auto& expectation : note.expectations)
      for (const auto& minimum : expectation.minima)
        for (const TargetSpec* spec : {&puzzle, &twin}) {
          const auto valid = validate(minimal_plan(minimum, *spec), *spec);
          EXPECT_TRUE(valid) << valid.error().message;
        }
  }
}

// A tensor of the spec, or memory that the source requests under this name.
TEST(Notes, ExpectationsNameBuffersOfTheTarget) {
  for (const auto& file : puzzle_files()) {
    const auto note = read_note(file);
    ASSERT_TRUE(note) << note.error().message;
    std::ifstream in(file);
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    for (const auto& e : note->expectations) {
      if (e.buffer.empty()) continue;
      const auto tensors = names_of_tensors(shipped_spec(note->puzzle()));
      const bool asked_for = source.find("ctx.allocate(\"" + e.buffer + '"') != std::string::npos ||
                             source.find("ctx.scratch(\"" + e.buffer + '"') != std::string::npos;
      EXPECT_TRUE(asked_for || std::find(tensors.begin(), tensors.end(), e.buffer) != tensors.end())
          << note->name << ": " << e.buffer;
    }
  }
}

TEST(Notes, AreParsed) {
  const auto note = parse_note(
      "// puzzle: p\n"
      "// bug: what is\n"
      "//      wrong\n"
      "// kin: a/b#1\n"
      "// expect: illegal-access | fault read after x\n"
      "// minimal: 2 calls, async, guard_before; N=1; N=65 D=2 x.row_padding=7 y.transposed\n"
      "// minimal: 1 call, element, each; N=1 x.unit_stride=1 y.offset=2 z.reversed=0\n"
      "#include <a>\n"
      "// expect: hang\n",
      "p.cu");
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(note->bug, "what is wrong");
  ASSERT_EQ(note->expectations.size(), 1u);
  const Expectation& e = note->expectations[0];
  EXPECT_EQ(e.kinds, (std::vector{FailKind::illegal_access, FailKind::fault}));
  EXPECT_EQ(e.access, "read");
  EXPECT_EQ(e.side, "after");
  EXPECT_EQ(e.buffer, "x");
  ASSERT_EQ(e.minima.size(), 2u);
  EXPECT_EQ(e.minima[0].mode.launch, Launch::async);
  EXPECT_EQ(e.minima[0].mode.placement, Placement::guard_before);
  EXPECT_EQ(e.minima[0].mode.alignment, Alignment::promised);
  EXPECT_EQ(e.minima[1].mode.placement, Placement::guard_after);
  EXPECT_EQ(e.minima[1].mode.alignment, Alignment::element);
  EXPECT_EQ(e.minima[0].mode.callers, Callers::one);
  EXPECT_EQ(e.minima[1].mode.callers, Callers::each);
  ASSERT_EQ(e.minima[0].calls.size(), 2u);
  const Call& last = e.minima[0].calls[1];
  EXPECT_EQ(last.dims, (Dims{{"N", 65}, {"D", 2}}));
  EXPECT_EQ(last.layout("x").row_padding_elems, 7);
  EXPECT_TRUE(last.layout("y").transposed);
  const Call& other = e.minima[1].calls[0];
  EXPECT_EQ(other.layout("x"), Layout{.unit_stride = 1});
  EXPECT_EQ(other.layout("y"), Layout{.offset_elems = 2});
  EXPECT_EQ(other.layout("z"), Layout{.reversed_dim = 0});
}

TEST(Notes, OfTheWrongFormAreRefused) {
  const std::string head = "// puzzle: p\n// bug: b\n// kin: k\n";
  const char* const wrong[] = {
      "",                                                          // expects nothing
      "// expect: hang\n",                                         // no minimum
      "// minimal: 1 call; N=1\n",                                 // of nothing
      "// expect: hung\n// minimal: 1 call; N=1\n",                // no such kind
      "// expect: hang\n// minimal: 2 calls; N=1\n",               // a wrong count
      "// expect: hang\n// minimal: 1 call, sideways; N=1\n",      // no such way
      "// expect: hang\n// minimal: 1 call; N=one\n",              // no number
      "// expect: hang\n// minimal: 1 call; x.shape=1\n",          // no layout
      "// expect: hang read after x y\n// minimal: 1 call; N=1\n"  // one word too many
  };
  for (const char* rest : wrong) EXPECT_FALSE(parse_note(head + rest, "p.cu")) << rest;
  EXPECT_FALSE(parse_note("#include <a>\n", "p.cu"));
  EXPECT_FALSE(parse_note("// control: c\n// expect: hang\n// minimal: 1 call; N=1\n", "c.cu"));
}

TEST(Minimum, HasACallAsOftenAsItIsRepeated) {
  const auto note = parse_note(
      "// puzzle: lazy_scratch_first_call\n// bug: b\n// kin: k\n// expect: redzone\n"
      "// minimal: 2 calls; M=1 N=17; M=1 N=17\n",
      "here");
  ASSERT_TRUE(note) << note.error().message;
  const Minimum& minimum = note->expectations.at(0).minima.at(0);
  const TargetSpec& spec = shipped_spec("puzzle.lazy_scratch_first_call");
  Plan plan = minimal_plan(minimum, spec);
  EXPECT_TRUE(is_minimum(plan, minimum, spec));
  plan.steps.pop_back();
  EXPECT_FALSE(is_minimum(plan, minimum, spec));
  std::get<CallStep>(plan.steps.at(0)).repeat = 2;
  EXPECT_TRUE(is_minimum(plan, minimum, spec));
  std::get<CallStep>(plan.steps.at(0)).repeat = 3;
  EXPECT_FALSE(is_minimum(plan, minimum, spec));
}

}  // namespace
}  // namespace redzone::puzzles
