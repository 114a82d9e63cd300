// The README, the pages in docs/ and the help texts agree about commands, flags and exit codes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "core/mode_axes.h"
#include "e2e/cli.h"
#include "oracles/catalog.h"

namespace redzone::e2e {
namespace {

using Flags = std::set<std::string>;
using std::filesystem::path;

Flags flags_in(const std::string& text) {
  static const std::regex flag(R"((^|[^-\w])(--[a-z][a-z-]*))");
  Flags out;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), flag); it != std::sregex_iterator();
       ++it)
    out.insert((*it)[2]);
  return out;
}

// The flags that a help text declares, except --help. A flag begins its line; its description may
// name others.
Flags declared_in(const std::string& help) {
  Flags out;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find_first_not_of(' '); at != 0 && at != std::string::npos)
      if (line.compare(at, 2, "--") == 0 || line.compare(at, 2, "-h") == 0)
        out.merge(flags_in(line.substr(0, line.find("  ", at))));
  out.erase("--help");
  return out;
}

// Flags by command, from `redzone COMMAND --help`.
const std::map<std::string, Flags>& helped() {
  static const std::map<std::string, Flags> all = [] {
    const TempFolder folder;
    std::map<std::string, Flags> out;
    std::istringstream overview(redzone(folder, {"--help"}).out);
    for (std::string line; std::getline(overview, line);) {
      if (line.rfind("  ", 0) != 0) continue;
      const std::string command = line.substr(2, line.find(' ', 2) - 2);
      out[command] = declared_in(redzone(folder, {command, "--help"}).out);
    }
    return out;
  }();
  return all;
}

path root() {
  return SOURCE_DIR;
}

std::string readme() {
  return read_text(root() / "README.md");
}

std::string cli_page() {
  return read_text(root() / "docs" / "cli.md");
}

// Flags by command, from the sections of docs/cli.md, which begin with `## COMMAND`.
std::map<std::string, Flags> documented() {
  std::map<std::string, std::string> sections;
  std::istringstream lines(cli_page());
  std::string command;
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("## ", 0) == 0)
      sections[command = line.substr(3)];
    else if (!command.empty())
      sections[command] += line + '\n';
  std::map<std::string, Flags> out;
  for (const auto& [name, text] : sections) out[name] = declared_in(text);
  return out;
}

// The commands in the first column of a table of the README.
std::set<std::string> commands_of_readme() {
  static const std::regex row(R"(\| (`[a-z]+`(, `[a-z]+`)*) \|.*)");
  static const std::regex name(R"(`([a-z]+)`)");
  std::set<std::string> out;
  const std::string text = readme();
  const auto begin = text.find("\n## Commands\n");
  EXPECT_NE(begin, std::string::npos);
  std::istringstream lines(text.substr(begin, text.find("\n## ", begin + 1) - begin));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string first = match[1];
    for (auto it = std::sregex_iterator(first.begin(), first.end(), name);
         it != std::sregex_iterator(); ++it)
      out.insert((*it)[1]);
  }
  return out;
}

TEST(CommandLinePage, ListsTheFlagsOfEveryCommand) {
  ASSERT_GE(helped().size(), 9u);
  EXPECT_EQ(documented(), helped());
}

TEST(CommandLinePage, NamesEveryExitCode) {
  const TempFolder folder;
  const std::string text = redzone(folder, {"--help"}).out;
  for (const char* code :
       {"0 nothing new", "1 new findings", "2 usage", "3 harness error", "4 nothing could be",
        "5 a store that is not sound", "130 interrupted"}) {
    EXPECT_NE(cli_page().find(code), std::string::npos) << code;
    EXPECT_NE(text.find(code), std::string::npos) << code;
  }
}

TEST(Concepts, ExplainEveryExitCode) {
  const std::string text = read_text(root() / "docs" / "concepts.md");
  for (const char* code :
       {"| 0 | nothing new", "| 1 | new findings", "| 2 | usage error", "| 3 | harness error",
        "| 4 | nothing could be judged", "| 5 | a store that is not sound", "| 130 | interrupted"})
    EXPECT_NE(text.find(code), std::string::npos) << code;
}

TEST(Readme, ListsEveryCommand) {
  std::set<std::string> commands;
  for (const auto& [command, flags] : helped()) commands.insert(command);
  EXPECT_EQ(commands_of_readme(), commands);
}

TEST(Oracles, AreInTheReadmeAndOnTheirPage) {
  const std::string page = read_text(root() / "docs" / "oracles.md"), front = readme();
  const oracles::Catalog catalog;
  for (const auto* oracle : catalog.all()) {
    const std::string name = fmt::format("`{}`", oracle->name());
    EXPECT_NE(page.find("\n| " + name + " |"), std::string::npos) << name;
    // The README need not have every way to run a plan.
    const auto& axes = all_mode_axes();
    const bool compares = std::any_of(axes.begin(), axes.end(), [&](const ModeAxis& axis) {
      return axis.oracle == oracle->name();
    });
    EXPECT_TRUE(compares || front.find(name) != std::string::npos) << name;
  }
}

// In the README and on every page.
TEST(Readme, NamesNoFlagThatDoesNotExist) {
  Flags known{"--version"};
  for (const auto& [command, flags] : helped()) known.insert(flags.begin(), flags.end());
  known.insert("--help");
  for (const auto& script : std::filesystem::directory_iterator(root() / "scripts"))
    if (script.is_regular_file()) known.merge(flags_in(read_text(script.path())));
  // A flag of pip, in docs/flashinfer.md.
  known.insert("--no-deps");
  // Flags of the compiler and the linker, in docs/writing-targets.md.
  known.insert("--param");
  known.insert("--wrap");
  // Those of the pytest plugin, in docs/python.md.
  known.merge(flags_in(read_text(root() / "python" / "redzone" / "pytest_guard.py")));
  // Those of sbatch, in docs/fleet.md.
  known.merge(flags_in(read_text(root() / "scripts" / "fleet" / "fleet.toml")));
  std::vector<path> pages{root() / "README.md"};
  for (const auto& page : std::filesystem::directory_iterator(root() / "docs"))
    if (page.path().extension() == ".md") pages.push_back(page.path());
  EXPECT_GE(pages.size(), 10u);
  for (const auto& page : pages)
    for (const auto& flag : flags_in(read_text(page)))
      EXPECT_TRUE(known.contains(flag)) << page << " names " << flag;
}

}  // namespace
}  // namespace redzone::e2e
