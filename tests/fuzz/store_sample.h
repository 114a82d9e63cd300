// A store with a row in every table, and edits of its rows.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::fuzz {

class StoreSample {
 public:
  StoreSample();

  const std::string& image() const { return image_; }
  // `edits`: for each edit a byte that selects a column, one that selects the kind of value, and
  // the value. Edits that SQLite itself refuses are skipped.
  void edit(const std::filesystem::path& file, std::string_view edits) const;

 private:
  std::string image_;
  std::vector<std::string> updates_;  // "UPDATE t SET c = ?1", of each column of each table
};

}  // namespace redzone::fuzz
