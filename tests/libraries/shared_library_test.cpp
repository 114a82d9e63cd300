#include "common/shared_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/temporary_folder.h"

namespace redzone::libraries {
namespace {

const char* nothing(const char*) {
  return nullptr;
}

const char* folders(const char* name) {
  const std::string variable = name;
  if (variable == kFoldersVariable) return "/first::/second";
  return variable == "CUDA_HOME" ? "/toolkit" : nullptr;
}

TEST(LibraryPlaces, AreTheUsersFoldersThenTheLoadersThenTheToolkits) {
  EXPECT_EQ(
      places_of({"a.so.2", "a.so"}, folders),
      (std::vector<std::string>{"/first/a.so.2", "/first/a.so", "/second/a.so.2", "/second/a.so",
                                "a.so.2", "a.so", "/toolkit/lib64/a.so.2", "/toolkit/lib64/a.so"}));
  EXPECT_EQ(places_of({"a.so"}, nothing),
            (std::vector<std::string>{"a.so", "/usr/local/cuda/lib64/a.so"}));
}

TEST(LibraryPlaces, WheelsOfTheVirtualEnvironmentComeLast) {
  static const auto folder = TemporaryFolder::create("venv").value();
  static const std::string root = folder.path().string();
  const std::string nvidia = root + "/lib/python3.12/site-packages/nvidia/";
  std::filesystem::create_directories(nvidia + "cu13/lib");
  std::filesystem::create_directories(nvidia + "another/lib");
  std::filesystem::create_directories(nvidia + "headers_only/include");
  const auto environment = [](const char* name) -> const char* {
    return std::string(name) == "VIRTUAL_ENV" ? root.c_str() : nullptr;
  };
  const auto places = places_of({"a.so"}, environment);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[2], nvidia + "another/lib/a.so");
  EXPECT_EQ(places[3], nvidia + "cu13/lib/a.so");
}

TEST(LibraryFile, AnAbsentOneSaysWhy) {
  const SharedLibrary absent({"libof_no_vendor.so.7"});
  EXPECT_FALSE(absent.loaded());
  EXPECT_NE(absent.problem().find("libof_no_vendor.so.7"), std::string::npos) << absent.problem();
  EXPECT_EQ(absent.symbol("anything"), nullptr);
}

TEST(LibraryFile, TheFirstThatLoadsIsTaken) {
  const SharedLibrary math({"libof_no_vendor.so.7", "libm.so.6"});
  ASSERT_TRUE(math.loaded()) << math.problem();
  EXPECT_EQ(math.problem(), "");
  EXPECT_EQ(math.file(), "libm.so.6");
  const auto cosine = reinterpret_cast<double (*)(double)>(math.symbol("cos"));
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(math.symbol("of_no_vendor"), nullptr);
}

}  // namespace
}  // namespace redzone::libraries
