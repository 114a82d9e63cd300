#include "store/finding.h"

#include <array>
#include <ctime>

#include "core/names.h"

namespace redzone::store {
namespace {

constexpr std::array kStates{
    std::pair{State::suspect, "suspect"}, std::pair{State::confirmed, "confirmed"},
    std::pair{State::flaky, "flaky"}, std::pair{State::unconfirmed, "unconfirmed"}};

}  // namespace

std::string_view name_of(State state) {
  return name_in(kStates, state);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[sizeof "2000-01-01T00:00:00Z"];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, length};
}

}  // namespace redzone::store
