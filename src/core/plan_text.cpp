#include "core/plan_text.h"

#include <fmt/format.h>

#include <map>
#include <ostream>

#include "core/document.h"
#include "core/names.h"
#include "core/plan_reader.h"
#include "core/table_reader.h"
#include "core/utf8.h"

namespace redzone {
namespace {

// TOML is UTF-8 only.
std::string quote(std::string_view s) {
  std::string out = "\"";
  for (unsigned char c : valid_utf8(s)) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", static_cast<char>(c));
    else if (c < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += static_cast<char>(c);
  }
  return out + '"';
}

bool bare_key(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s)
    if (!(c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
          (c >= 'A' && c <= 'Z')))
      return false;
  return true;
}

std::string key(std::string_view s) {
  return bare_key(s) ? std::string(s) : quote(s);
}

// Vocabulary of a text: the current names, or the first names of the format.
enum class Words : std::uint8_t { today, first };

template <NamedEnum E>
std::string_view word_of(E value, Words words) {
  return words == Words::today ? name_of(value) : first_name_of(value);
}

template <class Map, class Print>
std::string inline_table(const Map& map, Print print) {
  std::string out = "{";
  const char* separator = " ";
  for (const auto& [k, v] : map) {
    out += fmt::format("{}{} = {}", separator, key(k), print(v));
    separator = ", ";
  }
  return out + (map.empty() ? "}" : " }");
}

std::string print_layout(const Layout& layout, Words words) {
  std::string out = "{";
  const char* separator = " ";
  auto add = [&](std::string_view k, const std::string& v) {
    out += fmt::format("{}{} = {}", separator, k, v);
    separator = ", ";
  };
  if (layout.row_padding_elems != 0) add("row_padding", std::to_string(layout.row_padding_elems));
  if (layout.transposed) add("transposed", "true");
  if (layout.offset_elems != 0) add("offset", std::to_string(layout.offset_elems));
  if (layout.unit_stride) add("unit_stride", std::to_string(*layout.unit_stride));
  if (layout.hnd) add(words == Words::today ? "hnd" : kFirstHnd, "true");
  if (layout.slice_elems != 0) add("slice", std::to_string(layout.slice_elems));
  if (layout.broadcast_dim != -1) add("broadcast", std::to_string(layout.broadcast_dim));
  if (layout.reversed_dim != -1) add("reversed", std::to_string(layout.reversed_dim));
  return out + (layout.contiguous() ? "}" : " }");
}

// Prints only settings that differ from the driver's default.
void print_pool(std::string& out, const PoolPolicy& pool) {
  std::map<std::string, std::string> keys;
  if (!pool.follow_event_dependencies) keys.emplace("follow_event_dependencies", "false");
  if (!pool.allow_opportunistic) keys.emplace("allow_opportunistic", "false");
  if (!pool.allow_internal_dependencies) keys.emplace("allow_internal_dependencies", "false");
  if (pool.release_threshold_bytes != 0)
    keys.emplace("release_threshold_bytes", std::to_string(pool.release_threshold_bytes));
  out += fmt::format("pool = {}\n", inline_table(keys, [](const std::string& v) { return v; }));
}

void print_step(std::string& out, const CallStep& step, Words words) {
  out += "do = \"call\"\n";
  out += fmt::format("dims = {}\n",
                     inline_table(step.call.dims, [](auto v) { return std::to_string(v); }));
  if (!step.call.config.empty())
    out += fmt::format("config = {}\n", inline_table(step.call.config, print_value));
  std::map<std::string, Layout> layouts;
  for (const auto& [name, layout] : step.call.layouts)
    if (!layout.contiguous()) layouts.emplace(name, layout);
  if (!layouts.empty())
    out += fmt::format("layout = {}\n", inline_table(layouts, [words](const Layout& layout) {
                         return print_layout(layout, words);
                       }));
  out += fmt::format("seed = {}\n", step.call.seed);
  if (step.repeat != 1) out += fmt::format("repeat = {}\n", step.repeat);
  if (step.stream != 0) out += fmt::format("stream = {}\n", step.stream);
  if (step.graph != 0) out += fmt::format("graph = {}\n", step.graph);
}
void print_step(std::string& out, const SyncStep&, Words) {
  out += "do = \"sync\"\n";
}
void print_step(std::string& out, const WaitStep& step, Words) {
  out += fmt::format("do = \"wait\"\nstream = {}\non = {}\n", step.stream, step.on);
}
void print_step(std::string& out, const ReplayStep& step, Words) {
  out += fmt::format("do = \"replay\"\ngraph = {}\n", step.graph);
  if (step.repeat != 1) out += fmt::format("repeat = {}\n", step.repeat);
  if (step.stream != 0) out += fmt::format("stream = {}\n", step.stream);
}

}  // namespace

std::string print_value(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  return quote(std::get<std::string>(value));
}

namespace {

std::string print(const Plan& plan, Words words) {
  std::string out =
      fmt::format("redzone_plan = {}\ntarget = {}\n\n[mode]\n", kPlanVersion, quote(plan.target));
  out += fmt::format(
      "launch = \"{}\"\nallocator = \"{}\"\nplacement = \"{}\"\npoison = \"0x{:08x}\"\n",
      word_of(plan.mode.launch, words), word_of(plan.mode.allocator, words),
      word_of(plan.mode.placement, words), plan.mode.poison);
  out += fmt::format("schedule_seed = {}\n", plan.mode.schedule_seed);
  if (plan.mode.sanitizer != SanitizerTool::none)
    out += fmt::format("sanitizer = \"{}\"\n", word_of(plan.mode.sanitizer, words));
  if (plan.mode.alignment != Alignment::promised)
    out += fmt::format("alignment = \"{}\"\n", word_of(plan.mode.alignment, words));
  if (plan.mode.callers != Callers::one)
    out += fmt::format("callers = \"{}\"\n", word_of(plan.mode.callers, words));
  if (plan.mode.addresses != Addresses::distinct)
    out += fmt::format("addresses = \"{}\"\n", word_of(plan.mode.addresses, words));
  if (plan.mode.stack != Stack::as_left)
    out += fmt::format("stack = \"{}\"\n", word_of(plan.mode.stack, words));
  if (plan.mode.allocator == Allocator::pool && plan.mode.pool != PoolPolicy{})
    print_pool(out, plan.mode.pool);
  for (const auto& step : plan.steps) {
    out += "\n[[step]]\n";
    std::visit([&](const auto& s) { print_step(out, s, words); }, step);
  }
  return out;
}

}  // namespace

std::string print_plan(const Plan& plan) {
  return print(plan, Words::today);
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << print_plan(plan);
}

std::ostream& operator<<(std::ostream& out, const Mode& mode) {
  Plan plan;
  plan.mode = mode;
  const std::string text = print_plan(plan);
  return out << text.substr(text.find("[mode]"));
}

std::string text_to_hash(const Plan& plan) {
  return print(plan, Words::first);
}

Result<Plan> parse_plan(std::string_view text, std::string_view where) {
  RZ_TRY_ASSIGN(const Document document, read_toml(text, std::string(where), "a plan"));
  return checked_read([&] {
    TableReader root(document);
    Plan plan = read_plan(root);
    root.skip("expect");
    root.done();
    return plan;
  });
}

}  // namespace redzone
