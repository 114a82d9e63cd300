#include "device/host/source_lines.h"

#include <backtrace.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

namespace redzone::device {

namespace {

// Public headers are in a folder of this name.
bool is_public_header(const std::filesystem::path& file) {
  return file.parent_path().filename() == "redzone";
}

struct LineSearch {
  std::string innermost, found;
};

int visit_line(void* data, std::uintptr_t, const char* file, int line, const char*) {
  auto& search = *static_cast<LineSearch*>(data);
  if (file == nullptr || line <= 0) return 0;
  const std::filesystem::path path(file);
  std::string place = fmt::format("{}:{}", path.filename().string(), line);
  if (search.innermost.empty()) search.innermost = place;
  if (is_public_header(path)) return 0;
  search.found = std::move(place);
  return 1;
}

void ignore_error(void*, const char*, int) {}

std::string without_lines(const void* code) {
  Dl_info object = {};
  if (dladdr(code, &object) == 0 || object.dli_fname == nullptr) return "";
  return fmt::format("{}+{:#x}", std::filesystem::path(object.dli_fname).filename().string(),
                     static_cast<const char*>(code) - static_cast<const char*>(object.dli_fbase));
}

}  // namespace

const std::string& SourceLines::at(const void* code) {
  return place_of(code).text;
}

bool SourceLines::differ(const void* a, const void* b) {
  if (a == b) return false;
  // Copied, because the second call may move the first place.
  const Place first = place_of(a);
  const Place& second = place_of(b);
  return first.is_line && second.is_line && first.text != second.text;
}

const SourceLines::Place& SourceLines::place_of(const void* code) {
  const auto [known, is_new] = known_.try_emplace(code);
  if (!is_new) return known->second;
  if (state_ == nullptr) state_ = backtrace_create_state(nullptr, 0, ignore_error, nullptr);
  LineSearch search;
  if (state_ != nullptr)
    backtrace_pcinfo(state_, reinterpret_cast<std::uintptr_t>(code) - 1, visit_line, ignore_error,
                     &search);
  Place& place = known->second;
  place.text = std::move(search.found.empty() ? search.innermost : search.found);
  place.is_line = !place.text.empty();
  if (!place.is_line) place.text = without_lines(code);
  return place;
}

}  // namespace redzone::device
