// What the text of a Python program is made of; tests/python/export_test.py runs such programs.
#include "standalone/python_program.h"

#include <gtest/gtest.h>

#include <sstream>

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

TEST(PythonProgram, ForksUnlessAddressesMayBeTheFailure) {
  EXPECT_NE(program_for(FailKind::history).find("\"forks\": true"), std::string::npos);
  EXPECT_NE(program_for(FailKind::fault).find("\"forks\": true"), std::string::npos);
  EXPECT_NE(program_for(FailKind::nondeterministic).find("\"forks\": false"), std::string::npos);
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
