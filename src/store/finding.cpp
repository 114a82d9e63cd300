#include "store/finding.h"

#include <array>
#include <ctime>

#include "core/names.h"

namespace redzone::store {
namespace {

constexpr std::array kStates{
    std::pair{State::suspect, "suspect"}, std::pair{State::confirmed, "confirmed"},
    std::pair{State::flaky, "flaky"}, std::pair{State::unconfirmed, "unconfirmed"}};

constexpr std::string_view kPackage = ", package ";

}  // namespace

std::string toolkit_of_package(std::string_view compiled_by, std::string_view folder) {
  return std::string(compiled_by).append(kPackage).append(folder);
}

std::string package_of(const Environment& environment) {
  const auto at = environment.toolkit.find(kPackage);
  return at == std::string::npos ? "" : environment.toolkit.substr(at + kPackage.size());
}

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
