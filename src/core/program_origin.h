// The origin of a finding of a program under `redzone guard`: the data that is needed to run the
// program again. It corresponds to the plan of a finding of a target.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"
#include "core/field_table.h"
#include "core/plan.h"

namespace redzone {

// Whether a finding comes from a target or a program. Each kind has its own document
// (store/columns.h).
enum class OriginKind : std::uint8_t { target, program };

constexpr auto enum_table(OriginKind) {
  return enum_names<OriginKind>("origin",
                                {{OriginKind::target, "target"}, {OriginKind::program, "program"}});
}

struct EnvironmentVariable {
  std::string name, value;
  bool operator==(const EnvironmentVariable&) const = default;
};

constexpr auto field_table(std::type_identity<EnvironmentVariable>) {
  using E = EnvironmentVariable;
  return fields<E>(field("name", &E::name), field("value", &E::value));
}

// A file that the program was run from, as it was at the time of the finding.
struct ProgramFile {
  std::string path;  // absolute
  std::uint64_t bytes = 0;
  std::string hash;  // XXH3 of its bytes, 16 digits
  bool operator==(const ProgramFile&) const = default;
};

constexpr auto field_table(std::type_identity<ProgramFile>) {
  using F = ProgramFile;
  return fields<F>(field("path", &F::path), field("bytes", &F::bytes), field("hash", &F::hash));
}

struct ProgramOrigin {
  std::vector<std::string> argv;  // as the program sees it; not empty
  std::string folder;             // the working folder, an absolute path
  // Variables of an allow-list only (interpose/kept_variables.h): others may contain secrets.
  std::vector<EnvironmentVariable> environment;
  std::string settings;  // settings of the guard, from interpose::format_settings()
  // The block of memory that the finding is about: its number among the blocks of its process (0:
  // unknown), its size, and its allocation site ("" if unknown).
  std::uint64_t block = 0;
  std::uint64_t block_bytes = 0;
  std::string site;
  // Stacks of the access, the allocation and the free, innermost first, for people.
  std::vector<std::string> where, allocated, freed;
  // Names of variables that were requested and were not set.
  std::vector<std::string> unset;
  // Exit code of the program; 0 also if it is unknown.
  int exit_code = 0;
  // The executable of the process with the finding, and its script; files that could not be read
  // are omitted.
  std::vector<ProgramFile> files;

  bool operator==(const ProgramOrigin&) const = default;
};

constexpr auto field_table(std::type_identity<ProgramOrigin>) {
  using P = ProgramOrigin;
  return fields<P>(
      field("argv", &P::argv), field("folder", &P::folder), field("environment", &P::environment),
      field("settings", &P::settings), field("block", &P::block),
      field("block_bytes", &P::block_bytes), field("site", &P::site), field("where", &P::where),
      field("allocated", &P::allocated), field("freed", &P::freed), sparse("unset", &P::unset),
      sparse("exit_code", &P::exit_code), sparse("files", &P::files));
}

// The document that stores contain: one line of JSON with its version. Requires that problem_of()
// returns nothing.
std::string print_origin(const ProgramOrigin& origin);
// A harness error that begins with `where` if the text is not such a document, or has a later
// version. LD_PRELOAD in the document is ignored: only the guard is preloaded.
Result<ProgramOrigin> parse_origin(std::string_view text, std::string_view where);
// Why the origin cannot be stored, as a clause: a part is not UTF-8, or the document is too long.
// Nothing if it can be stored.
std::optional<std::string> problem_of(const ProgramOrigin& origin);

// Maximum size of the document.
inline constexpr std::size_t kMostOriginBytes = std::size_t{1} << 20;

// "program.python3.train.py": the target name of findings of this command. For an interpreter the
// name includes the script or module, but never code that is an argument. A long name ends with a
// hash.
std::string target_of_program(const std::vector<std::string>& argv);
// The word of the command that names an interpreter's script: a file or a module; empty if there is
// none.
std::optional<std::string> script_of_program(const std::vector<std::string>& argv);

// Never stored, because it would load files of another machine into the program.
inline constexpr std::string_view kPreloadVariable = "LD_PRELOAD";
// True for a name that a shell may assign to.
bool is_variable_name(std::string_view name);

// The plan of a program's finding, which has no target: it makes no call.
Plan plan_without_calls(const std::string& target);

}  // namespace redzone
