#include "python/description.h"

#include <gtest/gtest.h>

#include "core/device_traits.h"
#include "python/targets.h"

namespace redzone::python {
namespace {

std::string text(const std::string& fields, const std::string& top = "") {
  return R"({"redzone_python": 1, "python": "3.11.7", "torch": "2.11.0+cpu", "triton": "",
             "code_hash": "0123456789abcdef0123456789abcdef", )" +
         top + R"("target": [{"name": "my.add", "file": "my.py", "line": 12,
             "code_hash": "fedcba9876543210fedcba9876543210",
             "deterministic": false, "alignment_changes_bits": true, "remembers_addresses": true,
             "has_reference": true, "state": "process",
             "dim": [{"name": "N", "min": 1, "max": 64, "multiple_of": 1}],
             "knob": [{"name": "f", "values": ["<lambda> 1", "<lambda> 2"]}], )" +
         fields + R"("tensor": [{"name": "y", "dtype": "f32", "role": "out", "shape": ["N"],
             "align_bytes": 16, "returned": true}]}]})";
}

TEST(PythonDescription, IsReadAndMakesASpec) {
  const auto read = read_descriptions(
      text(R"("category": "puzzle", "tolerance": {"abs": 0.5, "rel": 0.25}, )"), "d");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(versions_of(*read), "Python 3.11.7, torch 2.11.0+cpu");
  ASSERT_EQ(read->targets.size(), 1u);
  const auto& target = read->targets.front();
  EXPECT_EQ(target->line, 12);
  EXPECT_TRUE(target->lives_with_process);
  EXPECT_TRUE(target->tensors.front().returned);
  const TargetSpec spec = spec_of(target);
  EXPECT_EQ(spec.category, Category::puzzle);
  EXPECT_EQ(spec.tolerance.abs, 0.5);
  EXPECT_TRUE(spec.has_reference);
  EXPECT_FALSE(spec.deterministic);
  EXPECT_TRUE(spec.alignment_changes_bits);
  EXPECT_TRUE(spec.remembers_addresses);
  EXPECT_FALSE(spec.capturable);
}

TEST(PythonDescription, AMistakeInATargetHasItsLine) {
  const auto read = read_descriptions(text(R"("stat": 1, )"), "d");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message.find("my.py:12: "), 0u) << read.error().message;
}

TEST(PythonDescription, ADimMayBeEmpty) {
  std::string from_zero = text("");
  from_zero.replace(from_zero.find(R"("min": 1)"), 8, R"("min": 0)");
  const auto read = read_descriptions(from_zero, "d");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->targets.front()->dims.front().min, 0);
}

TEST(PythonDescription, SaysWhichFieldIsWrong) {
  const std::pair<std::string, const char*> rows[] = {
      {text(R"("category": "selftest", )"), "target[my.add].category: selftests"},
      {text(R"("stat": 1, )"), "target[my.add].stat: unknown field"},
      {text(R"("code_hash": "x", )"), "code_hash: 'x' is not 32 hex digits"},
      {text("", R"("more": 1, )"), "d: more: unknown field"},
      {"{}", "d: redzone_python: missing"},
      {R"({"redzone_python": 2})", "d: redzone_python: 2 is not in 1..1"},
      {R"({"redzone_python": 1, "python": "", "torch": "", "triton": "", "code_hash": "x"})",
       "d: code_hash: 'x' is not 32 hex digits"},
      {"", "d"},
  };
  for (const auto& [json, problem] : rows) {
    const auto read = read_descriptions(json, "d");
    ASSERT_FALSE(read) << json;
    EXPECT_EQ(read.error().kind, ErrorKind::usage);
    EXPECT_NE(read.error().message.find(problem), std::string::npos) << read.error().message;
  }
}

TEST(PythonTargets, AreOfEachDeviceAndAtOnceOnTheHost) {
  const auto read = read_descriptions(text(""), "d");
  ASSERT_TRUE(read) << read.error().message;
  auto registry = *Registry::load_in_worker({});
  const auto added = add_targets(
      registry, *read, {.source = TargetSource::python, .interpreter = "/p"}, without_python);
  ASSERT_TRUE(added) << added.error().message;
  for (const auto kind : {DeviceKind::host, DeviceKind::cuda, DeviceKind::dry_run}) {
    const TargetEntry* entry = registry.find("my.add", kind);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->immediate, kind != DeviceKind::cuda);
    EXPECT_EQ(entry->origin, (TargetOrigin{TargetSource::python, "my.py", "/p", false}));
    EXPECT_EQ(entry->code_hash, "fedcba9876543210fedcba9876543210");
    EXPECT_EQ(entry->loaded_hash, "0123456789abcdef0123456789abcdef");
  }
  const auto again = add_targets(registry, *read, {.source = TargetSource::python}, without_python);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("Python file my.py:12: duplicate target name 'my.add'"),
            std::string::npos)
      << again.error().message;
}

}  // namespace
}  // namespace redzone::python
