#include "core/target_origin.h"

#include <gtest/gtest.h>

#include "core/environment.h"

namespace redzone {
namespace {

TEST(TargetOrigin, IsWhatItsDocumentSays) {
  const TargetOrigin origins[] = {
      {},
      {TargetSource::plugin, "/my plugins/\"gains\".so"},
      {TargetSource::package, "/p/with\nline"},
      {TargetSource::python, "/home/me/my.py", "/venv/bin/python", false},
      {TargetSource::python, "/home/me/my.py", "/venv/bin/python", true},
  };
  for (const auto& origin : origins) {
    const auto again = parse_target_origin(print_target_origin(origin), "here");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, origin);
  }
  EXPECT_EQ(print_target_origin({}), "");
}

TEST(TargetOrigin, IsTextOfUtf8WhateverTheFileIsCalled) {
  const auto again =
      parse_target_origin(print_target_origin({TargetSource::plugin, "/p/\xff.so"}), "here");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->path, "/p/\xef\xbf\xbd.so");
}

TEST(TargetOrigin, RefusesWhatIsNoOrigin) {
  for (const char* text :
       {"{", "[]", "{}", R"({"source": "plugin", "path": ""})",
        R"({"source": "planet", "path": "/x"})", R"({"source": "built-in", "path": "/x"})",
        R"({"source": "plugin", "path": 3})"}) {
    const auto origin = parse_target_origin(text, "the origin of finding 3");
    ASSERT_FALSE(origin) << text;
    EXPECT_EQ(origin.error().kind, ErrorKind::harness);
    EXPECT_EQ(origin.error().message.find("the origin of finding 3: not the origin of a target"),
              0u)
        << origin.error().message;
  }
}

TEST(TargetOrigin, SaysWhatLoadsTheTargetAgain) {
  EXPECT_EQ(flags_of({}), "");
  EXPECT_EQ(flags_of({TargetSource::plugin, "/my own.so"}), " --plugin '/my own.so'");
  EXPECT_EQ(flags_of({TargetSource::package, "/p"}), " --package /p");
  EXPECT_EQ(flags_of({TargetSource::python, "/my.py", "/v/python", false}),
            " --python-file /my.py");
  EXPECT_EQ(flags_of({TargetSource::python, "/my.py", "/v/python", true}),
            " --python-file /my.py --python /v/python");
  EXPECT_EQ(text_of({TargetSource::python, "/my.py"}), "Python file /my.py");
  EXPECT_EQ(text_of({TargetSource::package, "/p"}), "package /p");
}

}  // namespace
}  // namespace redzone
