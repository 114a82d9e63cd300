// The README and the help texts tell of the same flags.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

using Flags = std::set<std::string>;

Flags flags_in(const std::string& text) {
  static const std::regex flag(R"((^|[^-\w])(--[a-z][a-z-]*))");
  Flags out;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), flag); it != std::sregex_iterator();
       ++it)
    out.insert((*it)[2]);
  return out;
}

std::string readme() {
  return read_text(std::filesystem::path(SOURCE_DIR) / "README.md");
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
      Flags flags;
      // A flag begins its line; the texts behind it may name others.
      std::istringstream help(redzone(folder, {command, "--help"}).out);
      for (std::string text; std::getline(help, text);)
        if (const auto at = text.find_first_not_of(' '); at != 0 && at != std::string::npos)
          if (text.compare(at, 2, "--") == 0 || text.compare(at, 2, "-h") == 0)
            flags.merge(flags_in(text.substr(0, text.find("  ", at))));
      flags.insert("--help");
      out[command] = flags;
    }
    return out;
  }();
  return all;
}

// Flags by command, from the table of commands: the first word in the first column, and the flags
// in the last.
std::map<std::string, Flags> told() {
  static const std::regex row(R"(\| `([a-z]+)[^`]*` \|.*\|([^|]*)\|)");
  std::map<std::string, Flags> out;
  std::istringstream lines(readme());
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row) && helped().contains(match[1]))
      out[match[1]] = flags_in(match[2]);
  }
  return out;
}

TEST(Readme, ListsTheFlagsOfEveryCommand) {
  ASSERT_GE(helped().size(), 9u);
  const auto table = told();
  for (auto [command, flags] : helped()) {
    ASSERT_TRUE(table.contains(command)) << command << " is not in the table of commands";
    flags.erase("--help");
    EXPECT_EQ(table.at(command), flags) << command;
  }
}

TEST(Readme, NamesNoFlagThatDoesNotExist) {
  Flags known{"--version"};
  for (const auto& [command, flags] : helped()) known.insert(flags.begin(), flags.end());
  for (const auto& script :
       std::filesystem::directory_iterator(std::filesystem::path(SOURCE_DIR) / "scripts"))
    known.merge(flags_in(read_text(script.path())));
  const Flags named = flags_in(readme());
  EXPECT_GE(named.size(), 10u);
  for (const auto& flag : named) EXPECT_TRUE(known.contains(flag)) << flag;
}

TEST(Readme, NamesEveryExitCode) {
  const TempFolder folder;
  const std::string text = redzone(folder, {"--help"}).out;
  for (const char* code : {"0 nothing new", "1 new findings", "2 usage", "3 harness error",
                           "4 nothing could be", "5 a store that is not sound", "130 interrupted"}) {
    EXPECT_NE(readme().find(code), std::string::npos) << code;
    EXPECT_NE(text.find(code), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace redzone::e2e
