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

TEST(Bench, MeasuresThePartsThatAreAskedFor) {
  const auto folder = TemporaryFolder::create("bench").value();
  const auto file = folder.path() / "report.json";
  const std::string bench = std::string(REDZONE) + " bench --quick --device host --out " +
                            quoted(file) + " >" + quoted(folder.path() / "table") + " 2>&1";
  ASSERT_EQ(exit_code(bench + " --part faults"), 0);
  std::ifstream in(file);
  const Json report = Json::parse(in);
  EXPECT_EQ(report["throughput"].size() + report["detection"].size(), 0u);
  EXPECT_EQ(report["modes"]["rows"].size(), 0u);
  EXPECT_GT(report["fault_cost"]["with_spare"]["faults"], 0);
  EXPECT_EQ(exit_code(bench + " --part nothing"), 2);
}

TEST(Bench, ChangesNothingWhenItsFileCannotBeWritten) {
  const auto folder = TemporaryFolder::create("bench").value();
  const auto errors = folder.path() / "errors";
  EXPECT_EQ(exit_code(std::string(REDZONE) + " bench --quick --device host --out " +
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
