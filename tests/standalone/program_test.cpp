#include "standalone/program.h"

#include <gtest/gtest.h>

#include <map>

#include "core/sample.h"
#include "standalone/inline_sources.h"

namespace redzone::standalone {
namespace {

using redzone::testing::sample_plan;
using redzone::testing::sample_spec;

using Files = std::map<std::string, std::string>;

SourceInliner inliner(const Files& files, std::vector<std::filesystem::path> folders = {}) {
  return {std::move(folders), [files](const std::filesystem::path& path) {
            const auto it = files.find(path.string());
            return it == files.end() ? std::nullopt : std::optional(it->second);
          }};
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(SourceInliner, PutsEachFileInOnce) {
  auto in = inliner({{"src/a.cu", "#include \"b.h\"\n#include \"../c.h\"\nint a;\n"},
                     {"src/b.h", "#pragma once\n#include \"../c.h\"\nint b;\n"},
                     {"c.h", "int c;\n"}});
  const auto text = in.file("src/a.cu");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(count(*text, "int c;"), 1u);
  EXPECT_LT(text->find("int c;"), text->find("int b;"));
  EXPECT_LT(text->find("int b;"), text->find("int a;"));
  EXPECT_EQ(count(*text, "#pragma once"), 0u);
  EXPECT_EQ(count(*text, "#include"), 0u);
}

TEST(SourceInliner, LeavesTheHeadersOfTheCompiler) {
  auto in = inliner({{"a.cu", "#include <vector>\n# include <cuda_fp16.h>  // half\n"}});
  const auto text = in.file("a.cu");
  ASSERT_TRUE(text);
  EXPECT_EQ(count(*text, "include <vector>"), 1u);
  EXPECT_EQ(count(*text, "include <cuda_fp16.h>"), 1u);
}

TEST(SourceInliner, LooksInFoldersAndAmongTheHeadersOfRedzone) {
  auto in = inliner({{"a.cu", "#include <redzone/target.h>\n#include \"kit/k.h\"\n"},
                     {"include/kit/k.h", "int k;\n"}},
                    {"include"});
  const auto text = in.file("a.cu");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(count(*text, "int k;"), 1u);
  EXPECT_EQ(count(*text, "class Context : public CallArguments {"), 1u);
  EXPECT_EQ(count(*text, "struct TargetSpec {"), 1u);
}

TEST(SourceInliner, AHeaderThatIsNotThereIsNamedWithItsLine) {
  auto in = inliner({{"a.cu", "\n#include \"missing.h\"\n"}});
  const auto text = in.file("a.cu");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::usage);
  EXPECT_NE(text.error().message.find("a.cu:2"), std::string::npos) << text.error().message;
  EXPECT_FALSE(inliner({}).file("b.cu"));
}

Result<std::string> text_of(const Plan& plan, FailKind kind, const TargetSpec& spec) {
  return program_text({&plan, &spec, kind, "a comment\\", "SOURCE\n", ""});
}

TEST(ProgramText, HasCommentPlanSourceAndData) {
  const auto text = text_of(sample_plan(), FailKind::uninitialized, sample_spec());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(text->starts_with("// a comment\n"));
  EXPECT_EQ(count(*text, "// redzone_plan = 1\n"), 1u);
  EXPECT_EQ(count(*text, "SOURCE\n"), 1u);
  EXPECT_EQ(count(*text, "{\"T\", 32ll}"), 2u);
  EXPECT_EQ(count(*text, "\"as found\""), 1u);
  EXPECT_EQ(count(*text, "\"with another poison\""), 1u);
  EXPECT_EQ(count(*text, "StepData::Kind::wait, 0, 0, 1"), 1u);
  EXPECT_EQ(count(*text, "REDZONE_PLUGIN"), 0u);
}

TEST(ProgramText, AFaultNeedsOneTrial) {
  const auto text = text_of(sample_plan(), FailKind::illegal_access, sample_spec());
  ASSERT_TRUE(text);
  EXPECT_EQ(count(*text, "Order::"), 1u);
}

TEST(ProgramText, ALifetimeBugIsShownByHeldLaunches) {
  const auto text = text_of(sample_plan(), FailKind::async, sample_spec());
  ASSERT_TRUE(text);
  EXPECT_EQ(count(*text, "Order::gated"), 1u);
  EXPECT_EQ(count(*text, "Order::blocking"), 2u);
}

TEST(ProgramText, ATargetThatCompilesGetsACompiler) {
  TargetSpec lazy = sample_spec();
  EXPECT_EQ(count(*text_of(sample_plan(), FailKind::fault, lazy), "standalone::compile"), 0u);
  lazy.needs_nvrtc = true;
  const auto text = text_of(sample_plan(), FailKind::fault, lazy);
  ASSERT_TRUE(text);
  EXPECT_EQ(count(*text, "{&redzone::standalone::compile, kernel_header}"), 1u);
  EXPECT_EQ(count(*text, "T* dynamic_shared()"), 1u);
}

TEST(ProgramText, RegistersWhatHasNoEntryPoint) {
  const Plan plan = sample_plan();
  const TargetSpec spec = sample_spec();
  const auto text = program_text({&plan, &spec, FailKind::fault, "", "", "my::add"});
  ASSERT_TRUE(text);
  EXPECT_EQ(count(*text, "REDZONE_PLUGIN(registrar) {\n  my::add(registrar);\n}"), 1u);
}

TEST(ProgramText, ASourceHasOneEntryPoint) {
  const Plan plan = sample_plan();
  const TargetSpec spec = sample_spec();
  const auto with = [&](std::string source) {
    return program_text({&plan, &spec, FailKind::fault, "", std::move(source), "my::add"});
  };
  const auto twice = with("int a;\n  REDZONE_PLUGIN(registrar) { registrar.add<T>(); }\n");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, ErrorKind::usage);
  EXPECT_NE(twice.error().message.find("--register my::add is for a source without REDZONE_PLUGIN"),
            std::string::npos);
  // A comment and the macro's definition, as in <redzone/target.h>.
  EXPECT_TRUE(
      with("//     REDZONE_PLUGIN(registrar) { registrar.add<Scale>(); }\n"
           "#define REDZONE_PLUGIN(registrar) \\\n  static void f()\n"));
}

TEST(ProgramText, RefusesWhatWouldNotShow) {
  const auto refused = [](const Plan& plan, FailKind kind, const TargetSpec& spec) {
    const auto text = text_of(plan, kind, spec);
    return !text && text.error().kind == ErrorKind::usage && !text.error().message.empty();
  };
  for (const auto kind :
       {FailKind::race, FailKind::barrier, FailKind::scratch, FailKind::schedule, FailKind::graph,
        FailKind::allocation, FailKind::reference, FailKind::use_after_free})
    EXPECT_TRUE(refused(sample_plan(), kind, sample_spec())) << name_of(kind);
  Plan pool = sample_plan();
  pool.mode.allocator = Allocator::pool;
  EXPECT_TRUE(refused(pool, FailKind::fault, sample_spec()));
  Plan threads = sample_plan();
  threads.mode.callers = Callers::each;
  EXPECT_TRUE(refused(threads, FailKind::fault, sample_spec()));
  TargetSpec counted = sample_spec();
  counted.tensors[1].counted_by = CountedBy{"x"};
  EXPECT_TRUE(refused(sample_plan(), FailKind::fault, counted));
  Plan reused = sample_plan();
  reused.mode.addresses = Addresses::reused;
  EXPECT_TRUE(refused(reused, FailKind::fault, sample_spec()));
  Plan filled = sample_plan();
  filled.mode.stack = Stack::filled;
  EXPECT_TRUE(refused(filled, FailKind::fault, sample_spec()));
  Plan graph = sample_plan();
  std::get<CallStep>(graph.steps.back()).graph = 1;
  EXPECT_TRUE(refused(graph, FailKind::fault, sample_spec()));
}

}  // namespace
}  // namespace redzone::standalone
