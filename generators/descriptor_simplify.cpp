#include "generators/descriptor_simplify.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

namespace redzone::generators {
namespace {

using tma::Descriptor;
using tma::Kind;

// Number of elements along dim 0 that is a multiple of 16 bytes for every type except packed ones.
constexpr std::uint32_t kPlainInner = 16;

std::uint32_t used_dims(const Descriptor& d) {
  return std::min(d.rank, tma::kMaxRank);
}

// One number of a descriptor: its distance from the plainest value, and how to set that distance.
struct Number {
  std::uint64_t distance;
  std::function<void(Descriptor&, std::uint64_t)> set;
};

template <class T>
std::uint64_t distance_from(T value, T plain) {
  return value < plain ? static_cast<std::uint64_t>(plain) - static_cast<std::uint64_t>(value)
                       : static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(plain);
}

// All fields except kind and rank, the most significant first.
class Numbers {
 public:
  explicit Numbers(const Descriptor& d) {
    const std::uint32_t rank = used_dims(d);
    add(d, &Descriptor::type);
    add(d, &Descriptor::interleave);
    add(d, &Descriptor::swizzle);
    add(d, &Descriptor::promotion);
    add(d, &Descriptor::fill);
    list(d, &Descriptor::dims, rank, 1);
    list(d, &Descriptor::strides, rank > 0 ? rank - 1 : 0, 0);
    list(d, &Descriptor::element_strides, rank, 1);
    if (d.kind == Kind::tiled) {
      list(d, &Descriptor::box, rank, 1, kPlainInner);
    } else {
      const std::uint32_t corners = rank > 2 ? rank - 2 : 0;
      list(d, &Descriptor::lower, corners, 0);
      list(d, &Descriptor::upper, corners, 0);
      one(d, &Descriptor::channels, kPlainInner);
      one(d, &Descriptor::pixels, 1);
    }
    one(d, &Descriptor::address, 0);
  }
  const std::vector<Number>& all() const { return numbers_; }

 private:
  template <class Enum>
  void add(const Descriptor& d, Enum Descriptor::*field) {
    numbers_.push_back({number(d.*field), [field](Descriptor& into, std::uint64_t distance) {
                          into.*field = static_cast<Enum>(distance);
                        }});
  }
  template <class T>
  void one(const Descriptor& d, T Descriptor::*field, std::type_identity_t<T> plain) {
    const bool below = d.*field < plain;
    numbers_.push_back(
        {distance_from(d.*field, plain), [=](Descriptor& into, std::uint64_t distance) {
           into.*field = moved(plain, below, distance);
         }});
  }
  template <class T, std::size_t N>
  void list(const Descriptor& d, std::array<T, N> Descriptor::*field, std::uint32_t count,
            std::type_identity_t<T> plain, std::type_identity_t<T> plain_first = 0) {
    for (std::size_t i = 0; i < std::min<std::size_t>(count, N); ++i) {
      const T to = i == 0 && plain_first != 0 ? plain_first : plain;
      const bool below = (d.*field)[i] < to;
      numbers_.push_back(
          {distance_from((d.*field)[i], to), [=](Descriptor& into, std::uint64_t distance) {
             (into.*field)[i] = moved(to, below, distance);
           }});
    }
  }
  template <class T>
  static T moved(T plain, bool below, std::uint64_t distance) {
    const auto from = static_cast<std::uint64_t>(plain);
    return static_cast<T>(below ? from - distance : from + distance);
  }

  std::vector<Number> numbers_;
};

std::vector<Number> numbers_of(const Descriptor& d) {
  return Numbers(d).all();
}

// Sets every field that has no meaning for this kind and rank to its plainest value.
Descriptor cleaned(const Descriptor& d) {
  Descriptor out;
  out.kind = d.kind;
  out.rank = d.rank;
  for (const auto& number : numbers_of(d)) number.set(out, number.distance);
  return out;
}

// Removes dim `dropped`.
Descriptor without_dim(const Descriptor& d, std::uint32_t dropped) {
  Descriptor out = d;
  const auto remove = [&](auto& list, std::uint32_t at, auto plain) {
    if (at >= list.size()) return;
    std::move(list.begin() + at + 1, list.end(), list.begin() + at);
    list.back() = plain;
  };
  remove(out.dims, dropped, 1);
  // Keep the inner side of the box, because separate rules apply to it.
  remove(out.box, std::max(dropped, 1u), 1);
  remove(out.element_strides, dropped, 1);
  remove(out.strides, dropped == 0 ? 0 : dropped - 1, 0);
  if (dropped >= 1) {
    remove(out.lower, dropped - 1, 0);
    remove(out.upper, dropped - 1, 0);
  }
  --out.rank;
  return cleaned(out);
}

class Descent {
 public:
  Descent(const Descriptor& found, const DescriptorPredicate& predicate, std::size_t evaluations)
      : best_(found), predicate_(predicate), left_(evaluations) {}

  Descriptor run() {
    take(cleaned(best_));
    while (left_ > 0 && (fewer() || plainer() || nearer())) {
    }
    return best_;
  }

 private:
  // Makes `candidate` the best descriptor if it satisfies the predicate.
  bool take(const Descriptor& candidate) {
    if (left_ == 0 || candidate == best_) return false;
    --left_;
    if (!predicate_(candidate)) return false;
    best_ = candidate;
    return true;
  }

  bool fewer() {
    if (best_.kind == Kind::im2col) {
      Descriptor tiled = best_;
      tiled.kind = Kind::tiled;
      if (take(cleaned(tiled))) return true;
    }
    if (best_.rank == 0) return false;
    if (best_.rank > tma::kMaxRank) {
      Descriptor less = best_;
      --less.rank;
      return take(cleaned(less));
    }
    for (std::uint32_t dim = best_.rank; dim-- > 0;)
      if (take(without_dim(best_, dim))) return true;
    return false;
  }

  // Tries each number at its plainest value.
  bool plainer() {
    for (const auto& number : numbers_of(best_)) {
      if (number.distance == 0) continue;
      Descriptor next = best_;
      number.set(next, 0);
      if (take(next)) return true;
    }
    return false;
  }

  // Moves a number towards its plainest value: by bisection, finally by 1.
  bool nearer() {
    for (const auto& number : numbers_of(best_))
      for (std::uint64_t step = number.distance / 2; step > 0; step /= 2) {
        Descriptor next = best_;
        number.set(next, number.distance - step);
        if (take(next)) return true;
      }
    return false;
  }

  Descriptor best_;
  const DescriptorPredicate& predicate_;
  std::size_t left_;
};

}  // namespace

bool simpler(const Descriptor& a, const Descriptor& b) {
  if (a.kind != b.kind) return a.kind == Kind::tiled;
  if (a.rank != b.rank) return a.rank < b.rank;
  const auto x = numbers_of(a), y = numbers_of(b);
  const auto off = [](const std::vector<Number>& all) {
    return std::count_if(all.begin(), all.end(), [](const auto& n) { return n.distance != 0; });
  };
  if (off(x) != off(y)) return off(x) < off(y);
  const auto by_distance = [](const Number& p, const Number& q) { return p.distance < q.distance; };
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), by_distance);
}

Descriptor smallest_descriptor(const Descriptor& found, const DescriptorPredicate& predicate,
                               std::size_t evaluations) {
  return Descent(found, predicate, evaluations).run();
}

}  // namespace redzone::generators
