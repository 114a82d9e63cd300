#include "core/verdict.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "core/names.h"

namespace redzone {
namespace {

// Most specific first (see more_specific()).
constexpr std::array kKinds{std::pair{FailKind::launch_config, "launch-config"},
                            std::pair{FailKind::illegal_access, "illegal-access"},
                            std::pair{FailKind::fault, "fault"},
                            std::pair{FailKind::hang, "hang"},
                            std::pair{FailKind::redzone, "redzone"},
                            std::pair{FailKind::use_after_free, "use-after-free"},
                            std::pair{FailKind::race, "race"},
                            std::pair{FailKind::barrier, "barrier"},
                            std::pair{FailKind::scratch, "scratch-too-small"},
                            std::pair{FailKind::input_changed, "input-changed"},
                            std::pair{FailKind::nondeterministic, "nondeterministic"},
                            std::pair{FailKind::schedule, "schedule"},
                            std::pair{FailKind::uninitialized, "uninitialized"},
                            std::pair{FailKind::history, "history"},
                            std::pair{FailKind::async, "async"},
                            std::pair{FailKind::graph, "graph"},
                            std::pair{FailKind::placement, "placement"},
                            std::pair{FailKind::allocation, "allocation"},
                            std::pair{FailKind::reference, "reference"},
                            std::pair{FailKind::divergence, "divergence"}};
// The last ones of their kind in that order.
constexpr FailKind kLastToEndATrial = FailKind::hang, kLastDirect = FailKind::input_changed;

std::size_t place(FailKind kind) {
  const auto it = std::find_if(kKinds.begin(), kKinds.end(),
                               [&](const auto& named) { return named.first == kind; });
  return static_cast<std::size_t>(it - kKinds.begin());
}

constexpr std::array kOutcomes{std::pair{Outcome::pass, "pass"}, std::pair{Outcome::fail, "fail"},
                               std::pair{Outcome::inconclusive, "inconclusive"},
                               std::pair{Outcome::not_applicable, "not-applicable"},
                               std::pair{Outcome::harness_error, "harness-error"}};

}  // namespace

std::string_view name_of(FailKind kind) {
  return name_in(kKinds, kind);
}

bool more_specific(FailKind a, FailKind b) {
  return place(a) < place(b);
}

bool ends_trial(FailKind kind) {
  return place(kind) <= place(kLastToEndATrial);
}

bool is_direct(FailKind kind) {
  return place(kind) <= place(kLastDirect);
}
std::string_view name_of(Outcome outcome) {
  return name_in(kOutcomes, outcome);
}

Result<FailKind> parse_fail_kind(std::string_view text) {
  return value_in(kKinds, text, "kind of failure");
}

std::string Signature::text() const {
  std::string out(name_of(kind));
  std::string what;
  for (const std::string* part : {&access, &side, &buffer})
    if (!part->empty()) what += (what.empty() ? "" : " ") + *part;
  if (!what.empty()) out += ": " + what;
  if (!where.empty()) out += (what.empty() ? ": " : " in ") + where;
  return out + " (" + target + ")";
}

std::string Signature::hash() const {
  std::string all(name_of(kind));
  for (const std::string* part : {&target, &where, &buffer, &side, &access}) all += '\0' + *part;
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

bool same_bug(const Signature& a, const Signature& b) {
  const auto compatible = [](const std::string& x, const std::string& y) {
    return x == y || x.empty() || y.empty();
  };
  return a.kind == b.kind && a.target == b.target && compatible(a.where, b.where) &&
         compatible(a.buffer, b.buffer) && compatible(a.side, b.side) &&
         compatible(a.access, b.access);
}

}  // namespace redzone
