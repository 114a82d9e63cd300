#include "python/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/spec_names.h"
#include "core/table_reader.h"
#include "described/read_description.h"

namespace redzone::python {
namespace {

constexpr std::string_view kStates[] = {"trial", "process"};

std::string read_hash(TableReader& table) {
  std::string hash = table.text("code_hash");
  constexpr std::size_t kDigits = 32;
  if (hash.size() != kDigits || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw table.error("code_hash", fmt::format("'{}' is not {} hex digits", hash, kDigits));
  return hash;
}

void read_rest(TableReader& f, TargetDescription& target) {
  described::read_head(f, target);
  target.code_hash = read_hash(f);
  if (f.has("category")) target.category = f.named<Category>("category");
  if (target.category == Category::selftest)
    throw f.error("category", "selftests are Redzone's own");
  described::read_lists(
      f,
      {.knob_texts_are_names = false, .least_extent = 0, .returns = true, .complex_elements = true},
      target);
  if (f.has("tolerance")) {
    TableReader tolerance = f.table("tolerance");
    target.tolerance = described::read_tolerance(tolerance);
  }
  target.has_reference = f.flag("has_reference");
  target.lives_with_process = f.one_of("state", kStates) == 1;
  target.capturable = f.flag("capturable", false);
  f.done();
}

// An error message begins with the line of the declaration.
std::shared_ptr<const TargetDescription> read_target(TableReader& f) {
  auto target = std::make_shared<TargetDescription>();
  target->file = f.text("file");
  target->line = f.integer_in("line", 0, std::numeric_limits<std::int32_t>::max(), 0);
  try {
    read_rest(f, *target);
  } catch (const FieldError& e) {
    throw FieldError(fmt::format("{}:{}: {}", target->file, target->line, e.what()));
  }
  return target;
}

}  // namespace

Result<Descriptions> read_descriptions(std::string_view json, std::string where) {
  RZ_TRY_ASSIGN(const auto document, read_json(json, std::move(where)));
  return checked_read([&] {
    Descriptions out;
    TableReader root(document);
    root.integer_in("redzone_python", 1, 1);
    out.python = root.text("python");
    out.executable = root.text("executable", "");
    out.torch = root.text("torch");
    out.triton = root.text("triton");
    out.code_hash = read_hash(root);
    for (TableReader& f : root.tables("target")) out.targets.push_back(read_target(f));
    root.done();
    return out;
  });
}

std::string versions_of(const Descriptions& descriptions) {
  std::string out = "Python " + descriptions.python;
  if (!descriptions.torch.empty()) out += ", torch " + descriptions.torch;
  if (!descriptions.triton.empty()) out += ", triton " + descriptions.triton;
  return out;
}

TargetSpec spec_of(const std::shared_ptr<const TargetDescription>& description) {
  TargetSpec spec = described::spec_of(description);
  spec.category = description->category;
  if (description->tolerance) spec.tolerance = *description->tolerance;
  spec.has_reference = description->has_reference;
  spec.capturable = description->capturable;
  return spec;
}

}  // namespace redzone::python
