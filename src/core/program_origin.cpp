#include "core/program_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/field_json.h"
#include "core/utf8.h"

namespace redzone {
namespace {

constexpr int kVersion = 1;
constexpr const char* kVersionKey = "version";
constexpr std::size_t kMostNameBytes = 100;

// Programs whose first file names what they run.
constexpr std::array<std::string_view, 8> kInterpreters{"python", "bash", "sh",       "dash",
                                                        "perl",   "ruby", "torchrun", "pytest"};

bool is_interpreter(std::string_view name) {
  return std::any_of(kInterpreters.begin(), kInterpreters.end(), [&](std::string_view known) {
    return name.starts_with(known) &&
           name.find_first_not_of("0123456789.", known.size()) == std::string_view::npos;
  });
}

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

// The script or the module (-m) of an interpreter's command line; "" if it has none.
std::string script_of(const std::vector<std::string>& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (argv[i] == "-c") return "";
    if (!argv[i].starts_with('-')) return file_name(argv[i]);
  }
  return "";
}

bool is_utf8(const std::string& text) {
  return valid_utf8(text) == text;
}

// A name that a shell may assign to: an exported script contains it as it is.
bool is_variable_name(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// What no process can be started with, whoever wrote it down; "" if there is nothing.
std::string mistake_in(const ProgramOrigin& origin) {
  const auto has_zero = [](const std::string& text) {
    return text.find('\0') != std::string::npos;
  };
  if (origin.argv.empty()) return "it has no program";
  if (std::any_of(origin.argv.begin(), origin.argv.end(), has_zero))
    return "an argument holds a zero byte";
  if (has_zero(origin.folder) || (!origin.folder.empty() && origin.folder.front() != '/'))
    return "its folder is no absolute path";
  for (const auto& variable : origin.environment) {
    if (!is_variable_name(variable.name)) return "a variable has no name that a shell knows";
    if (has_zero(variable.value)) return "a variable holds a zero byte";
  }
  return "";
}

}  // namespace

std::string print_origin(const ProgramOrigin& origin) {
  FieldJson::Json json = FieldJson::of(origin, Defaults::written);
  json[kVersionKey] = kVersion;
  return json.dump();
}

Result<ProgramOrigin> parse_origin(std::string_view text, std::string_view where) {
  try {
    const auto json = parse_json_text<FieldJson::Json>(text);
    if (const int version = json.at(kVersionKey).get<int>(); version != kVersion)
      return harness_error(fmt::format("{}: version {} of an origin, this build reads version {}",
                                       where, version, kVersion));
    ProgramOrigin out;
    FieldJson::read(json, out);
    if (const std::string mistake = mistake_in(out); !mistake.empty())
      return harness_error(fmt::format("{}: not the origin of a program: {}", where, mistake));
    return out;
  } catch (const std::exception& e) {
    return harness_error(fmt::format("{}: not the origin of a program: {}", where, e.what()));
  }
}

std::optional<std::string> problem_of(const ProgramOrigin& origin) {
  const auto all_utf8 = [](const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), is_utf8);
  };
  if (std::string mistake = mistake_in(origin); !mistake.empty()) return mistake;
  if (!all_utf8(origin.argv)) return "an argument of the program is not UTF-8 text";
  if (!is_utf8(origin.folder)) return "the name of the working folder is not UTF-8 text";
  for (const auto& variable : origin.environment)
    if (!is_utf8(variable.name) || !is_utf8(variable.value))
      return fmt::format("the variable {} is not UTF-8 text", valid_utf8(variable.name));
  if (!is_utf8(origin.settings) || !is_utf8(origin.site) || !all_utf8(origin.where) ||
      !all_utf8(origin.allocated) || !all_utf8(origin.freed))
    return "a name in its stacks is not UTF-8 text";
  if (print_origin(origin).size() > kMostOriginBytes)
    return fmt::format("its arguments and variables have more than {} bytes", kMostOriginBytes);
  return std::nullopt;
}

std::string target_of_program(const std::vector<std::string>& argv) {
  const std::string name = argv.empty() ? "" : file_name(argv.front());
  std::string out = "program." + name;
  if (is_interpreter(name))
    if (const std::string script = script_of(argv); !script.empty()) out += "." + script;
  if (out.size() > kMostNameBytes) out.resize(kMostNameBytes);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (!allowed) c = '_';
  }
  return out;
}

// Stores of every version have a plan for each finding, and a plan has a step.
Plan plan_without_calls(const std::string& target) {
  Plan out;
  out.target = target;
  out.steps = {SyncStep{}};
  return out;
}

}  // namespace redzone
