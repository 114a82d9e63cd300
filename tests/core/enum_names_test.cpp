#include "core/enum_names.h"

#include <gtest/gtest.h>

#include "core/names.h"
#include "core/plan.h"

namespace redzone {
namespace {

// The order of its table differs from the order of its values.
enum class Fruit : std::uint8_t { apple, pear, plum };

constexpr auto enum_table(Fruit) {
  return enum_names<Fruit>("fruit",
                           {{Fruit::plum, "plum"}, {Fruit::apple, "apple"}, {Fruit::pear, "pear"}});
}

static_assert(is_enumerator<Fruit, Fruit::plum>());
static_assert(!is_enumerator<Fruit, static_cast<Fruit>(3)>(), "no fourth name is missed");
enum class Plain : std::uint8_t { only };
static_assert(NamedEnum<Fruit> && !NamedEnum<Plain> && !NamedEnum<int>);

TEST(EnumNames, AreReadBack) {
  for (const auto fruit : enumerators<Fruit>())
    EXPECT_EQ(value_named<Fruit>(name_of(fruit)), fruit);
  EXPECT_EQ(name_of(Fruit::pear), "pear");
  EXPECT_EQ(value_named<Fruit>("Pear"), std::nullopt);
  EXPECT_EQ(value_named<Fruit>(""), std::nullopt);
}

TEST(EnumNames, AreListedInTheOrderOfTheTableAndValuesInThatOfTheirNumbers) {
  EXPECT_EQ(texts_of<Fruit>()[0], "plum");
  EXPECT_EQ(enumerators<Fruit>()[0], Fruit::apple);
}

enum class Tree : std::uint8_t { oak, ash };

constexpr auto enum_table(Tree) {
  return enum_names<Tree>("tree", {{Tree::oak, "oak"}, {Tree::ash, "ash"}},
                          std::array{EnumName<Tree>{Tree::ash, "rowan"}});
}

TEST(EnumNames, TheFirstNameOfWhatWasRenamedIsReadAndNeverWritten) {
  EXPECT_EQ(value_named<Tree>("rowan"), Tree::ash);
  EXPECT_EQ(value_named<Tree>("ash"), Tree::ash);
  EXPECT_EQ(name_of(Tree::ash), "ash");
  EXPECT_EQ(first_name_of(Tree::ash), "rowan");
  EXPECT_EQ(first_name_of(Tree::oak), "oak");
  EXPECT_EQ(parse_name<Tree>("elm").error().message, "unknown tree 'elm': oak, ash");
}

TEST(EnumNames, AnErrorListsThem) {
  EXPECT_EQ(*parse_name<Launch>("gated"), Launch::gated);
  const auto unknown = parse_name<Fruit>("fig");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "unknown fruit 'fig': plum, apple, pear");
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST(EnumNamesDeathTest, ANumberThatIsNoEnumeratorHasNone) {
  EXPECT_EXIT(name_of(static_cast<Fruit>(9)), ::testing::ExitedWithCode(kCheckFailedExit),
              "no enumerator");
}

}  // namespace
}  // namespace redzone
