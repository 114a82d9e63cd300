#include "puzzles/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "core/mode_axes.h"
#include "core/names.h"
#include "core/repro.h"
#include "core/validate.h"

namespace redzone::puzzles {
namespace {

constexpr std::array<std::string_view, 2> kAccesses{"read", "write"};
constexpr std::array<std::string_view, 4> kSides{"before", "after", "inside", "gap"};

template <class Values, class T>
bool contains(const Values& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::string> split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const auto end = text.find(by, at);
    if (auto part = text.substr(at, end - at); !part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    at = end + by.size();
  }
}

// "key: value" of a comment line; nullopt for any other line.
struct Field {
  std::string key, value;
};
std::optional<Field> field_of(std::string_view line) {
  if (line.substr(0, 3) != "// ") return std::nullopt;
  line.remove_prefix(3);
  const auto colon = line.find(": ");
  const std::string key(line.substr(0, colon));
  constexpr std::array<std::string_view, 6> kKeys{"puzzle", "control", "bug",
                                                  "kin",    "expect",  "minimal"};
  if (colon == std::string_view::npos || !contains(kKeys, key)) return std::nullopt;
  return Field{key, std::string(line.substr(colon + 2))};
}

std::string trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text);
}

// The fields of the comment at the top, up to the first line that does not begin with "// " and
// text. A line that begins no field continues the previous one.
std::vector<Field> fields_of(std::string_view source) {
  std::vector<Field> fields;
  std::istringstream lines{std::string(source)};
  for (std::string line; std::getline(lines, line) && line.rfind("// ", 0) == 0;) {
    if (auto field = field_of(line))
      fields.push_back(std::move(*field));
    else if (!fields.empty())
      fields.back().value += " " + trimmed(line.substr(3));
  }
  return fields;
}

Result<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return usage_error(fmt::format("'{}' is no number", text));
  return value;
}

// Pointer to the numeric part of a layout with this name; null for other parts.
std::int64_t* number_of(Layout& layout, std::string_view part) {
  if (part == "row_padding") return &layout.row_padding_elems;
  if (part == "offset") return &layout.offset_elems;
  if (part == "reversed") return &layout.reversed_dim;
  if (part == "unit_stride") return layout.unit_stride ? &*layout.unit_stride : nullptr;
  return nullptr;
}

// "N=3", "x.row_padding=1" or "x.transposed".
Result<void> parse_setting(std::string_view word, Call& call) {
  const auto equals = word.find('=');
  const auto dot = word.find('.');
  const std::string_view name = word.substr(0, std::min(equals, dot));
  if (dot == std::string_view::npos) {
    if (equals == std::string_view::npos)
      return usage_error(fmt::format("'{}' has no value", word));
    const auto value = parse_int(word.substr(equals + 1));
    if (!value) return tl::unexpected(value.error());
    call.dims[std::string(name)] = *value;
    return {};
  }
  Layout& layout = call.layouts[std::string(name)];
  const std::string_view part = word.substr(dot + 1, equals - dot - 1);
  if (part == "transposed" && equals == std::string_view::npos) {
    layout.transposed = true;
    return {};
  }
  if (part == "unit_stride") layout.unit_stride = 0;
  std::int64_t* const number = number_of(layout, part);
  if (number == nullptr || equals == std::string_view::npos)
    return usage_error(fmt::format("'{}' is no layout", word));
  const auto value = parse_int(word.substr(equals + 1));
  if (!value) return tl::unexpected(value.error());
  *number = *value;
  return {};
}

// Parses a word after the number of calls: a value of one of the axes, how they run if not in the
// plainest way. A number would not say of which axis it is.
bool parse_way(std::string_view word, Minimum& to) {
  Plan plan;
  plan.mode = to.mode;
  for (const ModeAxis& axis : all_mode_axes())
    for (const ModeValue& value : axis.values)
      if (axis.take != nullptr && value.name == word && word.find_first_of("0123456789") != 0) {
        Draft draft(plan);
        value.set(draft);
        to.mode = draft.plan.mode;
        return to.mode != plan.mode;
      }
  return false;
}

// "2 calls; N=1; N=65", or "1 call, guard_before; N=1", or "2 calls, async; N=1; N=1".
Result<Minimum> parse_minimum(std::string_view text) {
  Minimum to;
  if (text.substr(0, 7) == "repros/") {
    to.file = text.substr(7);
    return to;
  }
  const auto parts = split(text, "; ");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Call& call = to.calls.emplace_back();
    for (const auto& word : split(parts[i], " "))
      if (auto r = parse_setting(word, call); !r) return tl::unexpected(r.error());
  }
  const std::size_t n = to.calls.size();
  const std::string count = fmt::format("{} call{}", n, n == 1 ? "" : "s");
  const auto ways = split(parts[0], ", ");
  if (n == 0 || ways[0] != count) return usage_error(fmt::format("'{}' lists {} calls", text, n));
  for (const auto& way : std::span(ways).subspan(1))
    if (!parse_way(way, to)) return usage_error(fmt::format("'{}': no way to run '{}'", text, way));
  return to;
}

// "illegal-access | fault read after x".
Result<Expectation> parse_expectation(std::string_view text) {
  Expectation e;
  bool more_kinds = true;
  for (const auto& word : split(text, " ")) {
    if (word == "|") {
      more_kinds = true;
    } else if (more_kinds) {
      const auto kind = parse_name<FailKind>(word);
      if (!kind) return tl::unexpected(kind.error());
      e.kinds.push_back(*kind);
      more_kinds = false;
    } else if (contains(kAccesses, word)) {
      e.access = word;
    } else if (contains(kSides, word)) {
      e.side = word;
    } else if (e.buffer.empty()) {
      e.buffer = word;
    } else {
      return usage_error(fmt::format("'{}' is one word too many", word));
    }
  }
  return e;
}

// The contents of the file; "" if it cannot be read.
std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

}  // namespace

Result<Note> parse_note(std::string_view source, std::string_view where) {
  const auto bad = [&](std::string what) {
    return usage_error(fmt::format("{}: {}", where, std::move(what)));
  };
  const auto fields = fields_of(source);
  if (fields.empty() || (fields[0].key != "puzzle" && fields[0].key != "control"))
    return bad("the first line must be '// puzzle: NAME' or '// control: NAME'");
  Note note;
  note.name = fields[0].value;
  note.control = fields[0].key == "control";
  const auto complete = [&] {
    return note.expectations.empty() || !note.expectations.back().minima.empty();
  };
  for (const auto& [key, value] : std::span(fields).subspan(1)) {
    if (key == "bug") {
      note.bug = value;
    } else if (key == "kin") {
      note.kin = value;
    } else if (key == "expect" && complete()) {
      if (note.control && value == "nothing") continue;
      auto e = parse_expectation(value);
      if (!e) return bad(e.error().message);
      note.expectations.push_back(std::move(*e));
    } else if (key == "minimal" && !note.expectations.empty()) {
      auto minimum = parse_minimum(value);
      if (!minimum) return bad(minimum.error().message);
      note.expectations.back().minima.push_back(std::move(*minimum));
    } else {
      return bad(fmt::format("'{}' does not belong here", key));
    }
  }
  if (!complete()) return bad("an expectation has no minimum");
  if (note.control == !note.expectations.empty())
    return bad(note.control ? "a control expects nothing" : "a puzzle must expect something");
  if (!note.control && (note.bug.empty() || note.kin.empty())) return bad("no bug or no kin");
  return note;
}

std::vector<std::filesystem::path> puzzle_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PUZZLE_SOURCES))
    if (entry.path().extension() == ".cu" && entry.path().stem() != "plugin")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Result<Note> read_note(const std::filesystem::path& file) {
  const std::string text = text_of(file);
  if (text.empty()) return usage_error(file.string() + ": cannot be read");
  return parse_note(text, file.filename().string());
}

std::vector<Note> shipped_notes() {
  std::vector<Note> notes;
  for (const auto& file : puzzle_files())
    if (auto note = read_note(file)) notes.push_back(std::move(*note));
  return notes;
}

namespace {

// The calls of repeated ones, as a note lists them.
Plan without_repeats(Plan plan) {
  std::vector<Step> steps;
  for (Step step : plan.steps) {
    std::int64_t times = 1;
    if (auto* call = std::get_if<CallStep>(&step); call != nullptr && call->graph == 0)
      times = std::exchange(call->repeat, 1);
    steps.insert(steps.end(), static_cast<std::size_t>(times), step);
  }
  plan.steps = std::move(steps);
  return plan;
}

}  // namespace

Plan minimal_plan(const Minimum& minimum, const TargetSpec& target) {
  Plan plan;
  if (!minimum.file.empty()) {
    auto stored = parse_repro(text_of(std::filesystem::path(REPROS) / minimum.file), minimum.file);
    RZ_CHECK(stored.has_value());
    plan = std::move(stored->plan);
    plan.target = target.name;
    return plan;
  }
  plan.target = target.name;
  plan.mode = minimum.mode;
  for (Call call : minimum.calls) {
    for (const auto& knob : target.knobs)
      if (const auto value = call.dims.extract(knob.name)) call.config[knob.name] = value.mapped();
    plan.steps.push_back(CallStep{std::move(call)});
  }
  complete(plan, target);
  return plan;
}

bool is_minimum(const Plan& plan, const Minimum& minimum, const TargetSpec& target) {
  Plan want = minimal_plan(minimum, target);
  if (!minimum.file.empty()) want.mode.schedule_seed = plan.mode.schedule_seed;
  return plan == want || (minimum.file.empty() && without_repeats(plan) == want);
}

bool matches(const Expectation& expectation, const Signature& signature) {
  const auto fits = [](const std::string& wanted, const std::string& got) {
    return wanted.empty() || wanted == got;
  };
  return contains(expectation.kinds, signature.kind) &&
         fits(expectation.access, signature.access) && fits(expectation.side, signature.side) &&
         fits(expectation.buffer, signature.buffer);
}

}  // namespace redzone::puzzles
