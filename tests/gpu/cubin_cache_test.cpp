#include "device/cuda/cubin_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "device/cuda/variant_key.h"

namespace redzone::device::cuda {
namespace {

namespace fs = std::filesystem;

class CubinCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("redzone-cubins-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "00ff.cubin"; }

  fs::path folder_;
  // Bytes of all kinds, line ends and zeros among them.
  Cubin cubin_{"_Z5scaleILi2EEvPjj", std::string("\x7f"
                                                 "ELF\0\n\n\xff tail",
                                                 12)};
};

TEST_F(CubinCacheTest, ReturnsWhatWasSaved) {
  const CubinCache cache(folder_);
  EXPECT_FALSE(cache.load("00ff"));
  cache.save("00ff", cubin_);
  const auto loaded = cache.load("00ff");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->lowered_name, cubin_.lowered_name);
  EXPECT_EQ(loaded->image, cubin_.image);
  EXPECT_FALSE(cache.load("00fe"));
  // Nothing but the entry is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(CubinCacheTest, EveryDamagedFileReadsAsAbsent) {
  const CubinCache cache(folder_);
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
    const CubinCache cache(folder);
    cache.save("00ff", cubin_);
    EXPECT_FALSE(cache.load("00ff"));
  }
}

TEST(VariantKey, DiffersWithEachPart) {
  VariantRequest a;
  a.source = "source";
  a.expression = "f<1>";
  a.options = {"-DA", "-DB"};
  const std::string key = variant_key(a);
  EXPECT_EQ(key, variant_key(a));

  VariantRequest b = a;
  b.source = "sourcf";
  EXPECT_NE(variant_key(b), key);
  b = a;
  b.expression = "f<2>";
  EXPECT_NE(variant_key(b), key);
  b = a;
  b.options = {"-DA-DB"};
  EXPECT_NE(variant_key(b), key);
  b = a;
  b.options = {"-DB", "-DA"};
  EXPECT_NE(variant_key(b), key);

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
