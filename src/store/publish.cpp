#include "store/publish.h"

#include "store/database.h"
#include "store/new_file.h"

namespace redzone::store {

Result<void> publish(Store& store, const std::filesystem::path& file,
                     const std::function<bool()>& still_owner) {
  RZ_TRY_ASSIGN(auto copy, NewFile::beside(file));
  RZ_TRY(store.database().copy_to(copy.path(), file));
  constexpr auto kForAll = std::filesystem::perms{0644};  // mkstemp() gives access to the owner
                                                          // only
  std::error_code ignored;
  std::filesystem::permissions(copy.path(), kForAll, ignored);
  if (!still_owner()) return {};
  return copy.replace(file);
}

}  // namespace redzone::store
