// The command of the benchmark: its parts and its file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/command.h"
#include "core/temporary_folder.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::json;
using testing::exit_code;
using testing::quoted;

// The command on the host device, with its file and what it prints in a folder.
class BenchOnHost : public ::testing::Test {
 protected:
  int bench(const std::string& flags) const {
    return exit_code(quoted(REDZONE) + " bench --quick --device host --out " + quoted(file_) + " " +
                     flags + " >" + quoted(folder_.path() / "table") + " 2>&1");
  }
  Json report() const {
    std::ifstream in(file_);
    return Json::parse(in);
  }

  TemporaryFolder folder_ = TemporaryFolder::create("bench").value();
  std::filesystem::path file_ = folder_.path() / "report.json";
};

TEST_F(BenchOnHost, MeasuresThePartsThatAreAskedFor) {
  ASSERT_EQ(bench("--part faults"), 0);
  const Json json = report();
  EXPECT_EQ(json["throughput"].size() + json["detection"].size(), 0u);
  EXPECT_EQ(json["modes"]["rows"].size(), 0u);
  EXPECT_GT(json["fault_cost"]["with_spare"]["faults"], 0);
  EXPECT_EQ(bench("--part nothing"), 2);
}

TEST_F(BenchOnHost, TheProgramsOfTheGuardNeedAGpu) {
  ASSERT_EQ(bench("--part guard --program softmax"), 0);
  EXPECT_EQ(report()["guard"]["why_not"], "the programs need a GPU");
  EXPECT_EQ(bench("--part guard --program nothing"), 2);
  EXPECT_EQ(bench("--part guard --resume " + quoted(folder_.path() / "none")), 2);
  EXPECT_EQ(bench("--part faults --program softmax"), 2);
}

TEST(Bench, ChangesNothingWhenItsFileCannotBeWritten) {
  const auto folder = TemporaryFolder::create("bench").value();
  const auto errors = folder.path() / "errors";
  EXPECT_EQ(exit_code(quoted(REDZONE) + " bench --quick --device host --out " +
                      quoted(folder.path() / "none" / "report.json") + " 2>" + quoted(errors)),
            2);
  std::string line, more;
  std::ifstream in(errors);
  EXPECT_TRUE(std::getline(in, line));
  EXPECT_TRUE(line.starts_with("redzone: ")) << line;
  EXPECT_NE(line.find("report.json"), std::string::npos) << line;
  EXPECT_FALSE(std::getline(in, more)) << more;
}

}  // namespace
}  // namespace redzone::bench
