#include "device/cuda/cubin_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/temporary_folder.h"
#include "device/cuda/variant_key.h"

namespace redzone::device::cuda {
namespace {

namespace fs = std::filesystem;

class CubinCacheTest : public testing::Test {
 protected:
  fs::path file() const { return folder_ / "00ff.cubin"; }

  const TemporaryFolder made_ = TemporaryFolder::create("cubins").value();
  const fs::path folder_ = made_.path() / "cache";
  // All kinds of bytes, line ends and zeros included.
  Cubin cubin_{"_Z5scaleILi2EEvPjj", std::string("\x7f"
                                                 "ELF\0\n\n\xff tail",
                                                 12)};
};

TEST_F(CubinCacheTest, ReturnsWhatWasSaved) {
  CubinCache cache(folder_);
  EXPECT_FALSE(cache.load("00ff"));
  EXPECT_FALSE(cache.has("00ff"));
  EXPECT_TRUE(cache.save("00ff", cubin_));
  EXPECT_TRUE(cache.has("00ff"));
  const auto loaded = cache.load("00ff");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->lowered_name, cubin_.lowered_name);
  EXPECT_EQ(loaded->image, cubin_.image);
  EXPECT_FALSE(cache.load("00fe"));
  // Only the entry itself is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(CubinCacheTest, EveryDamagedFileReadsAsAbsent) {
  CubinCache cache(folder_);
  cache.save("00ff", cubin_);
  std::ifstream in(file(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_FALSE(cache.load("00ff")) << "cut to " << n;
    std::string altered = whole;
    altered[n] = static_cast<char>(altered[n] ^ 1);
    write(altered);
    EXPECT_FALSE(cache.load("00ff")) << "byte " << n;
  }
  cache.save("00ff", cubin_);
  EXPECT_TRUE(cache.load("00ff"));
}

TEST_F(CubinCacheTest, FolderThatCannotBeMadeIsNoCache) {
  fs::create_directories(folder_);
  const fs::path occupied = folder_ / "file";
  std::ofstream(occupied) << "x";
  for (const fs::path& folder : {occupied / "below", fs::path()}) {
    CubinCache cache(folder);
    cache.save("00ff", cubin_);
    EXPECT_FALSE(cache.load("00ff"));
  }
}

// Entries an hour apart: the most recently used ones stay, whichever process wrote them.
TEST_F(CubinCacheTest, WhatWasNotUsedForLongestMakesRoom) {
  cubin_.image = std::string(1000, 'x');
  const auto key = [](int i) { return std::to_string(1000 + i); };
  const auto path = [&](int i) { return folder_ / (key(i) + ".cubin"); };
  const auto hours_ago = [](int hours) {
    return fs::file_time_type::clock::now() - std::chrono::hours(hours);
  };
  CubinCache roomy(folder_);
  for (int i = 0; i < 10; ++i) {
    roomy.save(key(i), cubin_);
    fs::last_write_time(path(i), hours_ago(100 - i));
  }
  ASSERT_TRUE(roomy.load(key(0)));  // the oldest, used now

  const auto each = fs::file_size(path(0));
  CubinCache tight(folder_, 8 * each);
  tight.save(key(10), cubin_);
  // Eleven entries shrink to six: the first, which was used, and the last five.
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(fs::exists(path(i)), i == 0 || i >= 6) << i;
  EXPECT_TRUE(tight.load(key(10)));
}

TEST_F(CubinCacheTest, ALimitThatIsKeptToRemovesNothing) {
  CubinCache writer(folder_);
  for (const char* key : {"00aa", "00bb", "00cc"}) writer.save(key, cubin_);
  CubinCache exact(folder_, 4 * fs::file_size(folder_ / "00aa.cubin"));
  exact.save("00ff", cubin_);
  for (const char* key : {"00aa", "00bb", "00cc", "00ff"}) EXPECT_TRUE(exact.load(key)) << key;
}

TEST_F(CubinCacheTest, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  fs::create_directories(folder_);
  const auto file_of_age = [&](const char* name, int minutes) {
    std::ofstream(folder_ / name) << "x";
    fs::last_write_time(folder_ / name,
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  file_of_age("00aa.17.tmp", 90);
  file_of_age("00bb.18.tmp", 1);  // another process is writing it
  file_of_age("notes.txt", 90);   // an unrelated file
  CubinCache cache(folder_, 1);
  cache.save("00ff", cubin_);
  EXPECT_FALSE(fs::exists(folder_ / "00aa.17.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "00bb.18.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
}

TEST(VariantKey, DiffersWithEachPart) {
  VariantRequest a;
  a.source = "source";
  a.expression = "f<1>";
  a.options = {"-DA", "-DB"};
  const std::string key = variant_key(a);
  const VariantId id = variant_id(a);
  EXPECT_EQ(key, variant_key(a));
  EXPECT_EQ(id, variant_id(a));

  VariantRequest b = a;
  b.source = "sourcf";
  EXPECT_NE(variant_key(b), key);
  EXPECT_FALSE(variant_id(b) == id);
  b = a;
  b.expression = "f<2>";
  EXPECT_NE(variant_key(b), key);
  EXPECT_FALSE(variant_id(b) == id);
  b = a;
  b.options = {"-DA-DB"};
  EXPECT_NE(variant_key(b), key);
  EXPECT_FALSE(variant_id(b) == id);
  b = a;
  b.options = {"-DB", "-DA"};
  EXPECT_NE(variant_key(b), key);
  EXPECT_FALSE(variant_id(b) == id);

  VariantRequest image = a;
  image.image = "source";  // the same bytes, compiled before
  EXPECT_NE(variant_key(image), key);
  VariantRequest other = image;
  other.image = "sourcf";
  EXPECT_NE(variant_key(other), variant_key(image));

  const std::string compiled = compiled_key(key, "13.0", "sm_90a", "header");
  EXPECT_NE(compiled, compiled_key(key, "13.1", "sm_90a", "header"));
  EXPECT_NE(compiled, compiled_key(key, "13.0", "sm_80", "header"));
  EXPECT_NE(compiled, compiled_key(key, "13.0", "sm_90a", "heades"));
}

}  // namespace
}  // namespace redzone::device::cuda
