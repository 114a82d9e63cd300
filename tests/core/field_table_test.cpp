#include "core/field_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/field_json.h"
#include "core/observation_fields.h"
#include "core/sample_observation.h"
#include "core/spec_names.h"

namespace redzone {
namespace {

struct Inner {
  int number = 0;
};
struct Sample {
  std::string first;
  std::string second = {};
  std::int64_t triple[3] = {1, 2, 3};
  std::optional<Inner> inner = {};
};
struct Empty {};

// What fields() refuses at compile time: members left out at the end, in the middle or entirely, a
// wrong order, and more members than the struct has.
static_assert(HasMembers<Sample, std::string, std::string, std::int64_t[3], std::optional<Inner>>);
static_assert(!HasMembers<Sample, std::string, std::string, std::int64_t[3]>);
static_assert(!HasMembers<Sample, std::string, std::int64_t[3], std::optional<Inner>>);
static_assert(!HasMembers<Sample>);
static_assert(!HasMembers<Sample, std::string, std::int64_t[3], std::string, std::optional<Inner>>);
static_assert(
    !HasMembers<Sample, std::string, std::string, std::int64_t[3], std::optional<Inner>, int>);
static_assert(HasMembers<Empty>);
static_assert(!HasMembers<Empty, int>);

// One member named twice in place of another, and one name used twice.
static_assert(collide(field("first", &Sample::first), sparse("other", &Sample::first)));
static_assert(collide(field("first", &Sample::first), field("first", &Sample::second)));
static_assert(collide(field("first", &Sample::first), field("first", &Sample::triple)));
static_assert(!collide(field("first", &Sample::first), field("second", &Sample::second)));

// Calls check(value) for `value` and each struct with a table that it holds.
template <class T, class Check>
void each_struct(const T& value, const Check& check) {
  if constexpr (HasFields<T>) {
    check(value);
    each_field(value, [&](const auto&, const auto& member) { each_struct(member, check); });
  }
}
template <class T, class Check>
void each_struct(const std::vector<T>& values, const Check& check) {
  for (const auto& value : values) each_struct(value, check);
}
template <class T, class Check>
void each_struct(const std::optional<T>& value, const Check& check) {
  if (value) each_struct(*value, check);
}

// The tests of the wire format and of the store compare this sample: a member with its default
// value could get lost unnoticed.
TEST(FieldTable, TheSampleHasNoMemberAtItsDefault) {
  std::set<std::string> described, differ;
  each_struct(testing::sample_observation(), [&]<class T>(const T& value) {
    const auto usual = FieldJson::of(T{}, Defaults::written);
    const auto written = FieldJson::of(value, Defaults::written);
    for (const auto& [name, json] : written.items()) {
      const std::string member = std::string(typeid(T).name()) + "::" + name;
      described.insert(member);
      if (json != usual.at(name)) differ.insert(member);
    }
  });
  EXPECT_EQ(differ, described);
  EXPECT_GT(described.size(), 60u);
}

// Otherwise an omitted member would be read back as another value.
TEST(FieldTable, TheDefaultOfASparseMemberIsThatOfItsType) {
  int sparse_members = 0;
  each_struct(testing::sample_observation(), [&]<class T>(const T&) {
    const T usual{};
    each_field(usual,
               [&]<class M, Stored kStored>(const Field<T, M, kStored>& field, const M& member) {
                 if constexpr (kStored == Stored::unless_default) {
                   ++sparse_members;
                   EXPECT_TRUE(member == M{}) << typeid(T).name() << "::" << field.name;
                 }
               });
  });
  EXPECT_GT(sparse_members, 30);
}

}  // namespace
}  // namespace redzone
