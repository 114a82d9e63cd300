// Everything that commands read from a store, applied to a file with arbitrary contents.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/temporary_folder.h"

namespace redzone::fuzz {

// A folder for one store at a time, within the one for temporary files; removed at a normal end of
// the process.
class StoreFolder {
 public:
  StoreFolder();
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;

  // The store of the input, as a file.
  std::filesystem::path file() const { return folder_.path() / "input.db"; }
  void write(std::string_view image) const;
  // Reads, copies, merges and prunes it. The invariant: if `redzone db check` reports a store as
  // sound, every command can read all of it, and its copies, merges and pruned versions are sound.
  // Any other file leads to an error, never an exception.
  void read() const;

 private:
  // A file of that name with these bytes, or none; without a log beside it.
  std::filesystem::path fresh(const char* name) const;
  std::filesystem::path fresh(const char* name, std::string_view image) const;

  TemporaryFolder folder_ = TemporaryFolder::create("store-fuzzer").value();
  std::string empty_;  // an empty store
};

}  // namespace redzone::fuzz
