#include "package/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "described/read_description.h"
#include "described/read_expression.h"
#include "package/arguments.h"

namespace redzone::package {
namespace {

void read_kernel(TableReader& root, Package& package) {
  package.kernel = root.name("kernel");
  package.triton = root.text("triton");
  package.arch = static_cast<int>(root.integer_in("arch", 10, 999));
  package.reference = root.text("reference");
}

// Collects in `tuned` the knobs that a launcher chooses, and rejects tensors that depend on them.
described::Rules rules_for(std::vector<std::string>& tuned) {
  described::Rules rules;
  rules.of_knob = [&tuned](TableReader& knob) {
    if (knob.flag("tune", false)) tuned.push_back(knob.name("name"));
  };
  rules.of_tensor = [&tuned](TableReader& tensor) {
    if (!tensor.has("dtype_of")) return;
    const std::string knob = tensor.text("dtype_of");
    if (std::find(tuned.begin(), tuned.end(), knob) != tuned.end())
      throw tensor.error("dtype_of",
                         fmt::format("knob '{}' is tuned, so it cannot change a type", knob));
  };
  return rules;
}

}  // namespace

void read_description(TableReader& root, Package& package) {
  root.integer_in("redzone_package", 1, 1);
  described::read_head(root, package);
  read_kernel(root, package);
  described::read_lists(root, rules_for(package.tuned), package);

  std::vector<std::string> numbers = described::numbers_of(root, package);
  for (TableReader& f : root.tables("argument"))
    package.arguments.push_back(read_argument(f, package, numbers));
  numbers.emplace_back("num_sms");
  package.grid = described::read_expressions(root, "grid", numbers);
  if (package.grid.size() != 3)
    throw root.error("grid",
                     fmt::format("{} expressions, three are expected", package.grid.size()));
}

}  // namespace redzone::package
