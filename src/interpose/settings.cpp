#include "interpose/settings.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace redzone::interpose {
namespace {

// One number of Settings and its key. `set` returns false for values out of range.
struct Field {
  std::string_view key;
  std::int64_t (*get)(const Settings&);
  bool (*set)(Settings&, std::int64_t);
};

bool is_flag(std::int64_t value) {
  return value == 0 || value == 1;
}

constexpr Field kFields[] = {
    {"driver", [](const Settings& s) -> std::int64_t { return s.driver ? 1 : 0; },
     [](Settings& s, std::int64_t v) { return s.driver = v == 1, is_flag(v); }},
    {"cpu", [](const Settings& s) -> std::int64_t { return s.cpu ? 1 : 0; },
     [](Settings& s, std::int64_t v) { return s.cpu = v == 1, is_flag(v); }},
    {"before",
     [](const Settings& s) -> std::int64_t {
       return s.placement == Placement::guard_before ? 1 : 0;
     },
     [](Settings& s, std::int64_t v) {
       s.placement = v == 1 ? Placement::guard_before : Placement::guard_after;
       return is_flag(v);
     }},
    {"retire_all",
     [](const Settings& s) -> std::int64_t { return s.retire == Retire::all ? 1 : 0; },
     [](Settings& s, std::int64_t v) {
       s.retire = v == 1 ? Retire::all : Retire::sample;
       return is_flag(v);
     }},
    {"poison", [](const Settings& s) -> std::int64_t { return s.poison; },
     [](Settings& s, std::int64_t v) {
       s.poison = static_cast<int>(v);
       return v >= -1 && v <= 0xff;
     }},
    {"align",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.align_bytes); },
     [](Settings& s, std::int64_t v) {
       s.align_bytes = static_cast<std::uint64_t>(v);
       return v >= 0 && s.align_bytes <= kMostAlignBytes && (v & (v - 1)) == 0;
     }},
    {"max_memory",
     [](const Settings& s) -> std::int64_t {
       return static_cast<std::int64_t>(s.max_memory_bytes);
     },
     [](Settings& s, std::int64_t v) {
       s.max_memory_bytes = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
    {"only_first",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.only.first); },
     [](Settings& s, std::int64_t v) {
       s.only.first = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
    {"only_last",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.only.last); },
     [](Settings& s, std::int64_t v) {
       s.only.last = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
    {"skip_first",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.skip.first); },
     [](Settings& s, std::int64_t v) {
       s.skip.first = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
    {"skip_last",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.skip.last); },
     [](Settings& s, std::int64_t v) {
       s.skip.last = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
    {"min_bytes",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.min_bytes); },
     [](Settings& s, std::int64_t v) {
       s.min_bytes = static_cast<std::uint64_t>(v);
       return v >= 1;
     }},
    {"launch",
     [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.launch); },
     [](Settings& s, std::int64_t v) {
       s.launch = static_cast<LaunchMode>(v);
       return v >= 0 && v <= static_cast<std::int64_t>(LaunchMode::held);
     }},
    {"each_launch",
     [](const Settings& s) -> std::int64_t { return s.check == Check::each_launch ? 1 : 0; },
     [](Settings& s, std::int64_t v) {
       s.check = v == 1 ? Check::each_launch : Check::at_free;
       return is_flag(v);
     }},
    {"go_on",
     [](const Settings& s) -> std::int64_t { return s.on_error == OnError::go_on ? 1 : 0; },
     [](Settings& s, std::int64_t v) {
       s.on_error = v == 1 ? OnError::go_on : OnError::stop;
       return is_flag(v);
     }},
    {"python", [](const Settings& s) -> std::int64_t { return s.python ? 1 : 0; },
     [](Settings& s, std::int64_t v) { return s.python = v == 1, is_flag(v); }},
    {"bare", [](const Settings& s) -> std::int64_t { return s.bare ? 1 : 0; },
     [](Settings& s, std::int64_t v) { return s.bare = v == 1, is_flag(v); }},
    {"hooks", [](const Settings& s) -> std::int64_t { return s.hooks; },
     [](Settings& s, std::int64_t v) {
       s.hooks = static_cast<int>(v);
       return v >= 0 && v <= (kTorchHook | kCupyHook);
     }},
    {"seed", [](const Settings& s) -> std::int64_t { return static_cast<std::int64_t>(s.seed); },
     [](Settings& s, std::int64_t v) {
       s.seed = static_cast<std::uint64_t>(v);
       return v >= 0;
     }},
};

constexpr std::string_view kKernels = "kernels";
constexpr int kHex = 16;

bool set_kernels(std::string_view digits, Settings& settings) {
  if (digits.size() % 2 != 0 || digits.size() / 2 >= sizeof settings.kernels) return false;
  std::memset(settings.kernels, 0, sizeof settings.kernels);
  for (std::size_t i = 0; i < digits.size() / 2; ++i) {
    const char* const end = digits.data() + 2 * i + 2;
    unsigned char byte = 0;
    const auto read = std::from_chars(end - 2, end, byte, kHex);
    if (read.ec != std::errc{} || read.ptr != end || byte == 0) return false;
    settings.kernels[i] = static_cast<char>(byte);
  }
  return true;
}

bool set_one(std::string_view word, Settings& settings) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view digits = word.substr(equals + 1);
  if (word.substr(0, equals) == kKernels) return set_kernels(digits, settings);
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return false;
  for (const Field& field : kFields)
    if (field.key == word.substr(0, equals)) return field.set(settings, value);
  return false;
}

}  // namespace

void format_settings(const Settings& settings, char (&text)[kSettingsTextBytes]) {
  char* at = text;
  for (const Field& field : kFields) {
    if (at != text) *at++ = ',';
    std::memcpy(at, field.key.data(), field.key.size());
    at += field.key.size();
    *at++ = '=';
    // The keys, nineteen numbers of at most 20 digits and two digits for each byte of the pattern
    // fit.
    at = std::to_chars(at, text + sizeof text - 1, field.get(settings)).ptr;
  }
  if (settings.kernels[0] != '\0') {
    *at++ = ',';
    std::memcpy(at, kKernels.data(), kKernels.size());
    at += kKernels.size();
    *at++ = '=';
    for (const char* c = settings.kernels; *c != '\0'; ++c) {
      const auto byte = static_cast<unsigned char>(*c);
      *at++ = "0123456789abcdef"[byte / kHex];
      *at++ = "0123456789abcdef"[byte % kHex];
    }
  }
  *at = '\0';
}

bool parse_settings(const char* text, Settings& settings) {
  Settings read;
  std::string_view rest(text);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (!set_one(rest.substr(0, comma), read)) return false;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  settings = read;
  return true;
}

}  // namespace redzone::interpose
