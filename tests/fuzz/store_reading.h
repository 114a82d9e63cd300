// All that commands read of a store, of a file that may hold anything.
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
  // Reads, copies, merges and prunes it. The law: of what `redzone db check` calls sound every
  // command can read everything, a copy and a merge of it are sound, and so is what pruning leaves.
  // Anything else is an error, never an exception.
  void read() const;

 private:
  // No file of that name, or one with these bytes; no log beside it.
  std::filesystem::path fresh(const char* name) const;
  std::filesystem::path fresh(const char* name, std::string_view image) const;

  std::filesystem::path folder_;
  std::string empty_;  // a store in which nothing is
};

}  // namespace redzone::fuzz
