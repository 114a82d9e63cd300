#include "interpose/settings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace redzone::interpose {
namespace {

std::string text_of(const Settings& settings) {
  char text[kSettingsTextBytes];
  format_settings(settings, text);
  return text;
}

TEST(GuardSettings, AreReadAsTheyWereWritten) {
  Settings all;
  all.driver = false;
  all.cpu = true;
  all.placement = Placement::guard_before;
  all.retire = Retire::all;
  all.poison = -1;
  all.align_bytes = 64;
  all.max_memory_bytes = std::uint64_t{1} << 40;
  all.min_bytes = 7;
  all.launch = LaunchMode::held;
  all.check = Check::each_launch;
  all.on_error = OnError::go_on;
  all.python = false;
  all.bare = true;
  all.hooks = kTorchHook | kCupyHook;
  all.seed = 9;
  all.only = {2, 90};
  all.skip = {5, 5};
  std::strcpy(all.kernels, "^fill|a=b,c%\xff");
  for (const Settings& settings : {Settings(), all}) {
    Settings read;
    EXPECT_TRUE(parse_settings(text_of(settings).c_str(), read)) << text_of(settings);
    EXPECT_EQ(read, settings) << text_of(settings);
  }
}

TEST(GuardSettings, TheLongestTextFits) {
  Settings most;
  most.max_memory_bytes = most.min_bytes = most.seed = INT64_MAX;
  most.align_bytes = kMostAlignBytes;
  most.only = most.skip = {INT64_MAX, INT64_MAX};
  std::memset(most.kernels, 'x', sizeof most.kernels - 1);
  Settings read;
  ASSERT_TRUE(parse_settings(text_of(most).c_str(), read));
  EXPECT_EQ(read, most);
}

TEST(GuardSettings, NameTheBlocksThatAreGuarded) {
  Settings settings;
  EXPECT_TRUE(settings.guards(1));
  settings.only = {3, 5};
  EXPECT_FALSE(settings.guards(2));
  EXPECT_TRUE(settings.guards(3));
  EXPECT_TRUE(settings.guards(5));
  EXPECT_FALSE(settings.guards(6));
  settings.skip = {4, 4};
  EXPECT_TRUE(settings.guards(3));
  EXPECT_FALSE(settings.guards(4));
  settings.only = {};
  EXPECT_TRUE(settings.guards(1000));
}

TEST(GuardSettings, WhatIsWrongChangesNothing) {
  for (const char* text : {"cpu",         "cpu=",
                           "cpu=2",       "cpu=1x",
                           "align=3",     "align=8192",
                           "poison=256",  "poison=-2",
                           "min_bytes=0", "max_memory=-1",
                           "colour=1",    "launch=3",
                           "launch=-1",   "each_launch=2",
                           "go_on=2",     "seed=-1",
                           "=1",          "cpu=99999999999999999999",
                           "kernels=6",   "kernels=6g",
                           "kernels=00"}) {
    Settings read;
    EXPECT_FALSE(parse_settings(text, read)) << text;
    EXPECT_EQ(read, Settings()) << text;
  }
}

}  // namespace
}  // namespace redzone::interpose
