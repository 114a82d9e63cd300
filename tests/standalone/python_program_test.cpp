// What the text of a Python program is made of; tests/python/export_test.py runs such programs.
#include "standalone/python_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "core/names.h"
#include "standalone/ways.h"

namespace redzone::standalone {
namespace {

std::string program_for(FailKind kind) {
  TargetSpec spec;
  spec.name = "my.f";
  Plan plan;
  plan.target = spec.name;
  plan.mode.allocator = Allocator::guard;
  plan.steps = {CallStep{}};
  PythonRequest request;
  request.plan = &plan;
  request.spec = &spec;
  request.signature.kind = kind;
  request.file = "my.py";
  request.source = "import redzone as rz\n";
  const auto text = python_program_text(request);
  return text ? *text : "refused: " + text.error().message;
}

// A trial that is compared with one of the same mode, or of other places, needs new addresses.
bool needs_addresses(FailKind kind) {
  const auto ways = ways_to_run(kind == FailKind::reference ? FailKind::fault : kind, Mode{});
  return ways && std::any_of(ways->begin() + 1, ways->end(), [](const Way& way) {
           return way.mode == Mode{} || way.mode.placement != Mode{}.placement;
         });
}

TEST(PythonProgram, ForksUnlessAddressesMayBeTheFailure) {
  std::set<FailKind> forking, refused;
  for (const auto kind : enumerators<FailKind>()) {
    const std::string text = program_for(kind);
    if (text.starts_with("refused: ")) {
      refused.insert(kind);
      continue;
    }
    const bool forks = text.find("\"forks\": true") != std::string::npos;
    EXPECT_NE(forks, text.find("\"forks\": false") != std::string::npos) << name_of(kind);
    EXPECT_EQ(forks, !needs_addresses(kind)) << name_of(kind);
    if (forks) forking.insert(kind);
  }
  EXPECT_TRUE(forking.contains(FailKind::history) && forking.contains(FailKind::fault));
  for (const auto kind : {FailKind::nondeterministic, FailKind::placement, FailKind::divergence})
    EXPECT_FALSE(forking.contains(kind) || refused.contains(kind)) << name_of(kind);
}

TEST(PythonProgram, HasEachModuleBehindThoseThatItUses) {
  const std::string text = program_for(FailKind::fault);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) EXPECT_FALSE(line.starts_with("from .")) << line;
  std::size_t at = 0;
  for (const char* declared : {"class Failed(", "class Target:", "def fill_bits(", "class Buffer:",
                               "class TorchArrays:", "def run_forked(", "def main("}) {
    const std::size_t next = text.find(declared, at);
    ASSERT_NE(next, std::string::npos) << declared;
    at = next;
  }
}

}  // namespace
}  // namespace redzone::standalone
