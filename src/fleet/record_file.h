// Small JSON files of the shared folder, read and written with the field tables of their structs
// (core/field_table.h). Anybody who can write to the folder may have written anything: an error
// says what is wrong and where.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/field_json.h"
#include "core/field_reader.h"
#include "core/read_file.h"
#include "core/write_file.h"

namespace redzone::fleet {

// Maximum size of a file, enough for a fleet of the largest size.
inline constexpr std::size_t kMostRecordBytes = std::size_t{16} << 20;

// Usage errors begin with `where`. Whatever check_record(reader, value) throws, if the struct has
// one, is also returned as an error.
template <class T>
Result<T> parse_record(std::string_view text, std::string where) {
  RZ_TRY_ASSIGN(const Document document, read_json(text, std::move(where)));
  return checked_read([&] {
    TableReader table(document);
    T value;
    read_fields(table, value);
    if constexpr (requires { check_record(table, value); }) check_record(table, value);
    return value;
  });
}
template <class T>
Result<T> read_record(const std::filesystem::path& file) {
  RZ_TRY_ASSIGN(const std::string text, read_file(file, kMostRecordBytes));
  return parse_record<T>(text, file.string());
}

template <class T>
std::string print_record(const T& value) {
  return FieldJson::of(value, Defaults::written).dump(2) + "\n";
}
// Replaces the file atomically. A harness error names the file.
template <class T>
Result<void> write_record(const std::filesystem::path& file, const T& value) {
  const auto written = write_file(file, print_record(value));
  if (!written) return harness_error(written.error().message);
  return {};
}

}  // namespace redzone::fleet
