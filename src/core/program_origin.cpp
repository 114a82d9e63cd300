#include "core/program_origin.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "core/field_json.h"
#include "core/utf8.h"

namespace redzone {
namespace {

constexpr int kVersion = 1;
constexpr const char* kVersionKey = "version";
constexpr std::size_t kMostNameBytes = 100;

// How to read the command line of an interpreter: which words are options, code or values of
// options, and which word is the script. Letters are those of options such as -x, which may be
// combined.
struct Interpreter {
  std::string_view name;         // without its version
  std::string_view code;         // letters of options whose value is code
  std::string_view value, rest;  // letters of options whose value is the rest of the word or the
                                 // next word; only the rest of the word
  std::string_view module;       // letters of options whose value names the module to run
  std::vector<std::string_view> long_code, long_value;  // long options, such as --eval, with code
                                                        // or another value
};

const std::vector<Interpreter>& interpreters() {
  const auto shell = [](std::string_view name) {
    return Interpreter{name, "cs", "oO", "", "", {}, {"--rcfile", "--init-file"}};
  };
  static const std::vector<Interpreter> all{
      {"python", "c", "WXQ", "", "m", {}, {"--check-hash-based-pycs"}},
      shell("sh"),
      shell("bash"),
      shell("dash"),
      shell("zsh"),
      shell("ksh"),
      {"perl", "eE", "I", "MmFCDViIx", "", {}, {}},
      {"ruby", "e", "IrCE", "FKTWix", "", {}, {"--encoding", "--enable", "--disable"}},
      {"node",
       "ep",
       "rC",
       "",
       "",
       {"--eval", "--print"},
       {"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file",
        "--title", "--inspect-port"}}};
  return all;
}

const Interpreter* interpreter_of(std::string_view name) {
  const auto& all = interpreters();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Interpreter& known) {
    return name.starts_with(known.name) &&
           name.find_first_not_of("0123456789.", known.name.size()) == std::string_view::npos;
  });
  return at == all.end() ? nullptr : &*at;
}

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

bool is_one_of(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The effect of a word of option letters on the following words.
enum class Letters : std::uint8_t { alone, takes_next, names_next, code };

Letters meaning_of(const Interpreter& interpreter, std::string_view letters, std::string& module) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto is = [&](std::string_view some) {
      return some.find(letters[i]) != std::string_view::npos;
    };
    const bool last = i + 1 == letters.size();
    if (is(interpreter.code)) return Letters::code;
    if (is(interpreter.module)) {
      module = letters.substr(i + 1);
      return last ? Letters::names_next : Letters::alone;
    }
    if (is(interpreter.value)) return last ? Letters::takes_next : Letters::alone;
    if (is(interpreter.rest)) return Letters::alone;
  }
  return Letters::alone;
}

std::optional<std::string> script_of(const Interpreter& interpreter,
                                     const std::vector<std::string>& argv) {
  const auto word = [&](std::size_t i) -> std::optional<std::string> {
    return i < argv.size() && !argv[i].empty() ? std::optional(argv[i]) : std::nullopt;
  };
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string_view text = argv[i];
    if (text == "-") return std::nullopt;  // code from standard input
    if (text == "--") return word(i + 1);
    if (text.starts_with("--")) {
      if (is_one_of(interpreter.long_code, text.substr(0, text.find('=')))) return std::nullopt;
      if (is_one_of(interpreter.long_value, text)) ++i;
      continue;
    }
    if (!text.starts_with('-') && !text.starts_with('+')) return word(i);
    std::string module;
    const Letters letters = meaning_of(interpreter, text.substr(1), module);
    if (letters == Letters::code) return std::nullopt;
    if (letters == Letters::names_next) return word(i + 1);
    if (!module.empty()) return module;
    if (letters == Letters::takes_next) ++i;
  }
  return std::nullopt;
}

// The first Python file in the command line of torchrun or pytest, because an option there may have
// its value in the next word.
std::optional<std::string> first_python_file(const std::vector<std::string>& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string file = argv[i].substr(0, argv[i].find("::"));
    if (!file.starts_with('-') && file.ends_with(".py")) return file;
  }
  return std::nullopt;
}

bool is_utf8(const std::string& text) {
  return valid_utf8(text) == text;
}

// Why no process can be started with this origin; "" if one can. The origin may come from an
// untrusted store.
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
  if (!std::all_of(origin.unset.begin(), origin.unset.end(), is_variable_name))
    return "a variable has no name that a shell knows";
  if (std::any_of(origin.files.begin(), origin.files.end(),
                  [&](const ProgramFile& file) { return has_zero(file.path); }))
    return "a file holds a zero byte";
  return "";
}

}  // namespace

bool is_variable_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

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
    std::erase_if(out.environment, [](const auto& v) { return v.name == kPreloadVariable; });
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
  if (!std::all_of(origin.files.begin(), origin.files.end(), [](const ProgramFile& file) {
        return is_utf8(file.path) && is_utf8(file.hash);
      }))
    return "the name of a file of the program is not UTF-8 text";
  if (!is_utf8(origin.settings) || !is_utf8(origin.site) || !all_utf8(origin.where) ||
      !all_utf8(origin.allocated) || !all_utf8(origin.freed))
    return "a name in its stacks is not UTF-8 text";
  if (print_origin(origin).size() > kMostOriginBytes)
    return fmt::format("its arguments and variables have more than {} bytes", kMostOriginBytes);
  return std::nullopt;
}

std::optional<std::string> script_of_program(const std::vector<std::string>& argv) {
  const std::string name = argv.empty() ? "" : file_name(argv.front());
  if (name == "torchrun" || name == "pytest") return first_python_file(argv);
  const Interpreter* const interpreter = interpreter_of(name);
  return interpreter == nullptr ? std::nullopt : script_of(*interpreter, argv);
}

std::string target_of_program(const std::vector<std::string>& argv) {
  std::string out = "program." + (argv.empty() ? "" : file_name(argv.front()));
  if (const auto script = script_of_program(argv)) out += "." + file_name(*script);
  if (out.size() > kMostNameBytes) {
    // Without the hash, two long names with the same beginning would be equal.
    const std::string hash = fmt::format(".{:016x}", XXH3_64bits(out.data(), out.size()));
    out.resize(kMostNameBytes - hash.size());
    out += hash;
  }
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (!allowed) c = '_';
  }
  return out;
}

// Stores of every version require a plan for each finding, and a plan requires a step.
Plan plan_without_calls(const std::string& target) {
  Plan out;
  out.target = target;
  out.steps = {SyncStep{}};
  return out;
}

}  // namespace redzone
