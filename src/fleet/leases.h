// Who reduces which finding: one shard at a time for each signature, for a limited time.
//
// The holder counts the time from before it asked, and the hub from when it answers, so that the
// holder's lease ends first, whatever their clocks show. A hub that is started again does not know
// how old the leases are: each gets its full time once more.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "core/enum_names.h"
#include "core/field_table.h"

namespace redzone::fleet {

enum class Answer : std::uint8_t {
  granted,  // reduce it
  leased,   // another shard does
  reduced,  // another shard has
};

constexpr auto enum_table(Answer) {
  return enum_names<Answer>(
      "answer",
      {{Answer::granted, "granted"}, {Answer::leased, "leased"}, {Answer::reduced, "reduced"}});
}

struct Lease {
  std::string signature;  // Signature::hash()
  int shard = 1;

  bool operator==(const Lease&) const = default;
};

constexpr auto field_table(std::type_identity<Lease>) {
  return fields<Lease>(field("signature", &Lease::signature), field("shard", &Lease::shard));
}

// As the hub keeps them.
struct LeaseBook {
  std::vector<Lease> leases = {};

  bool operator==(const LeaseBook&) const = default;
};

constexpr auto field_table(std::type_identity<LeaseBook>) {
  return fields<LeaseBook>(field("leases", &LeaseBook::leases));
}

class Leases {
 public:
  // `seconds`: how long a lease lasts.
  explicit Leases(double seconds) : seconds_(seconds) {}

  // For a hub that is started again; `now`: seconds of any monotonic clock.
  void restore(const std::vector<Lease>& leases, double now);
  // A holder that asks again gets its full time once more.
  Answer ask(const std::string& signature, int shard, double now);
  // These need no lease any more.
  void set_reduced(std::set<std::string> signatures);
  // Those that may still be held.
  std::vector<Lease> held(double now);

 private:
  struct Holder {
    int shard = 1;
    double until = 0;
  };

  double seconds_;
  std::map<std::string, Holder> holders_;  // by signature
  std::set<std::string> reduced_;
};

}  // namespace redzone::fleet
