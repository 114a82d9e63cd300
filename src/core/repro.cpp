#include "core/repro.h"

#include <fmt/format.h>

#include <array>

#include "core/document.h"
#include "core/plan_reader.h"
#include "core/plan_text.h"
#include "core/table_reader.h"
#include "core/terminal.h"

namespace redzone {
namespace {

constexpr std::int64_t kMostRuns = 1'000'000;
constexpr std::size_t kMostExpectBytes = std::size_t{1} << 20;

// The optional parts of a signature and their keys.
std::array<std::pair<std::string_view, std::string Signature::*>, 4> signature_parts() {
  return {{{"where", &Signature::where},
           {"buffer", &Signature::buffer},
           {"side", &Signature::side},
           {"access", &Signature::access}}};
}

// A longer text cannot be stored.
std::string bounded(TableReader& f, std::string_view field) {
  std::string text = f.string(field);
  if (text.size() > kMostExpectBytes)
    throw f.error(field,
                  fmt::format("{} bytes, at most {} are possible", text.size(), kMostExpectBytes));
  return text;
}

void read_expect(TableReader f, Repro& repro) {
  repro.oracle = bounded(f, "oracle");
  if (repro.oracle.empty()) throw f.error("oracle", "empty");
  Signature signature;
  signature.target = repro.plan.target;
  signature.kind = f.named<FailKind>("kind");
  for (const auto& [name, part] : signature_parts())
    if (f.has(name)) signature.*part = bounded(f, name);
  if (f.has("failed")) {
    const auto runs = f.integers("failed");
    if (runs.size() != 2 || runs[0] < 1 || runs[0] > runs[1] || runs[1] > kMostRuns)
      throw f.error("failed", fmt::format("two counts [K, N] are expected, of failed runs and of "
                                          "runs: 0 < K <= N <= {}",
                                          kMostRuns));
    repro.failed = Reliability{runs[0], runs[1]};
  }
  f.done();
  repro.signature = signature;
}

}  // namespace

Reliability Repro::rate() const {
  if (!signature) return {};
  return failed.value_or(Reliability{1, 1});
}

std::string print_repro(const Repro& repro, std::string_view comment) {
  std::string out;
  while (!comment.empty()) {
    const auto end = comment.find('\n');
    const auto line = comment.substr(0, end);
    out += line.empty() ? "#\n" : fmt::format("# {}\n", printable(line));
    comment = end == std::string_view::npos ? std::string_view() : comment.substr(end + 1);
  }
  if (!out.empty()) out += '\n';
  const std::string plan = print_plan(repro.plan);
  if (!repro.signature) return out + plan;
  // [expect] goes before the steps, so that the file reads: target, mode, expectation, steps.
  std::string expect = fmt::format("[expect]\noracle = {}\nkind = {}\n", print_value(repro.oracle),
                                   print_value(std::string(name_of(repro.signature->kind))));
  for (const auto& [name, part] : signature_parts())
    if (const std::string& v = (*repro.signature).*part; !v.empty())
      expect += fmt::format("{} = {}\n", name, print_value(v));
  if (repro.failed) expect += fmt::format("failed = [{}, {}]\n", repro.failed->k, repro.failed->n);
  const auto steps = plan.find("\n[[step]]\n");
  return out + plan.substr(0, steps + 1) + expect + plan.substr(steps);
}

Result<Repro> parse_repro(std::string_view text, std::string_view where) {
  RZ_TRY_ASSIGN(const Document document, read_toml(text, std::string(where), "a plan"));
  return checked_read([&] {
    TableReader root(document);
    Repro repro{.plan = read_plan(root)};
    if (root.has("expect")) read_expect(root.table("expect"), repro);
    root.done();
    return repro;
  });
}

}  // namespace redzone
