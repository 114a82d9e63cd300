#include "bisect/rivals.h"

#include <algorithm>
#include <set>

namespace redzone::bisect {
namespace {

using Class = DimRule::Class;

std::vector<std::int64_t> prime_factors(std::int64_t of) {
  std::vector<std::int64_t> out;
  for (std::int64_t p = 2; p * p <= of; ++p) {
    if (of % p == 0) out.push_back(p);
    while (of % p == 0) of /= p;
  }
  if (of > 1) out.push_back(of);
  return out;
}

bool of_remainders(const DimRule& rule) {
  return rule.kind == Class::remainders || rule.kind == Class::all_but_remainders;
}

// True if the value belongs to the class that names the rule (its remainders, or powers),
// regardless of the rule's bounds.
bool is_named(const DimRule& rule, std::int64_t value) {
  DimRule unbounded = rule;
  unbounded.least = unbounded.most = std::nullopt;
  const bool others = rule.kind == Class::all_but_remainders || rule.kind == Class::all_but_powers;
  return unbounded.fails(value) != others;
}

// A range of a few values may be the first of a class, with a modulus of which no sample tells.
std::vector<std::int64_t> of_a_class(const std::map<std::int64_t, bool>& fails,
                                     std::int64_t smallest, std::int64_t largest) {
  constexpr int kFew = 3;
  constexpr std::int64_t kLargestModulus = 32;
  const auto failing =
      std::count_if(fails.begin(), fails.end(), [](const auto& answer) { return answer.second; });
  if (failing == 0 || failing > kFew) return {};
  const auto first = std::find_if(fails.begin(), fails.end(), [](const auto& answer) {
                       return answer.second;
                     })->first;
  std::set<std::int64_t> out;
  for (std::int64_t modulus = 2; modulus <= kLargestModulus; ++modulus)
    for (const auto value : {first - modulus, first + modulus})
      if (value >= smallest && value <= largest && !fails.contains(value)) out.insert(value);
  return {out.begin(), out.end()};
}

}  // namespace

std::vector<std::int64_t> rivals(const DimRule& rule, const std::map<std::int64_t, bool>& fails,
                                 std::int64_t smallest, std::int64_t largest) {
  if (rule.kind == Class::all) return of_a_class(fails, smallest, largest);
  std::vector<std::int64_t> named;  // samples of the class, within the bounds
  for (const auto& [value, _] : fails)
    if (is_named(rule, value) && value >= rule.least.value_or(value) &&
        value <= rule.most.value_or(value))
      named.push_back(value);
  if (named.empty()) return {};
  std::set<std::int64_t> out;
  const std::int64_t first = named.front(), last = named.back();
  if (of_remainders(rule)) {
    out.insert({first + rule.modulus, last - rule.modulus});
    for (const auto p : prime_factors(rule.modulus))
      out.insert({first + rule.modulus / p, last - rule.modulus / p});
    // The ends of the class: values that a rule with a bound would not include.
    for (const auto remainder : rule.remainders) {
      const auto below = smallest % rule.modulus, above = largest % rule.modulus;
      out.insert({smallest + (remainder - below + rule.modulus) % rule.modulus,
                  largest - (above - remainder + rule.modulus) % rule.modulus});
    }
  } else {
    for (const auto power : {first, last}) out.insert({power + power / 2, power - power / 4});
  }
  std::erase_if(out, [&](std::int64_t value) {
    return value < smallest || value > largest || fails.contains(value);
  });
  return {out.begin(), out.end()};
}

}  // namespace redzone::bisect
