#include "memory_preload/preload_variable.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/temporary_folder.h"

namespace redzone::memory_preload {
namespace {

TEST(PreloadVariable, NamesTheLibraryBeforeWhatIsThere) {
  const auto folder = TemporaryFolder::create("preload-test");
  const auto library = folder->path() / "lib.so";
  EXPECT_EQ(preload_variable(library, ""), "") << "it is not there";
  EXPECT_EQ(preload_variable(library, "a.so"), "a.so");
  std::ofstream(library) << "x";
  EXPECT_EQ(preload_variable(library, ""), library.string());
  EXPECT_EQ(preload_variable(library, "a.so:b.so"), library.string() + ":a.so:b.so");
  for (const char* name : {"a space.so", "a:colon.so"}) {
    std::ofstream(folder->path() / name) << "x";
    EXPECT_EQ(preload_variable(folder->path() / name, "a.so"), "a.so") << name;
  }
}

}  // namespace
}  // namespace redzone::memory_preload
