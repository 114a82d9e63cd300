// Dependencies between folders, and the files that may include each third-party header. Reads the
// sources and the build files: an embedded text, or a compiled source of another folder, counts as
// an include, and a library may link libraries of its own floor and below.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace redzone {
namespace {

using std::filesystem::path;

// The folders from the bottom up: each may include only folders before it. Those of src/ are built
// in this order, too; generators/, oracles/ and libraries/ are beside src/.
const std::vector<std::string> kFloors{
    "core",       "interpose",  "sanitizer", "guard",      "statistics",     "tma",
    "target",     "order",      "launcher",  "references", "device",         "described",
    "package",    "exec",       "python",    "trial",      "memory_preload", "worker_library",
    "standalone", "generators", "oracles",   "campaign",   "bisect",         "store",
    "report",     "engine",     "nightly",   "fleet",      "bench",          "cli",
    "targets",    "libraries"};

// "core/", ...: the prefixes of includes from other folders.
const std::vector<std::string>& part_prefixes() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const auto& floor : kFloors) out.push_back(floor + "/");
    return out;
  }();
  return all;
}

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

// Files that a build file takes from folders of the tree: embedded texts and compiled sources.
std::vector<Include> taken_by(const path& build_file) {
  static const std::regex word(R"([\w./]+)");
  std::vector<Include> out;
  std::ifstream in(build_file);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
      std::string text = it->str();
      if (text.rfind("../", 0) == 0) {
        const path file = (build_file.parent_path() / text).lexically_normal();
        text = file.lexically_relative(SOURCE_DIR).generic_string();
      }
      for (const std::string root : {"/src/", "src/"})
        if (text.rfind(root, 0) == 0) text = text.substr(root.size());
      for (const auto& prefix : part_prefixes())
        if (text.rfind(prefix, 0) == 0 && text.size() > prefix.size())
          out.push_back(
              {build_file.lexically_relative(SOURCE_DIR).generic_string(), number, text, true});
    }
  }
  return out;
}

const Tree& tree() {
  static const Tree all = [] {
    const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
    Tree out;
    for (const char* part : {"src", "generators", "oracles", "libraries", "tests"})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(path(SOURCE_DIR) / part)) {
        if (!entry.is_regular_file()) continue;
        if (entry.path().filename() == "CMakeLists.txt" && part != std::string_view("tests"))
          for (auto& taken : taken_by(entry.path())) out.includes.push_back(std::move(taken));
        if (!is_source(entry.path())) continue;
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

// Which files may include a header: those whose path begins with one of `users`.
struct ThirdParty {
  const char* name;
  std::vector<std::string> headers;
  std::vector<std::string> users;
};

std::vector<ThirdParty> third_party() {
  return {
      {"rapidcheck", {"rapidcheck"}, {"generators/", "tests/"}},
      {"program_options", {"boost/program_options"}, {"src/cli/command.h"}},
      {"backtrace", {"backtrace.h"}, {"src/device/host/source_lines.cpp"}},
      {"context", {"boost/context"}, {"src/device/host/", "src/campaign/coroutine."}},
      {"math", {"boost/math"}, {"src/statistics/interval.cpp"}},
      {"sqlite", {"SQLiteCpp", "sqlite3"}, {"src/store/", "tests/"}},
      {"json",
       {"nlohmann"},
       {"src/report/", "src/store/", "src/bench/", "src/core/json.h", "tests/"}},
      {"spdlog", {"spdlog"}, {"src/core/log.cpp"}},
      {"toml", {"toml++"}, {"src/core/toml.h"}},
      {"pugixml", {"pugixml"}, {"src/report/junit.cpp", "tests/"}},
      {"muparser", {"muParser"}, {"src/described/expression.cpp"}},
      {"cuda",
       {"cuda.h", "nvrtc.h"},
       {"src/device/cuda/", "src/standalone/", "tests/gpu/",
        "tests/interpose/driver_abi_test.cpp"}},
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

// A part of the tree and the headers of other parts that it may include.
struct Part {
  const char* name;
  std::string folder;
  std::vector<std::string> may_include;
};

std::vector<Part> parts() {
  return {
      {"core", "src/core/", {}},
      // Preloaded into foreign processes, so it has nothing of the rest.
      {"interpose", "src/interpose/", {}},
      // Core dumps of programs are read as those of targets are.
      {"guard",
       "src/guard/",
       {"core/", "interpose/", "sanitizer/cuda_gdb.h", "sanitizer/fault_access.h"}},
      {"target", "src/target/", {"core/"}},
      {"tma", "src/tma/", {"core/"}},
      {"order", "src/order/", {"core/"}},
      // Kernels that the device compiles at run time include the same headers as those of plugins.
      {"device", "src/device/", {"core/", "target/public", "tma/"}},
      // Compiles the reference of the chunk kernels, which is plain C++, as one of its own sources.
      {"references", "src/references/", {"targets/chunk/reference"}},
      // Part of plugins, so it may include what they may.
      {"launcher", "src/launcher/", {}},
      {"described", "src/described/", {"core/"}},
      {"package",
       "src/package/",
       {"core/", "described/", "target/", "launcher/", "references/", "device/element.h"}},
      {"sanitizer", "src/sanitizer/", {"core/"}},
      // Describes files in a process of theirs, whose output is read as a worker's is.
      {"python",
       "src/python/",
       {"core/", "described/", "exec/child_environment.h", "exec/output_tail.h", "target/"}},
      {"exec", "src/exec/", {"core/", "device/"}},
      // The campaign uses interfaces and plain values: no device, no worker, no SQLite.
      {"campaign",
       "src/campaign/",
       {"core/", "exec/executor.h", "oracles/", "statistics/", "core/finding.h"}},
      {"statistics", "src/statistics/", {"core/"}},
      // Runs plans through the runner, so it does not depend on what runs them.
      {"bisect", "src/bisect/", {"core/", "campaign/variant_runs.h", "statistics/"}},
      {"trial",
       "src/trial/",
       {"core/", "device/", "exec/", "order/", "sanitizer/", "target/", "tma/"}},
      // Preloaded into processes that run targets: of the rest it has what places and fills
      // buffers.
      {"memory_preload",
       "src/memory_preload/",
       {"core/", "device/", "exec/trial_host.h", "trial/placement.h", "trial/raw_job.h"}},
      // Serves trials with the code of a process that loads it, through a C interface.
      {"worker_library",
       "src/worker_library/",
       {"core/", "device/", "exec/", "memory_preload/guarded_trials.h", "package/", "python/",
        "target/", "trial/"}},
      // The programs that it writes contain the text of headers.
      {"standalone",
       "src/standalone/",
       {"core/", "device/", "target/public/", "trial/tensor_buffer.h"}},
      {"store", "src/store/", {"core/"}},
      {"report", "src/report/", {"core/", "guard/", "tma/", "bisect/", "statistics/"}},
      // Composes concrete classes into a run; prints nothing and reads no command line.
      {"engine",
       "src/engine/",
       {"core/", "guard/", "target/", "device/", "package/", "python/", "exec/",
        "memory_preload/preload_variable.h", "sanitizer/", "generators/", "oracles/", "campaign/",
        "bisect/", "store/"}},
      {"nightly",
       "src/nightly/",
       {"core/", "target/", "exec/executor.h", "campaign/", "bisect/", "store/", "report/",
        "engine/"}},
      // Runs nights as processes; of the rest it has what they stored.
      {"fleet", "src/fleet/", {"core/", "report/", "statistics/", "store/"}},
      {"generators", "generators/", {"core/", "tma/"}},
      {"oracles", "oracles/", {"core/"}},
      // Targets include what a plugin of another project can, <redzone/...>, and share a launcher.
      {"targets", "src/targets/", {"launcher/"}},
      {"libraries", "libraries/", {}},
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
    if (!include.quoted || !begins_with_any(include.header, part_prefixes()) ||
        begins(include.header, own))
      continue;
    EXPECT_TRUE(begins_with_any(include.header, part.may_include))
        << include.file << ":" << include.line << " includes " << include.header;
  }
  EXPECT_GT(seen, 0) << "the folder has moved";
}

TEST_P(Parts, IncludeAllThatTheirRuleNames) {
  const Part& part = GetParam();
  for (const auto& allowed : part.may_include) {
    const bool used =
        std::any_of(tree().includes.begin(), tree().includes.end(), [&](const Include& include) {
          return include.quoted && begins(include.file, part.folder) &&
                 begins(include.header, allowed);
        });
    EXPECT_TRUE(used) << part.folder << " includes nothing of " << allowed;
  }
}

// A path that leaves its folder would pass by the rules above.
TEST(Layering, EveryIncludeNamesAFolderOfTheTree) {
  for (const auto& include : tree().includes) {
    if (begins(include.file, "tests/")) continue;
    EXPECT_FALSE(begins(include.header, "..") || include.header.find("/..") != std::string::npos)
        << include.file << ":" << include.line << " includes " << include.header;
  }
}

INSTANTIATE_TEST_SUITE_P(Arrows, Parts, testing::ValuesIn(parts()),
                         [](const auto& info) { return std::string(info.param.name); });

// The folder in kFloors that contains the file; "" for other files, such as those of tests/.
std::string folder_of(const std::string& file) {
  for (const auto& floor : kFloors)
    if (begins(file, "src/" + floor + "/") || begins(file, floor + "/")) return floor;
  return "";
}

std::size_t floor_of(const std::string& folder) {
  return static_cast<std::size_t>(std::find(kFloors.begin(), kFloors.end(), folder) -
                                  kFloors.begin());
}

TEST(Layering, EveryFolderHasAFloor) {
  std::vector<std::string> folders{"generators", "oracles", "libraries"};
  for (const auto& entry : std::filesystem::directory_iterator(path(SOURCE_DIR) / "src"))
    if (entry.is_directory()) folders.push_back(entry.path().filename().string());
  EXPECT_EQ(std::set(folders.begin(), folders.end()), std::set(kFloors.begin(), kFloors.end()));
  std::set<std::string> with_rules{"bench", "cli"};  // may include all folders below them
  for (const auto& part : parts()) with_rules.insert(part.name);
  for (const auto& floor : kFloors) EXPECT_TRUE(with_rules.contains(floor)) << floor;
}

TEST(Layering, NothingIncludesWhatIsAboveIt) {
  for (const auto& include : tree().includes) {
    const std::string from = folder_of(include.file), to = folder_of(include.header);
    if (!include.quoted || from.empty() || to.empty() || from == to) continue;
    const bool shared_source = from == "references" && begins(include.header, "targets/chunk/");
    EXPECT_TRUE(shared_source || floor_of(to) < floor_of(from))
        << include.file << ":" << include.line << " includes " << include.header;
  }
}

// For each folder, the libraries that its build files define and the folders that these link.
struct Linking {
  std::map<std::string, std::string> folder_of_library;
  std::map<std::string, std::set<std::string>> links;  // folders linked, by folder
};

const Linking& linking() {
  static const Linking all = [] {
    Linking out;
    std::map<std::string, std::vector<std::string>> libraries;  // libraries linked, by folder
    const std::regex made(R"(add_library\(\s*(\w+))"),
        linked(R"(target_link_libraries\(([^)]*)\))"), word(R"(rz_\w+)");
    for (const char* part : {"src", "generators", "oracles", "libraries"})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(path(SOURCE_DIR) / part)) {
        if (entry.path().filename() != "CMakeLists.txt") continue;
        const std::string folder =
            folder_of(entry.path().lexically_relative(SOURCE_DIR).generic_string());
        if (folder.empty()) continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string all_of_it = std::regex_replace(text.str(), std::regex("#[^\n]*"), "");
        const auto each = [&](const std::string& in, const std::regex& what, auto&& body) {
          for (std::sregex_iterator it(in.begin(), in.end(), what), end; it != end; ++it) body(*it);
        };
        each(all_of_it, made, [&](const auto& m) { out.folder_of_library[m[1]] = folder; });
        each(all_of_it, linked, [&](const auto& m) {
          each(m[1].str(), word,
               [&](const auto& library) { libraries[folder].push_back(library.str()); });
        });
      }
    for (const auto& [folder, names] : libraries)
      for (const auto& name : names)
        if (const auto it = out.folder_of_library.find(name); it != out.folder_of_library.end())
          out.links[folder].insert(it->second);
    return out;
  }();
  return all;
}

std::set<std::string> linked_by(const std::string& folder) {
  std::set<std::string> all{folder};
  for (std::vector<std::string> next{folder}; !next.empty();) {
    const std::string at = next.back();
    next.pop_back();
    const auto links = linking().links.find(at);
    if (links == linking().links.end()) continue;
    for (const auto& to : links->second)
      if (all.insert(to).second) next.push_back(to);
  }
  return all;
}

TEST(Layering, LibrariesLinkOnlyWhatIsBelowThem) {
  ASSERT_GE(linking().links.size(), 15u) << "the build files were not read";
  for (const auto& [folder, links] : linking().links)
    for (const auto& to : links)
      EXPECT_LE(floor_of(to), floor_of(folder)) << "src/" << folder << " links " << to;
}

// A header without definitions elsewhere needs no library; this lists the folders that have such
// headers.
TEST(Layering, WhatIsIncludedIsLinked) {
  const std::map<std::string, std::set<std::string>> headers_alone{
      {"campaign", {"exec"}},       // executor.h, an interface
      {"package", {"device"}},      // element.h
      {"exec", {"device"}},         // black_box.h
      {"references", {"targets"}},  // a source that it compiles itself
  };
  for (const auto& include : tree().includes) {
    const std::string from = folder_of(include.file), to = folder_of(include.header);
    if (!include.quoted || from.empty() || to.empty() || from == "targets") continue;
    if (include.file.ends_with("CMakeLists.txt")) continue;  // embedded, not linked
    const auto alone = headers_alone.find(from);
    if (alone != headers_alone.end() && alone->second.contains(to)) continue;
    EXPECT_TRUE(linked_by(from).contains(to))
        << include.file << ":" << include.line << " includes " << include.header << ", which src/"
        << from << "/CMakeLists.txt does not link";
  }
}

TEST(Layering, FoldersAreBuiltInTheOrderOfTheFloors) {
  std::ostringstream text;
  text << std::ifstream(path(SOURCE_DIR) / "src/CMakeLists.txt").rdbuf();
  std::smatch list;
  const std::string all = text.str();
  ASSERT_TRUE(std::regex_search(all, list, std::regex(R"(foreach\(part ([^)]*)\))")));
  std::istringstream words(list[1]);
  std::vector<std::string> built;
  for (std::string word; words >> word;) built.push_back(word);
  std::vector<std::string> of_src;
  for (const auto& floor : kFloors)
    if (floor != "generators" && floor != "oracles" && floor != "libraries")
      of_src.push_back(floor);
  EXPECT_EQ(built, of_src);
}

// The names of files in a CMakeLists.txt, without their folders.
std::set<std::string> named_in(const path& build_file) {
  static const std::regex word(R"([\w./-]+)");
  std::set<std::string> out;
  std::ifstream in(build_file);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it)
      out.insert(path(it->str()).filename().string());
  }
  return out;
}

// A test that no CMakeLists.txt names would never run, and nothing else would say so.
TEST(Layering, EverySourceIsBuilt) {
  std::map<path, std::set<std::string>> named;
  std::size_t read = 0;
  for (const auto& source : tree().sources) {
    const path file = source.file;
    const bool built = file.extension() == ".cpp" &&
                       (!begins(source.file, "tests/") || source.file.ends_with("_test.cpp"));
    if (!built) continue;
    ++read;
    bool found = false;
    for (path folder = file.parent_path(); !found && !folder.empty();
         folder = folder.parent_path()) {
      const path build_file = path(SOURCE_DIR) / folder / "CMakeLists.txt";
      if (!named.contains(build_file)) named[build_file] = named_in(build_file);
      found = named[build_file].contains(file.filename().string());
    }
    EXPECT_TRUE(found) << source.file << " is in no CMakeLists.txt of its folder or above it";
  }
  EXPECT_GT(read, 100u);
}

// Elsewhere, text of a target or a store could send control sequences to the terminal.
TEST(Layering, CommandsPrintThroughOneFile) {
  const std::regex prints(
      R"(\bstd::(cout|cerr|clog|puts)\b|\b(stdout|stderr)\b|\bf?printf\b|::write\()");
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

// A file outside src/device that names a kind of device: how often, and why it may. Code that
// depends on the device reads its traits (core/device_traits.h), so these numbers may only
// decrease.
struct KindUser {
  int times = 0;
  const char* why = "";
};

const std::map<std::string, KindUser>& users_of_device_kinds() {
  static const std::map<std::string, KindUser> all{
      {"src/core/device_traits.cpp", {4, "the table: one row for each kind"}},
      {"src/target/public/redzone/target.h", {2, "a plugin says what it is compiled for"}},
      {"src/target/registry.h", {1, "the default of a member"}},
      {"src/engine/options.h", {1, "the default of a member"}},
      {"src/engine/engine.cpp", {1, "which device compiles ahead"}},
      {"src/bench/run.cpp", {1, "which device the dry column runs on"}},
      {"src/standalone/program.h", {1, "what exported programs run on"}},
      {"src/standalone/cuda.h", {1, "the text of such a program"}},
      {"libraries/common/plugin_entry.h", {2, "a plugin says what it is compiled for"}},
      {"libraries/common/routine.cpp", {1, "libraries for GPUs are called on one only"}},
      {"src/package/metadata.cpp", {1, "the name of a backend of Triton, which is no device's"}},
  };
  return all;
}

TEST(Layering, KindsOfDevicesAreNamedInFewPlaces) {
  const std::regex names(
      R"re(\bDeviceKind::\w+|using enum [\w:]*DeviceKind|[=!]= *"(host|cuda|dry-run)")re");
  std::map<std::string, int> seen;
  for (const auto& source : tree().sources) {
    if (begins(source.file, "src/device/") || begins(source.file, "tests/")) continue;
    std::ifstream in(path(SOURCE_DIR) / source.file);
    for (std::string line; std::getline(in, line);) {
      line = line.substr(0, line.find("//"));
      seen[source.file] += static_cast<int>(std::distance(
          std::sregex_iterator(line.begin(), line.end(), names), std::sregex_iterator()));
    }
  }
  const auto& allowed = users_of_device_kinds();
  for (const auto& [file, times] : seen) {
    const auto user = allowed.find(file);
    EXPECT_LE(times, user == allowed.end() ? 0 : user->second.times)
        << file << " names kinds of devices: ask for a fact of core/device_traits.h instead";
  }
  for (const auto& [file, user] : allowed)
    EXPECT_GE(seen[file], user.times)
        << file << " (" << user.why << ") names fewer kinds of devices: lower its number";
}

// Public headers are copied to build/include without the rest of the tree.
TEST(Layering, PublicHeadersKnowOnlyEachOther) {
  int seen = 0;
  for (const auto& include : tree().includes) {
    if (include.file.find("/public/redzone/") == std::string::npos) continue;
    ++seen;
    EXPECT_FALSE(begins_with_any(include.header, part_prefixes()))
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
