// Which shard reduces which finding: one shard at a time for each signature, for a limited time.
//
// The holder counts the time from when it sent its request, and the hub from when it answers, so
// that the holder's lease ends first, whatever their clocks show. A hub that is started again does
// not know the age of the leases, so each lease gets its full time again.
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
  granted,  // the shard is to reduce the finding
  leased,   // another shard is reducing it
  reduced,  // another shard has reduced it
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

// The leases as stored by the hub.
struct LeaseBook {
  std::vector<Lease> leases = {};

  bool operator==(const LeaseBook&) const = default;
};

constexpr auto field_table(std::type_identity<LeaseBook>) {
  return fields<LeaseBook>(field("leases", &LeaseBook::leases));
}

class Leases {
 public:
  // `seconds`: duration of a lease.
  explicit Leases(double seconds) : seconds_(seconds) {}

  // Restores the leases after a restart of the hub; `now`: seconds of any monotonic clock.
  void restore(const std::vector<Lease>& leases, double now);
  // A holder that asks again gets its full time again.
  Answer ask(const std::string& signature, int shard, double now);
  // Sets the signatures that need no lease any more.
  void set_reduced(std::set<std::string> signatures);
  // The leases that may still be held.
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
