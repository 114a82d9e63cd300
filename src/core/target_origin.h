// Where the code of a target comes from: the data that is needed to load the target again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/enum_names.h"
#include "core/error.h"
#include "core/field_table.h"

namespace redzone {

enum class TargetSource : std::uint8_t {
  built_in,  // the program itself, or a plugin or package that ships with it
  plugin,    // a shared object
  package,   // a folder of compiled kernels, see src/package
  python,    // a file that declares Python targets, see src/python
};

constexpr auto enum_table(TargetSource) {
  return enum_names<TargetSource>("source of a target", {{TargetSource::built_in, "built-in"},
                                                         {TargetSource::plugin, "plugin"},
                                                         {TargetSource::package, "package"},
                                                         {TargetSource::python, "python"}});
}

struct TargetOrigin {
  TargetSource source = TargetSource::built_in;
  std::string path = {};           // path of the file or folder; "" for a built-in target
  std::string interpreter = {};    // Python: the program that runs the file
  bool interpreter_given = false;  // the user named the interpreter; otherwise it comes from the
                                   // environment

  bool operator==(const TargetOrigin&) const = default;
};

constexpr auto field_table(std::type_identity<TargetOrigin>) {
  using O = TargetOrigin;
  return fields<O>(field("source", &O::source), field("path", &O::path),
                   sparse("interpreter", &O::interpreter),
                   sparse("interpreter_given", &O::interpreter_given));
}

// "--plugin"; "" for built-in targets.
std::string_view flag_of(TargetSource source);
// The flags of a command line that load the target, each after a space: " --plugin 'my own.so'"; ""
// for a built-in target.
std::string flags_of(const TargetOrigin& origin);
// "package DIR", "Python file my.py"; "" for a built-in target.
std::string text_of(const TargetOrigin& origin);

// The document that stores contain: one line of JSON, "" for a built-in target.
std::string print_target_origin(const TargetOrigin& origin);
// A harness error that begins with `where` if the text is not such a document.
Result<TargetOrigin> parse_target_origin(std::string_view text, std::string_view where);

}  // namespace redzone
