// A fleet, and a stand-in for the commands that its jobs start.
#pragma once

#include <sys/stat.h>

#include <string>

#include "fleet/fleet.h"
#include "store/sample.h"

namespace redzone::fleet::testing {

// Of one model.
inline Fleet sample_fleet(int shards) {
  return {.uid = "0123456789abcdef0123456789abcdef",
          .created = "2026-01-02T03:04:05Z",
          .shards = shards,
          .nightly = {"--all"},
          .models = {{"", shards}}};
}

// Writes an executable shell script into `dir`; each {0} in `text` is the path of `dir`.
inline void write_script(const store::testing::TempDir& dir, const char* name, std::string text) {
  for (std::size_t at = 0; (at = text.find("{0}")) != std::string::npos;)
    text.replace(at, 3, dir.path().string());
  store::testing::write_bytes(dir / name, text);
  ::chmod((dir / name).c_str(), 0755);
}

}  // namespace redzone::fleet::testing
