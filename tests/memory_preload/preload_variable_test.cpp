#include "memory_preload/preload_variable.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace redzone::memory_preload {
namespace {

TEST(PreloadVariable, NamesTheLibraryBeforeWhatIsThere) {
  const auto folder = TemporaryFolder::create("preload-test");
  const auto library = folder->path() / "lib.so";
  EXPECT_EQ(preload_variable(library, "").value, "") << "it is not there";
  EXPECT_EQ(preload_variable(library, "a.so").value, "a.so");
  std::ofstream(library) << "x";
  EXPECT_EQ(preload_variable(library, "").value, library.string());
  const auto both = preload_variable(library, "a.so:b.so");
  EXPECT_EQ(both.value, library.string() + ":a.so:b.so");
  EXPECT_EQ(both.folder, nullptr);
}

TEST(PreloadVariable, NeedsNoFolderWhereThePathCanBeNamed) {
  const auto folder = TemporaryFolder::create("preload-test");
  const auto library = folder->path() / "lib.so";
  std::ofstream(library) << "x";
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "/tmp" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto preload = preload_variable(library, "");
  ::setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_EQ(preload.value, library.string());
}

TEST(PreloadVariable, NamesALinkWhereThePathCannotBeNamed) {
  const auto folder = TemporaryFolder::create("preload-test");
  const auto library = folder->path() / "a space.so";
  std::ofstream(folder->path() / "a space.so") << "x";
  std::filesystem::path link;
  {
    const auto preload = preload_variable(library, "");
    ASSERT_NE(preload.folder, nullptr);
    link = preload.value;
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(link)))
      << "it goes with its folder";
}

}  // namespace
}  // namespace redzone::memory_preload
