#include "target/registry.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "core/temporary_folder.h"

namespace redzone {
namespace {

using std::filesystem::path;

path plugin(const std::string& name) {
  return path(PLUGIN_DIR) / (name + ".so");
}

// The error of loading these plugins: a usage error of one line that names the last one.
std::string problem_of(const std::vector<path>& plugins,
                       std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
  const auto loaded = Registry::load(plugins, deadline);
  EXPECT_FALSE(loaded);
  if (loaded) return {};
  const Error& error = loaded.error();
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(plugins.back().filename().string()), std::string::npos)
      << error.message;
  return error.message;
}

void expect_problem(const std::string& name, const std::string& text) {
  // A good plugin comes first; the error must not name it.
  const std::string problem = problem_of({plugin("good"), plugin(name)});
  EXPECT_NE(problem.find(text), std::string::npos) << problem;
}

TEST(Registry, LoadsGoodPlugins) {
  const std::vector<path> plugins = {plugin("other_name"), plugin("good")};
  const auto registry = Registry::load(plugins);
  ASSERT_TRUE(registry) << registry.error().message;
  EXPECT_EQ(registry->names(), (std::vector<std::string>{"relu", "scan.backward", "scan.forward"}));
  const TargetEntry* entry = registry->find("scan.forward", DeviceKind::host);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->origin.path, plugin("good"));
  EXPECT_NE(entry->make(), nullptr);
  EXPECT_EQ(entry->code_hash.size(), 32u);
  EXPECT_EQ(entry->code_hash, registry->find("scan.backward", DeviceKind::host)->code_hash);
  EXPECT_NE(entry->code_hash, registry->find("relu", DeviceKind::host)->code_hash);
  EXPECT_EQ(registry->find("relu", DeviceKind::cuda), nullptr);
}

TEST(Registry, GivesAllOfAName) {
  const std::vector<path> plugins = {plugin("good")};
  const auto good = Registry::load(plugins);
  ASSERT_TRUE(good);
  Registry registry;
  for (const auto device : {DeviceKind::dry_run, DeviceKind::cuda})
    for (const char* name : {"b", "d"}) {
      TargetEntry entry = good->entries().front();
      entry.device = device;
      entry.spec.name = name;
      ASSERT_TRUE(registry.add(std::move(entry)));
    }
  const auto all = registry.named("b");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].device, DeviceKind::cuda);
  EXPECT_EQ(all[1].device, DeviceKind::dry_run);
  EXPECT_EQ(*registry.require_any("b"), &all[0]);
  EXPECT_EQ(registry.named("d").size(), 2u);
  for (const char* name : {"", "a", "c", "e"}) {
    EXPECT_TRUE(registry.named(name).empty()) << name;
    const auto unknown = registry.require_any(name);
    ASSERT_FALSE(unknown) << name;
    EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
  }
}

TEST(Registry, AWorkerLoadsTheSame) {
  const std::vector<path> plugins = {plugin("good")};
  const auto registry = Registry::load_in_worker(plugins);
  ASSERT_TRUE(registry);
  EXPECT_EQ(registry->entries().size(), 2u);
}

TEST(Registry, NoPluginsAreNoError) {
  const auto registry = Registry::load({});
  ASSERT_TRUE(registry);
  EXPECT_TRUE(registry->entries().empty());
}

TEST(Registry, WhereNothingRunsTargetsOfTheHostServe) {
  const std::vector<path> plugins = {plugin("good")};
  auto registry = Registry::load(plugins);
  ASSERT_TRUE(registry);
  const TargetEntry* host = registry->find("scan.forward", DeviceKind::host);
  EXPECT_EQ(registry->find("scan.forward", DeviceKind::dry_run), host);
  TargetEntry gpu_only{host->spec, DeviceKind::cuda, host->make};
  gpu_only.spec.name = "gpu.only";
  TargetEntry own{host->spec, DeviceKind::dry_run, host->make};
  ASSERT_TRUE(registry->add(std::move(gpu_only)));
  ASSERT_TRUE(registry->add(std::move(own)));
  const auto* found = registry->find("scan.forward", DeviceKind::dry_run);
  EXPECT_EQ(found->device, DeviceKind::dry_run) << "an entry of its own goes before";
  const auto all = registry->entries_for(DeviceKind::dry_run);
  ASSERT_EQ(all.size(), 2u) << "what only the GPU has cannot be called without it";
  EXPECT_EQ(all[0]->spec.name, "scan.backward");
  EXPECT_EQ(all[1], found);
}

TEST(Registry, RequireSaysWhatWouldBeRight) {
  const std::vector<path> plugins = {plugin("good")};
  const auto registry = Registry::load(plugins);
  ASSERT_TRUE(registry);
  EXPECT_EQ(*registry->require("scan.forward", DeviceKind::host),
            registry->find("scan.forward", DeviceKind::host));
  const auto mistyped = registry->require("scan.foward", DeviceKind::host);
  ASSERT_FALSE(mistyped);
  EXPECT_EQ(mistyped.error().kind, ErrorKind::usage);
  EXPECT_EQ(mistyped.error().message, "unknown target 'scan.foward', did you mean 'scan.forward'?");
  const auto elsewhere = registry->require("scan.forward", DeviceKind::cuda);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message,
            "target 'scan.forward' is not built for device cuda, only for host");
}

TEST(Registry, SurvivesPluginsThatDoNotLoad) {
  expect_problem("throws", R"(threw "no license\nfor \x1b[31mthis" while loading)");
  expect_problem("exits", "exited with code 7 while loading");
  expect_problem("segfaults", "killed by SIGSEGV while loading");
  expect_problem("aborts", "killed by SIGABRT while loading");
  expect_problem("throws_early", "while loading");
}

TEST(Registry, WarmsUpInAWorkerAndSaysWhichPluginThrew) {
  const std::vector<path> plugins = {plugin("cold")};
  EXPECT_TRUE(Registry::load(plugins)) << "the driver does not warm up";
  const auto registry = Registry::load_in_worker(plugins);
  ASSERT_TRUE(registry);
  const auto idle = [] { return std::string(); };
  const auto warm = registry->preload(idle);
  ASSERT_FALSE(warm);
  EXPECT_EQ(warm.error().kind, ErrorKind::usage);
  EXPECT_NE(warm.error().message.find("cold.so: its warm-up threw \"no handle\""),
            std::string::npos)
      << warm.error().message;
  const std::vector<path> none = {plugin("good")};
  EXPECT_TRUE(Registry::load_in_worker(none)->preload(idle));
}

TEST(Registry, NamesAWarmUpThatIsSlow) {
  const std::vector<path> plugins = {plugin("cold_slow")};
  const auto registry = Registry::load_in_worker(plugins);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(registry->preload([] { return std::string(); }, std::chrono::milliseconds(100)));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cold_slow.so: its warm-up has not returned for 100 ms"), std::string::npos)
      << said;
}

TEST(RegistryDeathTest, AWarmUpThatEndsTheProcessIsNamed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const std::vector<path> plugins = {plugin("cold_ends")};
        (void)Registry::load_in_worker(plugins)->preload([] { return std::string(); });
      },
      ::testing::ExitedWithCode(2), "cold_ends.so: its warm-up ended with SIGABRT");
}

TEST(Registry, GivesUpOnAPluginThatHangs) {
  const std::string problem =
      problem_of({plugin("good"), plugin("hangs")}, std::chrono::milliseconds(300));
  EXPECT_NE(problem.find("did not load within 300 ms"), std::string::npos) << problem;
}

TEST(Registry, NamesAFunctionThatDoesNotReturn) {
  const std::string problem =
      problem_of({plugin("good"), plugin("stuck")}, std::chrono::milliseconds(600));
  EXPECT_NE(
      problem.find("target 'endless': constraint 'N is pondered' has not returned for 300 ms"),
      std::string::npos)
      << problem;
}

// The function hangs for a call that was not tried at load time.
TEST(RegistryDeathTest, AFunctionThatDoesNotReturnLaterEndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto registry = Registry::load({}, std::chrono::milliseconds(200));
        const std::vector<path> plugins = {plugin("good")};
        TargetEntry entry = Registry::load_in_worker(plugins)->entries().front();
        entry.spec.work = [](const Dims& d, const Config&) {
          while (!d.empty() && d.begin()->second == 13) ::usleep(1000);
          return 1.0;
        };
        entry.spec.name = "endless";
        if (!registry->add(std::move(entry))) return;
        Dims dims;
        dims.emplace("N", 13);
        registry->entries().front().spec.work(dims, {});
      },
      ::testing::ExitedWithCode(2),
      "redzone: target 'endless': the work function has not returned for 200 ms");
}

// The work function of a target does this for a call that was not tried at load time.
void call_once_loaded(const std::function<void()>& what) {
  auto registry = Registry::load({}, std::chrono::milliseconds(10'000));
  const std::vector<path> plugins = {plugin("good")};
  TargetEntry entry = Registry::load_in_worker(plugins)->entries().front();
  entry.spec.work = [what](const Dims& d, const Config&) {
    if (!d.empty() && d.begin()->second == 13) what();
    return 1.0;
  };
  entry.spec.name = "last";
  if (!registry->add(std::move(entry))) return;
  Dims dims;
  dims.emplace("N", 13);
  registry->entries().front().spec.work(dims, {});
}

// Uses up the stack.
int endless(volatile int* depth) {
  if (*depth < 0) return 0;
  volatile char room[4096] = {};
  *depth = *depth + 1;
  return endless(depth) + room[0];
}

TEST(RegistryDeathTest, AFunctionThatEndsTheProcessIsNamed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string work = "redzone: target 'last': the work function ";
  EXPECT_EXIT(call_once_loaded([] { std::exit(0); }), ::testing::ExitedWithCode(2),
              work + "ended the process by exit\\(\\)");
  EXPECT_EXIT(call_once_loaded([] { std::abort(); }), ::testing::ExitedWithCode(2),
              work + "ended with SIGABRT");
  EXPECT_EXIT(call_once_loaded([] { ::raise(SIGFPE); }), ::testing::ExitedWithCode(2),
              work + "ended with SIGFPE");
  EXPECT_EXIT(call_once_loaded([] {
                volatile int depth = 0;
                endless(&depth);
              }),
              ::testing::ExitedWithCode(2), work + "ended with SIGSEGV");
}

// What is not a function's ends the process as before.
TEST(RegistryDeathTest, OtherEndsAreNotTheirs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        call_once_loaded([] {});
        const auto registry = Registry::load({}, std::chrono::milliseconds(10'000));
        ::raise(SIGFPE);
      },
      ::testing::KilledBySignal(SIGFPE), "^$");
  EXPECT_EXIT(
      {
        const auto registry = Registry::load({}, std::chrono::milliseconds(10'000));
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "^$");
}

TEST(Registry, NamesWhatIsWrongWithAPlugin) {
  expect_problem("wrong_abi", "has ABI version " + std::to_string(REDZONE_ABI_VERSION + 41) +
                                  ", this build has " + std::to_string(REDZONE_ABI_VERSION));
  expect_problem("no_symbol", "has no symbol redzone_plugin");
  expect_problem("bad_spec", "invalid spec of target 'broken': knob 'num_warps' has no values");
  expect_problem("unknown_dim",
                 "invalid spec of target 'astray': the shape function of tensor 'y': no dim 'M'");
  expect_problem("no_reference",
                 "target 'boastful' says has_reference, and does not implement "
                 "reference()");
  expect_problem("no_rows",
                 "target 'boastful' says sampled_rows, and does not implement reference_rows()");
  expect_problem("absent", "no such file");
}

TEST(Registry, NamesBothPluginsOfADuplicate) {
  const std::string problem = problem_of({plugin("good"), plugin("duplicate")});
  EXPECT_NE(problem.find("duplicate target name 'scan.forward' for device host, also in " +
                         plugin("good").string()),
            std::string::npos)
      << problem;
}

TEST(Registry, RefusesFilesThatAreNoPlugins) {
  const auto made = TemporaryFolder::create("registry").value();
  const path& folder = made.path();
  std::ofstream(folder / "text.so") << "hello";
  std::ofstream(folder / "empty.so") << "";
  std::ofstream(folder / "cut.so", std::ios::binary) << "\x7f"
                                                        "ELF and no more";
  EXPECT_NE(problem_of({folder / "text.so"}).find("not a shared object"), std::string::npos);
  EXPECT_NE(problem_of({folder / "empty.so"}).find("not a shared object"), std::string::npos);
  EXPECT_NE(problem_of({folder / "cut.so"}).find("cannot be loaded"), std::string::npos);
  EXPECT_NE(problem_of({folder}).find("not a file"), std::string::npos);
}

TEST(Registry, ABuildForChecksIsNotOlderThanItsPlugin) {
  const auto folder = TemporaryFolder::create("registry").value();
  const path plain = folder.path() / "scale.host.so", checked = checked_build(plain);
  std::filesystem::create_directories(checked.parent_path());
  std::ofstream(plain) << "plain";
  EXPECT_EQ(problem_of_checked_build(checked),
            plain.string() + " has no build for checks, as " + checked.string() +
                " would be (one that ships: `ninja -C build scale_checked`)");
  std::ofstream(checked) << "checked";
  const auto now = std::filesystem::last_write_time(plain);
  std::filesystem::last_write_time(checked, now);
  EXPECT_EQ(problem_of_checked_build(checked), "");
  std::filesystem::last_write_time(checked, now - std::chrono::seconds(1));
  EXPECT_EQ(problem_of_checked_build(checked),
            checked.string() + " is older than " + plain.string() +
                ": build it again (one that ships: `ninja -C build scale_checked`)");
  std::filesystem::remove(plain);
  EXPECT_EQ(problem_of_checked_build(checked), "");
}

TEST(Registry, ShippedPluginsAreSharedObjectsInOrder) {
  const auto plugins = shipped_plugins();
  EXPECT_TRUE(std::is_sorted(plugins.begin(), plugins.end()));
  for (const auto& file : plugins) EXPECT_EQ(file.extension(), ".so");
}

}  // namespace
}  // namespace redzone
