// Field tables: the members of a struct, as they are sent and stored. A struct has one table,
// declared in its own namespace, with its members in the order in which they are declared:
//
//   constexpr auto field_table(std::type_identity<Fault>) {
//     return fields<Fault>(field("code", &Fault::code), sparse("kernel", &Fault::kernel), ...);
//   }
//
// The table defines how the bytes between driver and worker (wire.h), the JSON of stores and
// reports (field_json.h) and columns of stores are written and read. A table that omits a member
// does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redzone {

// Whether the stored form contains a member.
enum class Stored : std::uint8_t {
  never,  // only sent; the member has no name
  always,
  unless_default  // omitted while it equals M{}, which must be the member's default
};

template <class T, class M, Stored kStored>
struct Field {
  using Type = M;
  static constexpr Stored stored = kStored;
  const char* name;
  M T::*member;
};

template <class T, class M>
consteval auto field(const char* name, M T::*member) {
  return Field<T, M, Stored::always>{name, member};
}
template <class T, class M>
consteval auto sparse(const char* name, M T::*member) {
  return Field<T, M, Stored::unless_default>{name, member};
}

// Whether the members of T have these types, in this order, and T has no others. An array is
// initialized by its first element.
template <class T, class... M>
concept HasMembers = std::is_aggregate_v<T> && requires {
  T{{std::declval<std::remove_extent_t<M>>()}...};
} && !requires {
  T{{std::declval<std::remove_extent_t<M>>()}..., {}};
};

// Whether two fields stand for the same member or share a name.
template <class T, class M, Stored kM, class N, Stored kN>
constexpr bool collide(const Field<T, M, kM>& a, const Field<T, N, kN>& b) {
  if constexpr (std::is_same_v<M, N>)
    if (a.member == b.member) return true;
  return kM != Stored::never && kN != Stored::never &&
         std::string_view(a.name) == std::string_view(b.name);
}

// The number of fields of `all` that collide with `one`, which is among them.
template <class One, class... F>
constexpr std::size_t colliding(const One& one, const F&... all) {
  return (std::size_t{0} + ... + std::size_t{collide(one, all)});
}

template <class T, class... F>
consteval std::tuple<F...> fields(F... all) {
  static_assert(HasMembers<T, typename F::Type...>,
                "the fields are not the members of the struct, in their order");
  if (!(true && ... && (colliding(all, all...) == 1)))
    throw "two fields have one member or one name";
  return {all...};
}

// The table of a struct that is only sent, never stored.
template <class T, class... M>
consteval auto sent_fields(M T::*... members) {
  return fields<T>(Field<T, M, Stored::never>{"", members}...);
}

template <class T>
concept HasFields = requires {
  field_table(std::type_identity<std::remove_const_t<T>>{});
};

// Calls visit(field, member) for each member of `value`, in the order of the table.
template <HasFields T, class Visit>
void each_field(T& value, Visit&& visit) {
  static constexpr auto kTable = field_table(std::type_identity<std::remove_const_t<T>>{});
  std::apply([&](const auto&... f) { (visit(f, value.*f.member), ...); }, kTable);
}

}  // namespace redzone
