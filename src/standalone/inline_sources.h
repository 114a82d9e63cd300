// Inlines the includes of sources to produce a single file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace redzone::standalone {

// Returns the text of a file, or nullopt if it does not exist.
using ReadFile = std::function<std::optional<std::string>(const std::filesystem::path&)>;

// Resolves includes line by line and ignores preprocessor conditions. Searches for "x" beside the
// including file, then in `folders`, then among Redzone's own headers (public_header); for <x> in
// the last two. Each file is inlined once, at its first include, as with `#pragma once`. An <x>
// that is not found remains an include, for the compiler. A "x" that is not found is a usage error
// with file and line.
class SourceInliner {
 public:
  SourceInliner(std::vector<std::filesystem::path> folders, ReadFile read)
      : folders_(std::move(folders)), read_(std::move(read)) {}

  // The file's text, without files that earlier calls have inlined.
  Result<std::string> file(const std::filesystem::path& path);
  // Like file(), for one of Redzone's headers: "redzone/target.h", "standalone/run.h".
  Result<std::string> header(std::string_view name);

 private:
  struct Found {
    std::filesystem::path path;  // or the name of one of Redzone's headers
    std::string text;
    bool own = false;
  };
  std::optional<Found> find(std::string_view name, bool quoted, const Found& from) const;
  Result<void> append(const Found& source, std::string& out);

  std::vector<std::filesystem::path> folders_;
  ReadFile read_;
  std::vector<std::string> done_;
};

// The text of a header that programs need; nullopt for any other name.
std::optional<std::string_view> public_header(std::string_view name);

}  // namespace redzone::standalone
