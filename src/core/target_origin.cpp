#include "core/target_origin.h"

#include <fmt/format.h>

#include "core/field_json.h"
#include "core/terminal.h"
#include "core/utf8.h"

namespace redzone {

std::string_view flag_of(TargetSource source) {
  switch (source) {
    case TargetSource::built_in:
      break;
    case TargetSource::plugin:
      return "--plugin";
    case TargetSource::package:
      return "--package";
    case TargetSource::python:
      return "--python-file";
  }
  return "";
}

std::string flags_of(const TargetOrigin& origin) {
  if (origin.source == TargetSource::built_in) return "";
  std::string out = fmt::format(" {} {}", flag_of(origin.source), shell_quoted(origin.path));
  if (origin.interpreter_given) out += " --python " + shell_quoted(origin.interpreter);
  return out;
}

std::string text_of(const TargetOrigin& origin) {
  if (origin.source == TargetSource::built_in) return "";
  const bool python = origin.source == TargetSource::python;
  return fmt::format("{} {}", python ? "Python file" : name_of(origin.source), origin.path);
}

std::string print_target_origin(const TargetOrigin& origin) {
  if (origin == TargetOrigin{}) return "";
  // JSON is UTF-8; a file name need not be.
  TargetOrigin written = origin;
  written.path = valid_utf8(origin.path);
  written.interpreter = valid_utf8(origin.interpreter);
  return FieldJson::of(written, Defaults::left_out).dump();
}

Result<TargetOrigin> parse_target_origin(std::string_view text, std::string_view where) {
  if (text.empty()) return TargetOrigin{};
  try {
    TargetOrigin out;
    FieldJson::read(parse_json_text<FieldJson::Json>(text), out);
    if (out.source == TargetSource::built_in || out.path.empty())
      return harness_error(fmt::format("{}: not the origin of a target: it names no file", where));
    return out;
  } catch (const std::exception& e) {
    return harness_error(fmt::format("{}: not the origin of a target: {}", where, e.what()));
  }
}

}  // namespace redzone
