// Campaigns on the GPU, run from the command line, and access to their results.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "e2e/cli.h"

namespace redzone::e2e {

// Limits for campaigns that only have to find a failure: reducing a fault takes a fresh context for
// each plan.
inline const Arguments& limited() {
  static const Arguments words{"--time", "20s"};
  return words;
}

inline Ran run_on_gpu(const TempFolder& folder, const std::string& target, const char* plans,
                      const Arguments& more = {}) {
  Arguments words{"run", target, "--device", "cuda", "--plans", plans, "--seed", "1", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return redzone(folder, words);
}

// The kinds of the confirmed findings; there must be at least one.
inline std::set<std::string> confirmed_kinds(const Ran& ran) {
  EXPECT_EQ(ran.exit, 1) << ran;
  std::set<std::string> out;
  const Json campaign = ran.json();
  if (!campaign.is_object()) return out;
  for (const auto& finding : campaign["findings"])
    if (finding["state"] == "confirmed") out.insert(finding["signature"]["kind"]);
  return out;
}

}  // namespace redzone::e2e
