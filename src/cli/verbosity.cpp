#include "cli/verbosity.h"

#include <cstddef>

namespace redzone::cli {
namespace {

constexpr const char* kName = "verbose";

struct Verbosity {
  std::size_t times = 0;
};

// program_options calls this for each occurrence of the flag.
void validate(boost::any& value, const std::vector<std::string>&, Verbosity*, int) {
  const auto* before = boost::any_cast<Verbosity>(&value);
  value = Verbosity{before == nullptr ? 1 : before->times + 1};
}

}  // namespace

void add_verbosity_flag(po::options_description& flags) {
  flags.add_options()("verbose,v", po::value<Verbosity>()->zero_tokens(),
                      "report progress on standard error; -vv: each trial as well");
}

log::Level verbosity_of(const po::variables_map& flags) {
  return log::level_for(flags.count(kName) == 0 ? 0 : flags[kName].as<Verbosity>().times);
}

}  // namespace redzone::cli
