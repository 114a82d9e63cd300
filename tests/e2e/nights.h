// Nights over a plugin whose builds differ.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/cli.h"

namespace redzone::e2e {

inline constexpr const char* kCleanBuild = GAINS_CLEAN;
inline constexpr const char* kBuggyBuild = GAINS_BUGGY;

class NightsTest : public testing::Test {
 protected:
  // Replaces the plugin by this build as a new file, since a process may have the old one open.
  void install(const char* build) {
    const std::filesystem::path plugin = folder_ / "gains.so", next = folder_ / "next.so";
    std::filesystem::copy_file(build, next, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(next, plugin);
  }

  Arguments night(const Arguments& more = {}) const {
    Arguments all{"nightly", "gains.doubled", "--plugin", "./gains.so", "--device",  "host",
                  "--db",    "x.db",          "--report", "out",        "--workers", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // The plugin's path, as in a replay line.
  std::string plugin() const {
    return (std::filesystem::canonical(folder_.path()) / "gains.so").string();
  }

  Json report() const { return Json::parse(read_text(folder_ / "out/night.json"))["night"]; }

  const TempFolder folder_;
};

}  // namespace redzone::e2e
