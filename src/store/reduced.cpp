#include "store/reduced.h"

#include "core/enum_names.h"
#include "store/database.h"

namespace redzone::store {

Result<std::set<std::string>> reduced_signatures(Store& store) {
  return store.database().read([&] {
    SQLite::Statement query(
        store.database().sql(),
        "SELECT signature_hash FROM findings WHERE minimal AND state IN (?, ?)");
    query.bind(1, std::string(name_of(FindingState::confirmed)));
    query.bind(2, std::string(name_of(FindingState::flaky)));
    std::set<std::string> signatures;
    while (query.executeStep()) signatures.insert(query.getColumn(0).getString());
    return signatures;
  });
}

}  // namespace redzone::store
