#include "store/merged_copies.h"

#include "store/database.h"
#include "store/row.h"

namespace redzone::store {

Result<std::map<std::string, std::int64_t>> merged_copies(Store& store) {
  return store.database().read([&] {
    SQLite::Statement query(store.database().sql(), "SELECT source, number FROM merged_copies");
    std::map<std::string, std::int64_t> copies;
    while (query.executeStep())
      copies[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
    return copies;
  });
}

Result<void> note_merged_copy(Store& store, const std::string& source, std::int64_t number) {
  return store.database().write_nothing_new(Durability::lazy, [&] {
    RowWriter row;
    row("source", source);
    row("number", number);
    row.replace(store.database().sql(), "merged_copies");
  });
}

}  // namespace redzone::store
