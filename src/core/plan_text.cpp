#include "core/plan_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

#include "core/names.h"
#include "core/target_name.h"
#include "core/terminal.h"
#include "core/toml.h"
#include "core/utf8.h"

namespace redzone {
namespace {

// TOML holds nothing but UTF-8.
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

// Which words a text is in: those of today, or those that the format had first.
enum class Words : std::uint8_t { today, first };

template <NamedEnum E>
std::string_view word(E value, Words words) {
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

// What "hnd" was called first.
constexpr std::string_view kFirstHnd = "heads_first";

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

// Only what is not the driver's default.
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

// Reads typed keys of one table and complains about those that nobody asked for.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string where)
      : table_(table), where_(std::move(where)) {}

  Result<std::string> string(std::string_view k) {
    const toml::node* node = find(k);
    if (node == nullptr) return missing(k);
    if (const auto* v = node->as_string()) return v->get();
    return wrong(k, "a string", *node);
  }
  Result<std::int64_t> integer(std::string_view k, std::optional<std::int64_t> fallback = {}) {
    const toml::node* node = find(k);
    if (node == nullptr && fallback) return *fallback;
    if (node == nullptr) return missing(k);
    if (const auto* v = node->as_integer()) return v->get();
    return wrong(k, "an integer", *node);
  }
  Result<bool> boolean(std::string_view k, bool fallback = false) {
    const toml::node* node = find(k);
    if (node == nullptr) return fallback;
    if (const auto* v = node->as_boolean()) return v->get();
    return wrong(k, "true or false", *node);
  }
  // nullptr when absent.
  Result<const toml::table*> table(std::string_view k) {
    const toml::node* node = find(k);
    if (node == nullptr) return nullptr;
    if (const auto* v = node->as_table()) return v;
    return wrong(k, "a table", *node);
  }
  // A string that is one of the names that `parse` knows.
  template <class T>
  Result<T> name(std::string_view k, Result<T> (*parse)(std::string_view)) {
    RZ_TRY_ASSIGN(auto text, string(k));
    auto value = parse(text);
    if (value) return value;
    return usage_error(fmt::format("{}: {}", at(*table_.get(k)), value.error().message));
  }
  bool has(std::string_view k) { return find(k) != nullptr; }

  Result<void> no_more() const {
    for (const auto& [k, node] : table_) {
      if (std::find(known_.begin(), known_.end(), k.str()) != known_.end()) continue;
      return usage_error(
          fmt::format("{}: unknown key '{}'{}", at(node), k.str(), did_you_mean(k.str(), known_)));
    }
    return {};
  }
  std::string at(const toml::node& node) const {
    const auto& p = node.source().begin;
    return fmt::format("{}:{}:{}", where_, p.line, p.column);
  }

 private:
  const toml::node* find(std::string_view k) {
    known_.emplace_back(k);
    return table_.get(k);
  }
  tl::unexpected<Error> missing(std::string_view k) const {
    return usage_error(fmt::format("{}: key '{}' is missing", at(table_), k));
  }
  tl::unexpected<Error> wrong(std::string_view k, std::string_view want,
                              const toml::node& node) const {
    return usage_error(fmt::format("{}: '{}' must be {}", at(node), k, want));
  }

  const toml::table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

#define RZ_READ(target, expression)                           \
  do {                                                        \
    auto rz_result = (expression);                            \
    if (!rz_result) return tl::unexpected(rz_result.error()); \
    target = *rz_result;                                      \
  } while (false)

Result<Layout> parse_layout(const toml::table& table, const std::string& where) {
  TableReader reader(table, where);
  Layout layout;
  RZ_READ(layout.row_padding_elems, reader.integer("row_padding", 0));
  RZ_READ(layout.transposed, reader.boolean("transposed"));
  RZ_READ(layout.offset_elems, reader.integer("offset", 0));
  if (reader.has("unit_stride")) RZ_READ(layout.unit_stride, reader.integer("unit_stride"));
  RZ_READ(layout.hnd, reader.boolean(reader.has(kFirstHnd) ? kFirstHnd : "hnd"));
  RZ_READ(layout.slice_elems, reader.integer("slice", 0));
  RZ_READ(layout.broadcast_dim, reader.integer("broadcast", -1));
  RZ_READ(layout.reversed_dim, reader.integer("reversed", -1));
  RZ_TRY(reader.no_more());
  return layout;
}

// What calls and replays have in common.
Result<void> read_schedule(TableReader& reader, const std::string& where, std::int64_t& repeat,
                           std::int64_t& stream) {
  RZ_READ(repeat, reader.integer("repeat", 1));
  RZ_READ(stream, reader.integer("stream", 0));
  if (repeat < 1 || repeat > kMaxRepeat)
    return usage_error(
        fmt::format("{}: 'repeat' is {}, must be in 1..{}", where, repeat, kMaxRepeat));
  if (stream < 0 || stream >= kMaxStreams)
    return usage_error(
        fmt::format("{}: 'stream' is {}, must be in 0..{}", where, stream, kMaxStreams - 1));
  return {};
}

Result<CallStep> parse_call(TableReader& reader, const std::string& where) {
  CallStep step;
  const toml::table* dims = nullptr;
  RZ_READ(dims, reader.table("dims"));
  if (dims != nullptr)
    for (const auto& [k, node] : *dims) {
      const auto* v = node.as_integer();
      if (v == nullptr)
        return usage_error(
            fmt::format("{}: dim '{}' must be an integer", reader.at(node), k.str()));
      step.call.dims.emplace(k.str(), v->get());
    }
  const toml::table* config = nullptr;
  RZ_READ(config, reader.table("config"));
  if (config != nullptr)
    for (const auto& [k, node] : *config) {
      if (const auto* i = node.as_integer())
        step.call.config.emplace(k.str(), i->get());
      else if (const auto* s = node.as_string())
        step.call.config.emplace(k.str(), s->get());
      else
        return usage_error(
            fmt::format("{}: knob '{}' must be an integer or a string", reader.at(node), k.str()));
    }
  const toml::table* layouts = nullptr;
  RZ_READ(layouts, reader.table("layout"));
  if (layouts != nullptr)
    for (const auto& [k, node] : *layouts) {
      const auto* t = node.as_table();
      if (t == nullptr)
        return usage_error(
            fmt::format("{}: layout of '{}' must be a table", reader.at(node), k.str()));
      Layout layout;
      RZ_READ(layout, parse_layout(*t, where));
      if (!layout.contiguous()) step.call.layouts.emplace(k.str(), layout);
    }
  std::int64_t seed = 1;
  RZ_READ(seed, reader.integer("seed", 1));
  if (seed < 0) return usage_error(fmt::format("{}: 'seed' must not be negative", where));
  step.call.seed = static_cast<std::uint64_t>(seed);
  RZ_TRY(read_schedule(reader, where, step.repeat, step.stream));
  RZ_READ(step.graph, reader.integer("graph", 0));
  if (step.graph < 0 || step.graph > kMaxGraphs)
    return usage_error(
        fmt::format("{}: 'graph' is {}, must be in 0..{}", where, step.graph, kMaxGraphs));
  return step;
}

Result<ReplayStep> parse_replay(TableReader& reader, const std::string& where) {
  ReplayStep step;
  RZ_READ(step.graph, reader.integer("graph"));
  if (step.graph < 1 || step.graph > kMaxGraphs)
    return usage_error(
        fmt::format("{}: 'graph' is {}, must be in 1..{}", where, step.graph, kMaxGraphs));
  RZ_TRY(read_schedule(reader, where, step.repeat, step.stream));
  return step;
}

Result<Step> parse_step(const toml::table& table, const std::string& where) {
  TableReader reader(table, where);
  std::string kind;
  RZ_READ(kind, reader.string("do"));
  Step step;
  if (kind == "call") {
    RZ_READ(step, parse_call(reader, fmt::format("{}", reader.at(table))));
  } else if (kind == "sync") {
    step = SyncStep{};
  } else if (kind == "wait") {
    WaitStep wait;
    RZ_READ(wait.stream, reader.integer("stream"));
    RZ_READ(wait.on, reader.integer("on"));
    for (auto s : {wait.stream, wait.on})
      if (s < 0 || s >= kMaxStreams)
        return usage_error(
            fmt::format("{}: stream {} must be in 0..{}", reader.at(table), s, kMaxStreams - 1));
    step = wait;
  } else if (kind == "replay") {
    RZ_READ(step, parse_replay(reader, reader.at(table)));
  } else {
    return usage_error(
        fmt::format("{}: unknown step '{}': call, sync, wait or replay", reader.at(table), kind));
  }
  RZ_TRY(reader.no_more());
  return step;
}

Result<PoolPolicy> parse_pool(const toml::table& table, const std::string& where) {
  TableReader reader(table, where);
  PoolPolicy pool;
  RZ_READ(pool.follow_event_dependencies, reader.boolean("follow_event_dependencies", true));
  RZ_READ(pool.allow_opportunistic, reader.boolean("allow_opportunistic", true));
  RZ_READ(pool.allow_internal_dependencies, reader.boolean("allow_internal_dependencies", true));
  std::int64_t threshold = 0;
  RZ_READ(threshold, reader.integer("release_threshold_bytes", 0));
  if (threshold < 0)
    return usage_error(
        fmt::format("{}: 'release_threshold_bytes' must not be negative", reader.at(table)));
  pool.release_threshold_bytes = static_cast<std::uint64_t>(threshold);
  RZ_TRY(reader.no_more());
  return pool;
}

Result<Mode> parse_mode(const toml::table& table, const std::string& where) {
  TableReader reader(table, where);
  Mode mode;
  std::string text;
  RZ_READ(mode.launch, reader.name("launch", parse_name<Launch>));
  RZ_READ(mode.allocator, reader.name("allocator", parse_name<Allocator>));
  RZ_READ(mode.placement, reader.name("placement", parse_name<Placement>));
  RZ_READ(text, reader.string("poison"));
  const bool hex = text.size() > 2 && text.size() <= 10 && text.starts_with("0x");
  const char* end = text.data() + text.size();
  if (!hex || std::from_chars(text.data() + 2, end, mode.poison, 16).ptr != end)
    return usage_error(
        fmt::format("{}: poison '{}' must be 0x and up to 8 hex digits", reader.at(table), text));
  std::int64_t seed = 0;
  RZ_READ(seed, reader.integer("schedule_seed", 0));
  if (seed < 0)
    return usage_error(fmt::format("{}: 'schedule_seed' must not be negative", reader.at(table)));
  mode.schedule_seed = static_cast<std::uint64_t>(seed);
  if (reader.has("sanitizer"))
    RZ_READ(mode.sanitizer, reader.name("sanitizer", parse_name<SanitizerTool>));
  const toml::table* pool = nullptr;
  RZ_READ(pool, reader.table("pool"));
  if (pool != nullptr && mode.allocator != Allocator::pool)
    return usage_error(
        fmt::format("{}: 'pool' needs the allocator to be \"pool\"", reader.at(*pool)));
  if (pool != nullptr) RZ_READ(mode.pool, parse_pool(*pool, where));
  RZ_TRY(reader.no_more());
  return mode;
}

Result<Plan> parse_document(const toml::table& document, const std::string& where) {
  TableReader reader(document, where);
  std::int64_t version = 0;
  RZ_READ(version, reader.integer("redzone_plan"));
  if (version != kPlanVersion)
    return usage_error(fmt::format("{}: plan version {}, this build reads version {}", where,
                                   version, kPlanVersion));
  Plan plan;
  RZ_READ(plan.target, reader.string("target"));
  if (!is_target_name(plan.target))
    return usage_error(
        fmt::format("{}: target '{}' must be of [a-z0-9_.]+", where, printable(plan.target)));
  const toml::table* mode = nullptr;
  RZ_READ(mode, reader.table("mode"));
  if (mode != nullptr) RZ_READ(plan.mode, parse_mode(*mode, where));
  reader.has("expect");
  reader.has("step");
  const toml::node* node = document.get("step");
  const toml::array* steps = node == nullptr ? nullptr : node->as_array();
  if (steps == nullptr || steps->empty())
    return usage_error(fmt::format("{}: no [[step]]: a plan needs at least one", where));
  if (steps->size() > kMaxSteps)
    return usage_error(fmt::format("{}: {} steps, at most {}", where, steps->size(), kMaxSteps));
  for (const auto& element : *steps) {
    const auto* table = element.as_table();
    if (table == nullptr)
      return usage_error(fmt::format("{}: 'step' must be an array of tables", where));
    Step step;
    RZ_READ(step, parse_step(*table, where));
    plan.steps.push_back(std::move(step));
  }
  RZ_TRY(reader.no_more());
  return plan;
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
      word(plan.mode.launch, words), word(plan.mode.allocator, words),
      word(plan.mode.placement, words), plan.mode.poison);
  out += fmt::format("schedule_seed = {}\n", plan.mode.schedule_seed);
  if (plan.mode.sanitizer != SanitizerTool::none)
    out += fmt::format("sanitizer = \"{}\"\n", word(plan.mode.sanitizer, words));
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

std::string text_to_hash(const Plan& plan) {
  return print(plan, Words::first);
}

Result<Plan> parse_plan(std::string_view text, std::string_view where) {
  const auto document = parse_toml(text);
  if (!document)
    return usage_error(
        fmt::format("{}: not a plan: {}", document.error().at(where), document.error().what));
  return parse_document(*document, std::string(where));
}

}  // namespace redzone
