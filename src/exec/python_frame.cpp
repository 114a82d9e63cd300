#include "exec/python_frame.h"

#include <algorithm>
#include <iterator>

namespace redzone::exec {
namespace {

constexpr std::string_view kBegins = "Fatal Python error";
constexpr std::string_view kFile = "  File \"", kLine = "\", line ";

bool is_installed(std::string_view path) {
  constexpr std::string_view kFolders[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                           "/redzone/python/redzone/"};
  return std::any_of(std::begin(kFolders), std::end(kFolders), [&](std::string_view folder) {
    return path.find(folder) != std::string_view::npos;
  });
}

}  // namespace

std::string python_frame(std::string_view output) {
  const std::size_t begin = output.rfind(kBegins);
  if (begin == std::string_view::npos) return "";
  std::string innermost;
  for (std::size_t at = output.find(kFile, begin); at != std::string_view::npos;
       at = output.find(kFile, at + 1)) {
    const std::string_view text = output.substr(at, output.find('\n', at) - at);
    const std::size_t line = text.find(kLine);
    if (line == std::string_view::npos) continue;
    const std::string_view path = text.substr(kFile.size(), line - kFile.size());
    std::string frame = std::string(path) + ":" + std::string(text.substr(line + kLine.size()));
    if (!is_installed(path)) return frame;
    if (innermost.empty()) innermost = std::move(frame);
  }
  return innermost;
}

}  // namespace redzone::exec
