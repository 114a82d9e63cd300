// Everything that commands read of a store, applied to a file with arbitrary contents.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace redzone::fuzz {

// A folder for one store at a time, in that for temporary files; removed when the process ends in
// order.
class StoreFolder {
 public:
  StoreFolder();
  ~StoreFolder();
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;

  // The store of the input, as a file.
  std::filesystem::path file() const { return folder_ / "input.db"; }
  void write(std::string_view image) const;
  // Reads, copies, merges and prunes it. The invariant: if `redzone db check` reports a store as
  // sound, every command can read all of it, and its copies, merges and pruned versions are sound.
  // Any other file leads to an error, never an exception.
  void read() const;

 private:
  // No file of that name, or one with these bytes; no log beside it.
  std::filesystem::path fresh(const char* name) const;
  std::filesystem::path fresh(const char* name, std::string_view image) const;

  std::filesystem::path folder_;
  std::string empty_;  // an empty store
};

}  // namespace redzone::fuzz
