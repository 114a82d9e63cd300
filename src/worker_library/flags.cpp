#include "worker_library/flags.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>
#include <string_view>

#include "core/device_traits.h"

namespace redzone::worker {
namespace {

Result<int> descriptor(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return usage_error(fmt::format("worker: '{}' is not the number of a descriptor", text));
  return number;
}

}  // namespace

Result<WorkerOptions> parse_flags(std::span<const char* const> words) {
  WorkerOptions options;
  bool has_device = false;
  using Read = std::function<Result<void>(std::string_view)>;
  const std::map<std::string_view, Read> flags{
      {"--device",
       [&](std::string_view value) -> Result<void> {
         RZ_TRY_ASSIGN(options.side.device, parse_device_kind(value));
         has_device = true;
         return {};
       }},
      {"--plugin",
       [&](std::string_view value) -> Result<void> {
         options.side.plugins.emplace_back(value);
         return {};
       }},
      {"--package",
       [&](std::string_view value) -> Result<void> {
         options.side.packages.emplace_back(value);
         return {};
       }},
      {"--python-file", [](std::string_view) -> Result<void> { return {}; }},
      {"--socket-fd",
       [&](std::string_view value) -> Result<void> {
         RZ_TRY_ASSIGN(options.socket_fd, descriptor(value));
         return {};
       }},
      {"--black-box-fd", [&](std::string_view value) -> Result<void> {
         RZ_TRY_ASSIGN(options.black_box_fd, descriptor(value));
         return {};
       }}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--one-queue") {
      options.side.one_queue = true;
      continue;
    }
    const auto flag = flags.find(word);
    if (flag == flags.end()) return usage_error(fmt::format("worker: unknown flag '{}'", word));
    if (++i == words.size()) return usage_error(fmt::format("worker: {} needs a value", word));
    RZ_TRY(flag->second(words[i]));
  }
  if (!has_device || options.socket_fd < 0 || options.black_box_fd < 0)
    return usage_error("worker: --device, --socket-fd and --black-box-fd are needed");
  return options;
}

}  // namespace redzone::worker
