#include "guard/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/terminal.h"
#include "guard/stored_finding.h"

namespace redzone::guard {

// Uses single quotes for all bytes, unlike shell_quoted() for lines that people paste
// (core/terminal.h).
std::string sh_word(std::string_view bytes) {
  const std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@%-";
  if (!bytes.empty() && bytes.find_first_not_of(plain) == std::string_view::npos)
    return std::string(bytes);
  std::string out = "'";
  for (const char c : bytes) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string script_of(const redzone::Finding& finding, std::string_view flags) {
  RZ_CHECK(finding.program.has_value());
  const ProgramOrigin& origin = *finding.program;
  std::string out = fmt::format(
      "#!/bin/sh\n# {}\n# Exits with 1 if the guard has a finding, with 125 if it could not judge "
      "the program.\n",
      printable(finding.signature.text()));
  if (!origin.folder.empty()) out += fmt::format("cd {} || exit 125\n", sh_word(origin.folder));
  const auto& stored = origin.environment;
  for (const auto& name : decisive_variables(started_of(origin))) {
    const auto at = std::find_if(stored.begin(), stored.end(),
                                 [&](const auto& variable) { return variable.name == name; });
    out += at == stored.end() ? fmt::format("unset {}\n", name)
                              : fmt::format("export {}={}\n", name, sh_word(at->value));
  }
  out += fmt::format("exec \"${{REDZONE:-redzone}}\" guard --no-store {} --", flags);
  for (const auto& word : origin.argv) out += " " + sh_word(word);
  return out + "\n";
}

}  // namespace redzone::guard
