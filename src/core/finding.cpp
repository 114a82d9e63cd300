#include "core/finding.h"

#include <array>
#include <utility>

#include "core/names.h"

namespace redzone {
namespace {

constexpr std::array kStates{
    std::pair{FindingState::suspect, "suspect"}, std::pair{FindingState::confirmed, "confirmed"},
    std::pair{FindingState::flaky, "flaky"}, std::pair{FindingState::unconfirmed, "unconfirmed"}};

}  // namespace

std::string_view name_of(FindingState state) {
  return name_in(kStates, state);
}

}  // namespace redzone
