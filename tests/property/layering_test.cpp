// The arrows of dependency, and each third-party header where its job is. Reads the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace redzone {
namespace {

using std::filesystem::path;

struct Include {
  std::string file;  // from the root of the tree, with '/'
  int line = 0;
  std::string header;   // as written, without <> or ""
  bool quoted = false;  // "" rather than <>
};

struct Source {
  std::string file;
  std::size_t lines = 0;
};

struct Tree {
  std::vector<Source> sources;
  std::vector<Include> includes;
};

bool is_source(const path& file) {
  const std::vector<std::string> kinds{".h", ".cpp", ".cu", ".cuh"};
  return std::find(kinds.begin(), kinds.end(), file.extension().string()) != kinds.end();
}

const Tree& tree() {
  static const Tree all = [] {
    const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
    Tree out;
    for (const char* part : {"src", "generators", "oracles", "tests"})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(path(SOURCE_DIR) / part)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        Source source{entry.path().lexically_relative(SOURCE_DIR).generic_string(), 0};
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
          ++source.lines;
          std::smatch match;
          if (std::regex_match(line, match, include))
            out.includes.push_back(
                {source.file, static_cast<int>(source.lines), match[2], match[1] == "\""});
        }
        out.sources.push_back(source);
      }
    return out;
  }();
  return all;
}

bool begins(const std::string& text, const std::string& with) {
  return text.rfind(with, 0) == 0;
}

bool begins_with_any(const std::string& text, const std::vector<std::string>& with) {
  return std::any_of(with.begin(), with.end(), [&](const auto& w) { return begins(text, w); });
}

// Who may include what: a file whose path begins with one of `users`.
struct ThirdParty {
  const char* name;
  std::vector<std::string> headers;
  std::vector<std::string> users;
};

std::vector<ThirdParty> third_party() {
  return {
      {"rapidcheck", {"rapidcheck"}, {"generators/", "tests/"}},
      {"program_options", {"boost/program_options"}, {"src/cli/command.h"}},
      {"context", {"boost/context"}, {"src/device/host/", "src/campaign/coroutine."}},
      {"math", {"boost/math"}, {"src/statistics/interval.cpp"}},
      {"sqlite", {"SQLiteCpp", "sqlite3"}, {"src/store/", "tests/"}},
      {"json",
       {"nlohmann"},
       {"src/report/", "src/store/", "src/bench/", "src/core/json.h", "tests/"}},
      {"toml", {"toml++"}, {"src/core/toml.h"}},
      {"pugixml", {"pugixml"}, {"src/report/junit.cpp", "tests/"}},
      {"muparser", {"muParser"}, {"src/package/expression.cpp"}},
      {"cuda", {"cuda.h", "nvrtc.h"}, {"src/device/cuda/", "src/standalone/", "tests/gpu/"}},
      {"cuda_runtime",
       {"cuda_runtime"},
       {"src/target/public/redzone/target.h", "src/device/cuda/", "tests/gpu/"}},
      {"gtest", {"gtest", "gmock"}, {"tests/"}},
  };
}

void PrintTo(const ThirdParty& t, std::ostream* out) {
  *out << t.name;
}

class ThirdPartyHeaders : public testing::TestWithParam<ThirdParty> {};

TEST_P(ThirdPartyHeaders, AreIncludedOnlyWhereTheirJobIs) {
  const ThirdParty& rule = GetParam();
  int used = 0;
  for (const auto& include : tree().includes) {
    if (!begins_with_any(include.header, rule.headers)) continue;
    ++used;
    EXPECT_TRUE(begins_with_any(include.file, rule.users))
        << include.file << ":" << include.line << " includes " << include.header;
  }
  EXPECT_GT(used, 0) << "nobody includes it any more: drop the rule";
}

INSTANTIATE_TEST_SUITE_P(Headers, ThirdPartyHeaders, testing::ValuesIn(third_party()),
                         [](const auto& info) { return std::string(info.param.name); });

// A part of the tree and the headers of other parts that it may know.
struct Part {
  const char* name;
  std::string folder;
  std::vector<std::string> may_include;
};

const std::vector<std::string> kParts{
    "core/",       "target/",     "device/",     "exec/",   "campaign/",  "store/", "report/",
    "generators/", "oracles/",    "cli/",        "bench/",  "sanitizer/", "tma/",   "package/",
    "references/", "standalone/", "statistics/", "bisect/", "launcher/",  "trial/"};

std::vector<Part> parts() {
  return {
      {"core", "src/core/", {}},
      {"target", "src/target/", {"core/"}},
      {"tma", "src/tma/", {"core/"}},
      {"device", "src/device/", {"core/", "tma/"}},
      {"references", "src/references/", {}},
      // Part of plugins: knows what they know.
      {"launcher", "src/launcher/", {}},
      {"package",
       "src/package/",
       {"core/", "target/", "launcher/", "references/", "device/element.h"}},
      {"sanitizer", "src/sanitizer/", {"core/"}},
      {"exec", "src/exec/", {"core/", "device/", "target/", "sanitizer/", "tma/"}},
      // The campaign sees interfaces and plain values: no device, no worker, no SQLite.
      {"campaign",
       "src/campaign/",
       {"core/", "exec/executor.h", "oracles/", "statistics/", "core/finding.h"}},
      {"statistics", "src/statistics/", {"core/"}},
      // Through the runner, it does not know what runs the plans.
      {"bisect",
       "src/bisect/",
       {"core/", "campaign/run_judgement.h", "oracles/axes.h", "statistics/"}},
      {"standalone", "src/standalone/", {"core/", "device/", "trial/tensor_buffer.h"}},
      {"store", "src/store/", {"core/"}},
      {"report",
       "src/report/",
       {"core/", "core/finding.h", "core/environment.h", "store/upkeep_facts.h", "tma/", "bisect/",
        "statistics/"}},
      {"generators", "generators/", {"core/", "tma/"}},
      {"oracles", "oracles/", {"core/"}},
      // Targets see what a plugin of another project sees, <redzone/...>, and share a launcher.
      {"targets", "src/targets/", {"launcher/"}},
  };
}

void PrintTo(const Part& p, std::ostream* out) {
  *out << p.name;
}

class Parts : public testing::TestWithParam<Part> {};

TEST_P(Parts, IncludeOnlyWhatTheyMayKnow) {
  const Part& part = GetParam();
  const std::string own = std::string(part.name) + "/";
  int seen = 0;
  for (const auto& include : tree().includes) {
    if (!begins(include.file, part.folder)) continue;
    ++seen;
    if (!include.quoted || !begins_with_any(include.header, kParts) || begins(include.header, own))
      continue;
    EXPECT_TRUE(begins_with_any(include.header, part.may_include))
        << include.file << ":" << include.line << " includes " << include.header;
  }
  EXPECT_GT(seen, 0) << "the folder has moved";
}

INSTANTIATE_TEST_SUITE_P(Arrows, Parts, testing::ValuesIn(parts()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Layering, NobodyIncludesTheCommandLine) {
  for (const auto& include : tree().includes)
    EXPECT_TRUE(!begins(include.header, "cli/") ||
                begins_with_any(include.file, {"src/cli/", "src/bench/", "tests/"}))
        << include.file << ":" << include.line << " includes " << include.header;
}

// Elsewhere, text of a target or of a store could steer the terminal.
TEST(Layering, CommandsPrintThroughOneFile) {
  const std::regex prints(R"(\bstd::(cout|cerr|clog|puts)\b|\b(stdout|stderr)\b|\bf?printf\b)");
  int seen = 0;
  for (const auto& source : tree().sources) {
    if (!begins(source.file, "src/cli/")) continue;
    std::ifstream in(path(SOURCE_DIR) / source.file);
    for (std::string line; std::getline(in, line);) {
      if (!std::regex_search(line.substr(0, line.find("//")), prints)) continue;
      ++seen;
      EXPECT_EQ(source.file, "src/cli/output.cpp") << line;
    }
  }
  EXPECT_GT(seen, 0) << "the file has moved";
}

// Public headers are copied to build/include, where nothing else of this tree is.
TEST(Layering, PublicHeadersKnowOnlyEachOther) {
  int seen = 0;
  for (const auto& include : tree().includes) {
    if (include.file.find("/public/redzone/") == std::string::npos) continue;
    ++seen;
    EXPECT_FALSE(begins_with_any(include.header, kParts))
        << include.file << ":" << include.line << " includes " << include.header;
  }
  EXPECT_GT(seen, 0);
}

TEST(Layering, FilesAreShort) {
  ASSERT_GT(tree().sources.size(), 100u) << "the sources were not found";
  for (const auto& source : tree().sources)
    EXPECT_LE(source.lines, 600u) << source.file << " has " << source.lines << " lines";
}

}  // namespace
}  // namespace redzone
