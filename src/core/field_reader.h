// Reads structs with a field table (field_table.h) from a table of a document, with the errors of
// TableReader, which name the document, the field and the expected value.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/field_table.h"
#include "core/table_reader.h"

namespace redzone {

// A field that the document lacks is an error unless it is sparse; a sparse field then keeps its
// value. A field that the struct does not have is an error, too. Texts must be printable and
// bounded (TableReader::text). Throws FieldError.
template <HasFields T>
void read_fields(TableReader& table, T& value);

template <class M>
M read_field(TableReader& table, const char* name) {
  if constexpr (std::is_same_v<M, bool>) {
    return table.flag(name);
  } else if constexpr (std::is_same_v<M, std::uint64_t>) {
    table.any(name);  // an error if absent
    return table.not_negative(name, 0);
  } else if constexpr (std::integral<M>) {
    return static_cast<M>(
        table.integer_in(name, std::numeric_limits<M>::min(), std::numeric_limits<M>::max()));
  } else if constexpr (std::is_same_v<M, double>) {
    return table.number(name);
  } else if constexpr (std::is_same_v<M, std::string>) {
    return table.text(name);
  } else if constexpr (NamedEnum<M>) {
    return table.named<M>(name);
  } else if constexpr (std::is_same_v<M, std::vector<std::string>>) {
    return table.texts(name);
  } else {
    M all;
    table.list(name);  // an error if absent
    for (TableReader& element : table.tables(name)) read_fields(element, all.emplace_back());
    return all;
  }
}

template <HasFields T>
void read_fields(TableReader& table, T& value) {
  each_field(value, [&]<class M, Stored kStored>(const Field<T, M, kStored>& field, M& member) {
    if (kStored == Stored::unless_default && !table.has(field.name)) return;
    member = read_field<M>(table, field.name);
  });
  table.done();
}

}  // namespace redzone
