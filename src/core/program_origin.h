// Where a finding of a program under `redzone guard` comes from: what it takes to run the program
// again. It is to such a finding what a plan is to one of a target.
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

// What a finding comes from. A new kind has a document of its own (store/columns.h).
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

// A file that the program was run from, as it was then.
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
  // Those of an allow-list only (interpose/kept_variables.h): the others may hold secrets.
  std::vector<EnvironmentVariable> environment;
  std::string settings;  // of the guard, as interpose::format_settings() writes them
  // The block of the finding: its number among those of its process (0: no block is known), its
  // size, and where it was allocated ("" if that is not known).
  std::uint64_t block = 0;
  std::uint64_t block_bytes = 0;
  std::string site;
  // Stacks of the access, the allocation and the free, innermost first, for people.
  std::vector<std::string> where, allocated, freed;
  // Names of variables that were asked for and were not set.
  std::vector<std::string> unset;
  // The code with which the program ended; 0 also if that is not known.
  int exit_code = 0;
  // Of the process with the finding, and its script; without those that could not be read.
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

// The document that stores hold, as one line of JSON with its version. The origin must have no
// problem.
std::string print_origin(const ProgramOrigin& origin);
// A harness error that begins with `where` if the text is no such document, or of a later version.
// LD_PRELOAD is not taken from it, whoever wrote it: what is preloaded is the guard alone.
Result<ProgramOrigin> parse_origin(std::string_view text, std::string_view where);
// Why the origin cannot be stored, as a clause: a part is no UTF-8 text, or all of it is too long.
std::optional<std::string> problem_of(const ProgramOrigin& origin);

// The longest document.
inline constexpr std::size_t kMostOriginBytes = std::size_t{1} << 20;

// "program.python3.train.py": the target of findings of this command. Of an interpreter the script
// or module is part of the name, but never code that is an argument. A long name ends with a hash.
std::string target_of_program(const std::vector<std::string>& argv);
// The word of the command that is an interpreter's script: a file or a module; empty without one.
std::optional<std::string> script_of_program(const std::vector<std::string>& argv);

// Never stored: it would have files of another machine loaded into the program.
inline constexpr std::string_view kPreloadVariable = "LD_PRELOAD";
// A name that a shell may assign to.
bool is_variable_name(std::string_view name);

// The plan of a finding that no target has: it makes no call.
Plan plan_without_calls(const std::string& target);

}  // namespace redzone
