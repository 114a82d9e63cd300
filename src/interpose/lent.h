// A resource taken from a list of spare ones. It goes back to the list unless it is kept.
#pragma once

#include <utility>
#include <vector>

namespace redzone::interpose {

template <class Thing>
class Lent {
 public:
  // `spare` must outlive this object. A null `thing` means none: nothing goes back.
  Lent(std::vector<Thing>& spare, Thing thing) : spare_(spare), thing_(thing) {}
  ~Lent() {
    if (thing_ != nullptr) spare_.push_back(thing_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  explicit operator bool() const { return thing_ != nullptr; }
  Thing get() const { return thing_; }
  // Transfers ownership to the caller.
  Thing keep() { return std::exchange(thing_, nullptr); }

 private:
  std::vector<Thing>& spare_;
  Thing thing_;
};

}  // namespace redzone::interpose
