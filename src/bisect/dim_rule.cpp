#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "bisect/boundary.h"

namespace redzone::bisect {
namespace {

using Class = DimRule::Class;
using Answers = std::map<std::int64_t, bool>;

// Fewer failing values than this between passing ones may be part of a pattern whose other values
// were not sampled.
constexpr std::ptrdiff_t kLeastInRange = 3;

bool is_power(std::int64_t v) {
  return v > 0 && std::has_single_bit(static_cast<std::uint64_t>(v));
}

bool agrees(const DimRule& rule, const Answers& answers) {
  return std::all_of(answers.begin(), answers.end(),
                     [&](const auto& a) { return rule.fails(a.first) == a.second; });
}

// The remainders of failing and of passing values.
struct Remainders {
  std::set<std::int64_t> failing, passing;
};
std::optional<Remainders> remainders(const Answers& answers, std::int64_t modulus) {
  Remainders out;
  for (const auto& [value, fails] : answers)
    (fails ? out.failing : out.passing).insert(value % modulus);
  for (const auto r : out.failing)
    if (out.passing.contains(r)) return std::nullopt;
  return out;
}

// True if these few remainders are unlikely to be chance: random answers also give some remainders
// of a single kind, but one or two remainders with several samples each are unlikely.
bool is_plain(const std::set<std::int64_t>& few, std::int64_t modulus, const Answers& answers) {
  if (few.size() > (modulus <= 16 ? 2u : 1u)) return false;
  return std::all_of(few.begin(), few.end(), [&](std::int64_t remainder) {
    return std::count_if(answers.begin(), answers.end(),
                         [&](const auto& a) { return a.first % modulus == remainder; }) >= 3;
  });
}

// A rule by remainders, if one of the two sides has only a few.
std::optional<DimRule> by_modulus(const Answers& answers, std::int64_t modulus) {
  const auto found = remainders(answers, modulus);
  if (!found || found->failing.empty() || found->passing.empty()) return std::nullopt;
  const bool fewer_fail = found->failing.size() <= found->passing.size();
  const auto& few = fewer_fail ? found->failing : found->passing;
  if (!is_plain(few, modulus, answers)) return std::nullopt;
  DimRule rule;
  rule.kind = fewer_fail ? Class::remainders : Class::all_but_remainders;
  rule.modulus = modulus;
  rule.remainders = few;
  return rule;
}

// The largest modulus for which all values with this answer have the same remainder; 0 if there are
// fewer than two values.
std::int64_t common_step(const Answers& answers, bool fail) {
  std::optional<std::int64_t> first;
  std::int64_t step = 0;
  for (const auto& [value, fails] : answers) {
    if (fails != fail) continue;
    step = std::gcd(step, value - first.value_or(value));
    first = first.value_or(value);
  }
  return step;
}

std::optional<DimRule> by_class(const Answers& answers, std::int64_t tile) {
  std::vector<std::int64_t> moduli{2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256};
  if (tile > 1) moduli.push_back(tile);
  for (const bool fail : {true, false})
    if (const auto modulus = common_step(answers, fail); modulus > 1) moduli.push_back(modulus);
  std::sort(moduli.begin(), moduli.end());
  for (const auto modulus : moduli)
    if (auto rule = by_modulus(answers, modulus)) return rule;
  for (const auto kind : {Class::powers, Class::all_but_powers}) {
    DimRule rule;
    rule.kind = kind;
    if (agrees(rule, answers)) return rule;
  }
  return std::nullopt;
}

}  // namespace

bool DimRule::fails(std::int64_t value) const {
  if ((least && value < *least) || (most && value > *most)) return false;
  switch (kind) {
    case Class::all:
      return true;
    case Class::remainders:
      return remainders.contains(value % modulus);
    case Class::all_but_remainders:
      return !remainders.contains(value % modulus);
    case Class::powers:
      return is_power(value);
    case Class::all_but_powers:
      return !is_power(value);
  }
  return false;
}

std::string DimRule::text(const std::string& dim) const {
  std::string range;
  if (least && least == most)
    range = fmt::format("{} = {}", dim, *least);
  else if (least && most)
    range = fmt::format("{} <= {} <= {}", *least, dim, *most);
  else if (least)
    range = fmt::format("{} >= {}", dim, *least);
  else if (most)
    range = fmt::format("{} <= {}", dim, *most);
  std::string what;
  const auto remainder = [&](const char* is) {
    return fmt::format("{} % {} {} {}", dim, modulus, is, fmt::join(remainders, " or "));
  };
  switch (kind) {
    case Class::all:
      return range.empty() ? fmt::format("fails for every {} tried", dim) : "fails for " + range;
    case Class::remainders:
      what = remainder("=");
      break;
    case Class::all_but_remainders:
      what = remainders == std::set<std::int64_t>{0}
                 ? fmt::format("{} that is not a multiple of {}", dim, modulus)
                 : remainder("other than");
      break;
    case Class::powers:
      what = dim + " that is a power of two";
      break;
    case Class::all_but_powers:
      what = dim + " that is not a power of two";
      break;
  }
  return fmt::format("fails for {}{}{}", what, range.empty() ? "" : " and ", range);
}

std::optional<DimRule> fit_rule(const Answers& fails, std::int64_t tile) {
  const auto first =
      std::find_if(fails.begin(), fails.end(), [](const auto& a) { return a.second; });
  if (first == fails.end()) return std::nullopt;
  const auto last =
      std::find_if(fails.rbegin(), fails.rend(), [](const auto& a) { return a.second; });
  DimRule range;
  if (first != fails.begin()) range.least = first->first;
  if (last != fails.rbegin()) range.most = last->first;
  const auto failing =
      std::count_if(fails.begin(), fails.end(), [](const auto& a) { return a.second; });
  if (range.least && range.most && failing < kLeastInRange) return by_class(fails, tile);
  if (agrees(range, fails)) return range;
  if (auto rule = by_class(fails, tile)) return rule;
  // Try a class within the failing range; keep an end of the range only if values of the class
  // beyond it pass.
  Answers inside(first, std::next(fails.find(last->first)));
  auto rule = by_class(inside, tile);
  if (!rule) return std::nullopt;
  const DimRule unbounded = *rule;
  for (const auto& [value, failed] : fails) {
    if (failed || !unbounded.fails(value)) continue;
    if (value < first->first) rule->least = first->first;
    if (value > last->first) rule->most = last->first;
  }
  return rule;
}

}  // namespace redzone::bisect
