#include "tma/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace redzone::tma {
namespace {

constexpr std::size_t kBatch = 1024;
// Maximum number of reductions per kind of disagreement: one kind may have several causes.
constexpr std::size_t kReductionsOfAKind = 4;
constexpr int kSuccess = 0, kInvalidValue = 1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The broken rules, as bits, that have this status at the driver.
std::uint64_t rules_of(const Violations& violations, Says says) {
  std::uint64_t out = 0;
  for (const auto& v : violations)
    if (driver_says(v.rule) == says) out |= std::uint64_t{1} << static_cast<int>(v.rule);
  return out;
}
static_assert(enumerators<Rule>().size() <= 64);

std::vector<Rule> list_of(std::uint64_t rules) {
  std::vector<Rule> out;
  for (const Rule rule : enumerators<Rule>())
    if ((rules >> static_cast<int>(rule) & 1) != 0) out.push_back(rule);
  return out;
}

// Disagreements in one direction that break the same rules, ignoring rules of unknown status.
struct CaseKey {
  bool driver_accepts;
  Kind kind;
  std::uint64_t rules;
  auto operator<=>(const CaseKey&) const = default;
};

class Comparison {
 public:
  explicit Comparison(const AgreementSetup& setup) : setup_(setup) {
    for (const Rule rule : enumerators<Rule>()) out_.rules.push_back({rule, 0, 0, 0});
  }

  Result<Agreement> run() {
    while (out_.descriptors < setup_.count && !out_.stopped && error_.empty()) {
      const auto left = static_cast<std::size_t>(
          std::min<std::uint64_t>(setup_.count - out_.descriptors, kBatch));
      batch(left);
      out_.stopped = setup_.stop && setup_.stop();
    }
    reduce_the_rest();
    if (!error_.empty()) return harness_error(error_);
    return std::move(out_);
  }

 private:
  struct Seen {
    std::uint64_t count = 0;
    Descriptor example;
    std::size_t reduced = 0;
    std::size_t place = kMaxDisagreements;  // index in the list of the first one that was reduced
  };

  void batch(std::size_t count) {
    descriptors_.clear();
    for (std::size_t i = 0; i < count; ++i) descriptors_.push_back(setup_.next());
    answers_.clear();
    auto begin = Clock::now();
    for (const auto& d : descriptors_) answers_.push_back(check(d, setup_.compute_capability));
    out_.checker_s += seconds_since(begin);
    codes_.clear();
    begin = Clock::now();
    for (const auto& d : descriptors_) codes_.push_back(setup_.encode(d));
    out_.driver_s += seconds_since(begin);
    for (std::size_t i = 0; i < count && error_.empty(); ++i)
      compare_one(descriptors_[i], answers_[i], codes_[i]);
  }

  // Records an error if the driver's result is not about the descriptor but about the context.
  bool about_descriptor(int code, const Descriptor& d) {
    if (code == kSuccess || code == kInvalidValue) return true;
    error_ = fmt::format("the driver answered {} to a descriptor: {}", code, text_of(d));
    return false;
  }

  void compare_one(const Descriptor& d, const Violations& violations, int code) {
    if (!about_descriptor(code, d)) return;
    const bool accepts = code == kSuccess;
    ++out_.descriptors;
    out_.driver_accepted += accepts;
    count_rules(violations, accepts);
    switch (answer_of_driver(violations)) {
      case Answer::open:
        ++out_.open;
        return;
      case Answer::accepts:
        if (accepts) ++out_.agreed;
        break;
      case Answer::rejects:
        if (!accepts) ++out_.agreed;
        break;
    }
    if (disagrees(violations, accepts)) record(d, violations, accepts);
  }

  static bool disagrees(const Violations& violations, bool accepts) {
    const Answer answer = answer_of_driver(violations);
    return answer != Answer::open && (answer == Answer::accepts) != accepts;
  }

  void count_rules(const Violations& violations, bool accepts) {
    std::uint64_t all = 0;
    for (const auto& v : violations) all |= std::uint64_t{1} << static_cast<int>(v.rule);
    for (auto& rule : out_.rules) {
      const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(rule.rule);
      if ((all & bit) == 0) continue;
      ++rule.broken;
      if (all == bit) ++(accepts ? rule.alone_accepted : rule.alone_rejected);
    }
  }

  void record(const Descriptor& d, const Violations& violations, bool accepts) {
    ++out_.disagreed;
    const CaseKey key{accepts, d.kind, rules_of(violations, Says::forbids)};
    const auto known = seen_.find(key);
    if (known == seen_.end() && seen_.size() >= kMaxDisagreements) {
      ++out_.not_reduced;
      return;
    }
    Seen& seen = seen_[key];
    if (++seen.count == 1) seen.example = d;
    // A descriptor that also breaks a rule of unknown status would be reduced to a violation of
    // that rule.
    if (seen.reduced < kReductionsOfAKind && rules_of(violations, Says::nothing) == 0)
      reduce(d, key, 0, seen);
  }

  // Reduces kinds in which every descriptor also breaks rules of unknown status, and fills in the
  // counts of all kinds.
  void reduce_the_rest() {
    for (auto& [key, seen] : seen_) {
      if (seen.reduced == 0 && error_.empty()) {
        const auto open = rules_of(check(seen.example, setup_.compute_capability), Says::nothing);
        reduce(seen.example, key, open, seen);
      }
      if (seen.place < out_.disagreements.size())
        out_.disagreements[seen.place].descriptors += seen.count;
      else
        out_.not_reduced += seen.count;
    }
  }

  // `open`: the rules of unknown status that smaller descriptors may break.
  void reduce(const Descriptor& d, const CaseKey& key, std::uint64_t open, Seen& seen) {
    ++seen.reduced;
    if (out_.disagreements.size() >= kMaxDisagreements) return;
    const auto still = [&](const Descriptor& candidate) {
      if (!error_.empty()) return false;
      const auto violations = check(candidate, setup_.compute_capability);
      if ((rules_of(violations, Says::forbids) & ~key.rules) != 0 ||
          (rules_of(violations, Says::nothing) & ~open) != 0)
        return false;
      const int code = setup_.encode(candidate);
      if (!about_descriptor(code, candidate)) return false;
      return (code == kSuccess) == key.driver_accepts && disagrees(violations, key.driver_accepts);
    };
    const Descriptor smallest = setup_.reduce(d, still);
    const auto same = [&](const Disagreement& other) {
      return other.smallest == smallest && other.driver_accepts == key.driver_accepts;
    };
    auto at = std::find_if(out_.disagreements.begin(), out_.disagreements.end(), same);
    if (at == out_.disagreements.end()) {
      const auto violations = check(smallest, setup_.compute_capability);
      const auto rules = rules_of(violations, Says::forbids) | rules_of(violations, Says::nothing);
      at = out_.disagreements.insert(out_.disagreements.end(),
                                     {d, smallest, key.driver_accepts, list_of(rules), 0});
    }
    if (seen.reduced == 1) seen.place = static_cast<std::size_t>(at - out_.disagreements.begin());
  }

  const AgreementSetup& setup_;
  Agreement out_;
  std::string error_;
  std::map<CaseKey, Seen> seen_;
  std::vector<Descriptor> descriptors_;
  std::vector<Violations> answers_;
  std::vector<int> codes_;
};

}  // namespace

Result<Agreement> compare(const AgreementSetup& setup) {
  return Comparison(setup).run();
}

}  // namespace redzone::tma
