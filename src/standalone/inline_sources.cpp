#include "standalone/inline_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <utility>

#include "standalone_buffer_job_h.h"
#include "standalone_buffer_math_h.h"
#include "standalone_bulk_copy_h.h"
#include "standalone_cuda_h.h"
#include "standalone_element_h.h"
#include "standalone_kernel_h.h"
#include "standalone_nvrtc_h.h"
#include "standalone_recorded_h.h"
#include "standalone_run_h.h"
#include "standalone_spec_h.h"
#include "standalone_target_h.h"
#include "standalone_tensor_map_h.h"

namespace redzone::standalone {

std::optional<std::string_view> public_header(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kHeaders[] = {
      {"redzone/spec.h", standalone_spec_h},
      {"redzone/target.h", standalone_target_h},
      {"redzone/kernel.h", standalone_kernel_h},
      {"redzone/tensor_map.h", standalone_tensor_map_h},
      {"redzone/bulk_copy.h", standalone_bulk_copy_h},
      {"device/element.h", standalone_element_h},
      {"device/buffer_job.h", standalone_buffer_job_h},
      {"device/buffer_math.h", standalone_buffer_math_h},
      {"standalone/run.h", standalone_run_h},
      {"standalone/cuda.h", standalone_cuda_h},
      {"standalone/nvrtc.h", standalone_nvrtc_h},
      {"standalone/recorded.h", standalone_recorded_h},
  };
  for (const auto& [header, text] : kHeaders)
    if (header == name) return text;
  return std::nullopt;
}

std::optional<SourceInliner::Found> SourceInliner::find(std::string_view name, bool quoted,
                                                        const Found& from) const {
  std::vector<std::filesystem::path> places;
  if (quoted && !from.own) places.push_back(from.path.parent_path());
  places.insert(places.end(), folders_.begin(), folders_.end());
  for (const auto& folder : places) {
    const auto path = (folder / name).lexically_normal();
    if (auto text = read_(path)) return Found{path, std::move(*text), false};
  }
  if (const auto text = public_header(name))
    return Found{std::string(name), std::string(*text), true};
  return std::nullopt;
}

Result<void> SourceInliner::append(const Found& source, std::string& out) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  static const std::regex once(R"(^\s*#\s*pragma\s+once\b.*)");
  const std::string key = (source.own ? "<" : "") + source.path.string();
  if (std::find(done_.begin(), done_.end(), key) != done_.end()) return {};
  done_.push_back(key);
  out += fmt::format("\n// ---- {} ----\n", source.path.filename().string());
  std::istringstream in(source.text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, once)) continue;
    if (!std::regex_match(line, match, include)) {
      out += line + '\n';
      continue;
    }
    const bool quoted = match[1] == "\"";
    const auto found = find(match[2].str(), quoted, source);
    if (found) {
      RZ_TRY(append(*found, out));
    } else if (quoted) {
      return usage_error(fmt::format("{}:{}: \"{}\" is not found; --include DIR adds a folder",
                                     source.path.string(), number, match[2].str()));
    } else {
      out += line + '\n';
    }
  }
  return {};
}

Result<std::string> SourceInliner::file(const std::filesystem::path& path) {
  auto text = read_(path);
  if (!text) return usage_error(fmt::format("{}: cannot be read", path.string()));
  std::string out;
  RZ_TRY(append({path.lexically_normal(), std::move(*text), false}, out));
  return out;
}

Result<std::string> SourceInliner::header(std::string_view name) {
  const auto text = public_header(name);
  RZ_CHECK(text);
  std::string out;
  RZ_TRY(append({std::string(name), std::string(*text), true}, out));
  return out;
}

}  // namespace redzone::standalone
