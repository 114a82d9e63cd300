// Sources with what they include put in their place, so that one file is left.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace redzone::standalone {

// The text of a file, or nothing where there is none.
using ReadFile = std::function<std::optional<std::string>(const std::filesystem::path&)>;

// Takes includes apart line by line, without looking at conditions: "x" is looked for beside the
// file that names it, then in `folders`, then among the headers that Redzone brings
// (public_header); <x> in the last two. Each file is put in once, where it is first named, as
// `#pragma once` would. What is spelled <x> and not found stays an include: it is the compiler's.
// What is spelled "x" and not found is a usage error that names file and line.
class SourceInliner {
 public:
  SourceInliner(std::vector<std::filesystem::path> folders, ReadFile read)
      : folders_(std::move(folders)), read_(std::move(read)) {}

  // The file's text. Files that earlier calls have put in are left out.
  Result<std::string> file(const std::filesystem::path& path);
  // The same of a header that Redzone brings: "redzone/target.h", "standalone/run.h".
  Result<std::string> header(std::string_view name);

 private:
  struct Found {
    std::filesystem::path path;  // of a header that Redzone brings: its name
    std::string text;
    bool own = false;
  };
  std::optional<Found> find(std::string_view name, bool quoted, const Found& from) const;
  Result<void> append(const Found& source, std::string& out);

  std::vector<std::filesystem::path> folders_;
  ReadFile read_;
  std::vector<std::string> done_;
};

// The text of a header that programs need, or nothing.
std::optional<std::string_view> public_header(std::string_view name);

}  // namespace redzone::standalone
