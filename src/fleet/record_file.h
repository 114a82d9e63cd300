// Small JSON files of the shared folder, by the field tables of their structs (core/field_table.h).
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/field_json.h"
#include "core/read_file.h"
#include "core/write_file.h"

namespace redzone::fleet {

// Fields that the file lacks keep their defaults only if the table says so. A usage error names the
// file.
template <class T>
Result<T> read_record(const std::filesystem::path& file) {
  RZ_TRY_ASSIGN(const std::string text, read_file(file));
  try {
    T value;
    FieldJson::read(parse_json_text<FieldJson::Json>(text), value);
    return value;
  } catch (const std::exception& e) {
    return usage_error(fmt::format("{}: {}", file.string(), e.what()));
  }
}

// In one step. A harness error names the file.
template <class T>
Result<void> write_record(const std::filesystem::path& file, const T& value) {
  const auto why = write_file(file, FieldJson::of(value, Defaults::written).dump(2) + "\n");
  if (why) return harness_error(*why);
  return {};
}

}  // namespace redzone::fleet
