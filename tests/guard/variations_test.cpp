#include "guard/variations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace redzone::guard {
namespace {

using interpose::Settings;

std::set<std::string> names(const Settings& settings, std::uint64_t block, bool on_device) {
  ProgramOrigin origin;
  origin.block = block;
  std::set<std::string> out;
  for (const auto& setting : variations_of(settings, origin, on_device)) {
    EXPECT_FALSE(setting.others.empty()) << setting.name;
    for (const auto& other : setting.others) {
      EXPECT_NE(other.settings, settings) << setting.name;
      EXPECT_NE(other.text, setting.value) << setting.name;
    }
    out.insert(setting.name);
  }
  return out;
}

TEST(Variations, AreThoseThatMeanSomething) {
  using Names = std::set<std::string>;
  EXPECT_EQ(names({}, 7, true),
            (Names{"placement", "align", "poison", "retire", "launch", "block 7", "other blocks"}));
  EXPECT_EQ(names({}, 0, true), (Names{"placement", "align", "poison", "retire", "launch"}));
  EXPECT_EQ(names({}, 7, false),
            (Names{"placement", "align", "poison", "block 7", "other blocks"}));
  Settings chosen;
  chosen.only = {3, 9};
  EXPECT_EQ(names(chosen, 7, false), (Names{"placement", "align", "poison"}));
  Settings checked;
  checked.check = interpose::Check::each_launch;
  EXPECT_FALSE(names(checked, 0, true).contains("launch")) << "each is waited for";
}

TEST(Variations, OfSeveralSettingsAreCombined) {
  Settings own;
  own.poison = 0;
  ProgramOrigin origin;
  origin.block = 7;
  const auto all = variations_of(own, origin, true);
  std::vector<const Variation*> one_of_each;
  for (const auto& setting : all) one_of_each.push_back(&setting.others.front());
  const Settings changed = with_changes(own, one_of_each);
  EXPECT_NE(changed.placement, own.placement);
  EXPECT_NE(changed.align_bytes, own.align_bytes);
  EXPECT_NE(changed.poison, own.poison);
  EXPECT_NE(changed.retire, own.retire);
  EXPECT_NE(changed.launch, own.launch);
  EXPECT_EQ(changed.skip, (interpose::BlockRange{7, 7}));
  EXPECT_EQ(changed.only, (interpose::BlockRange{7, 7}));
  EXPECT_EQ(with_changes(own, {}), own);
}

}  // namespace
}  // namespace redzone::guard
