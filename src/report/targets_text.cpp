#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/plan_text.h"
#include "report/format.h"
#include "report/names.h"
#include "report/text.h"

namespace redzone::report {
namespace {

std::string devices_of(const TargetInfo& target) {
  std::vector<std::string> devices;
  for (const auto& d : target.devices)
    devices.push_back(d.runs_here ? d.device : fmt::format("({})", d.device));
  return fmt::format("{}", fmt::join(devices, " "));
}

std::string range_of(const DimSpec& dim) {
  if (!dim.values.empty()) return fmt::format("{}", fmt::join(dim.values, " "));
  std::string out = fmt::format("{}..{}", dim.min, dim.max);
  if (dim.multiple_of != 1) out += fmt::format(", a multiple of {}", dim.multiple_of);
  return out;
}

std::string values_of(const KnobSpec& knob) {
  std::vector<std::string> drawn, others;
  for (std::size_t i = 0; i < knob.values.size(); ++i)
    (i < knob.draws() ? drawn : others).push_back(print_value(knob.values[i]));
  const auto text = fmt::format("{}", fmt::join(drawn, " "));
  return others.empty() ? text : fmt::format("{} (never drawn: {})", text, fmt::join(others, " "));
}

std::string_view determinism_of(const TargetSpec& spec) {
  if (!spec.deterministic) return "no";
  return spec.alignment_changes_bits ? "yes, where tensors are aligned alike" : "yes";
}

template <class Specs>
std::string names(const Specs& specs) {
  std::vector<std::string_view> out;
  out.reserve(specs.size());
  for (const auto& spec : specs) out.push_back(spec.name);
  return fmt::format("{}", fmt::join(out, " "));
}

std::string table_section(std::string_view title, const Table& table) {
  return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.text("  "));
}

}  // namespace

std::string targets_text(std::span<const TargetInfo> targets) {
  if (targets.empty()) return "no targets\n";
  Table table({{"target"}, {"kind"}, {"devices"}, {"dims"}, {"knobs"}});
  bool missing = false;
  for (const auto& target : targets) {
    table.add({target.spec.name, std::string(name_of(target.spec.category)), devices_of(target),
               names(target.spec.dims), names(target.spec.knobs)});
    for (const auto& d : target.devices) missing |= !d.runs_here;
  }
  std::string out = table.text();
  if (missing) out += "\n(device): built, but cannot run here\n";
  return out;
}

std::string target_text(const TargetInfo& target) {
  const TargetSpec& spec = target.spec;
  std::string out = fmt::format("{}  {}\n", printable(spec.name), name_of(spec.category));
  if (!spec.doc.empty()) out += fmt::format("  {}\n", printable(spec.doc));

  Table devices({{"device"}, {"runs here"}, {"plugin"}, {"code"}});
  for (const auto& d : target.devices)
    devices.add({d.device, d.runs_here ? "yes" : "no: " + d.why_not, d.plugin, d.code_hash});
  out += table_section("devices", devices);

  Table dims({{"dim"}, {"values"}, {"tile", Table::Align::right}, {""}});
  for (const auto& d : spec.dims)
    dims.add({d.name, range_of(d), d.tile == 0 ? "" : std::to_string(d.tile), d.doc});
  out += table_section("dims", dims);
  for (const auto& c : spec.constraints) out += fmt::format("  where {}\n", printable(c.text));

  Table tensors({{"tensor"}, {"role"}, {"type"}, {"layouts"}});
  for (const auto& t : spec.tensors)
    tensors.add({t.name, t.role_of ? "by config" : std::string(name_of(t.role)),
                 t.dtype_of ? "by config" : std::string(name_of(t.dtype)),
                 fmt::format("{}", fmt::join(layouts_of(t.layouts), ", "))});
  out += table_section("tensors", tensors);

  Table knobs({{"knob"}, {"values, the default first"}, {""}});
  for (const auto& k : spec.knobs) knobs.add({k.name, values_of(k), k.doc});
  out += table_section("knobs", knobs);

  out += fmt::format("\nbitwise deterministic: {}, float64 reference: {}\n", determinism_of(spec),
                     spec.has_reference ? "yes" : "no");
  return out;
}

}  // namespace redzone::report
