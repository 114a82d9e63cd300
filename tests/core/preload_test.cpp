#include "core/preload.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/temporary_folder.h"

namespace redzone {
namespace {

namespace fs = std::filesystem;

TEST(PreloadName, IsThePathWhereTheVariableCanHoldIt) {
  const auto folder = TemporaryFolder::create("preload-test");
  EXPECT_EQ(preload_name("/lib/a.so", folder->path()).value(), "/lib/a.so");
  EXPECT_TRUE(fs::is_empty(folder->path()));
}

TEST(PreloadName, IsALinkWhereItCannot) {
  const auto folder = TemporaryFolder::create("preload-test");
  for (const char* parent : {"with space", "with:colon", "with\ttab"}) {
    const auto links = folder->path() / "links";
    fs::create_directory(links);
    const auto library = folder->path() / parent / "a.so";
    const auto name = preload_name(library, links);
    ASSERT_TRUE(name) << name.error().message;
    EXPECT_EQ(*name, links / "a.so");
    EXPECT_EQ(fs::read_symlink(*name), library);
    EXPECT_EQ(preload_name(library, links).value(), *name) << "once more";
    EXPECT_FALSE(preload_name(folder->path() / "an other" / "a.so", links)) << "another library";
    fs::remove_all(links);
  }
  const auto name = preload_name("/lib/a b.so", folder->path());
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, folder->path() / "library.so");
}

TEST(PreloadName, IsAnErrorWhereTheFolderHasASpaceToo) {
  const auto folder = TemporaryFolder::create("preload-test");
  const auto links = folder->path() / "l i n k s";
  fs::create_directory(links);
  const auto name = preload_name("/a b/c.so", links);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().message, "LD_PRELOAD can name neither /a b/c.so nor a link in " +
                                      links.string() + ": a space or a colon in both");
  EXPECT_FALSE(preload_name("/a b/c.so", folder->path() / "missing"));
}

TEST(PreloadBefore, KeepsWhatIsThere) {
  EXPECT_EQ(preload_before("/a.so", ""), "/a.so");
  EXPECT_EQ(preload_before("/a.so", "b.so c.so"), "/a.so:b.so c.so");
}

}  // namespace
}  // namespace redzone
