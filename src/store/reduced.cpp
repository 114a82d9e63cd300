#include "store/reduced.h"

#include <array>

#include "core/enum_names.h"
#include "store/database.h"

namespace redzone::store {
namespace {

// Ends of reductions that did not use up their limits.
constexpr std::array kOpen{ReductionEnd::none, ReductionEnd::interrupted};

}  // namespace

Result<std::set<std::string>> reduced_signatures(Store& store) {
  return store.database().read([&] {
    SQLite::Statement query(
        store.database().sql(),
        "WITH reduced AS (SELECT id, signature_hash FROM findings WHERE state IN (?, ?) AND "
        "(minimal OR reduction_end NOT IN (?, ?))) SELECT signature_hash FROM reduced UNION "
        "SELECT n.signature_hash FROM former_names n JOIN reduced r ON r.id = n.finding_id");
    query.bind(1, std::string(name_of(FindingState::confirmed)));
    query.bind(2, std::string(name_of(FindingState::flaky)));
    for (int i = 0; i < 2; ++i)
      query.bind(3 + i, std::string(name_of(kOpen[static_cast<std::size_t>(i)])));
    std::set<std::string> signatures;
    while (query.executeStep()) signatures.insert(query.getColumn(0).getString());
    return signatures;
  });
}

}  // namespace redzone::store
