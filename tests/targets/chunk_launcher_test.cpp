// What the chunk targets request from a device, tested without one: variants, their cache,
// launches.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/launch_limits.h"
#include "targets/chunk_plugin.h"
#include "targets/recording_context.h"

namespace redzone::test {
namespace {

const std::string kFour[] = {"chunk_fwd_h", "chunk_fwd_phase1", "chunk_bwd_dh",
                             "chunk_bwd_dh_correction"};

// Options of the tile kernel's variant as a fresh target requests it; the tile kernel is the last
// one.
RecordedVariant tile_variant(const PluginTarget& t, const Dims& dims, const Config& config) {
  RecordingContext ctx(t.spec, dims, config);
  t.make()->run(ctx);
  EXPECT_FALSE(ctx.variants.empty());
  return ctx.variants.back();
}

TEST(ChunkPlugin, GivesTheFourTargets) {
  std::set<std::string> names;
  for (const auto& t : chunk_targets()) names.insert(t.spec.name);
  EXPECT_EQ(names, std::set<std::string>(std::begin(kFour), std::end(kFour)));
}

TEST(ChunkLauncher, ExpressionNamesDtypeAndPaddedD) {
  const auto& t = chunk_target("chunk_fwd_h");
  Config config = default_config(t.spec);
  EXPECT_EQ(tile_variant(t, chunk_dims(1, 1, 8, 4, 24, 3), config).expression,
            "redzone_chunk::fwd_h<float, 32, 32, 4>");
  config["dtype"] = "bf16";
  config["block_v"] = std::int64_t{64};
  config["num_warps"] = std::int64_t{8};
  EXPECT_EQ(tile_variant(t, chunk_dims(1, 1, 8, 4, 129, 3), config).expression,
            "redzone_chunk::fwd_h<redzone::bf16, 256, 64, 8>");
}

TEST(ChunkLauncher, OptionsFollowTheClassOfN) {
  using Options = std::vector<std::string>;
  const std::map<std::int64_t, Options> expected = {{1, {"-DREDZONE_CHUNK_N=1"}},
                                                    {4, {}},
                                                    {15, {}},
                                                    {16, {"-DREDZONE_CHUNK_N_MULTIPLE=16"}},
                                                    {17, {}},
                                                    {48, {"-DREDZONE_CHUNK_N_MULTIPLE=16"}}};
  for (const auto& name : kFour) {
    const auto& t = chunk_target(name);
    Config config = default_config(t.spec);
    for (const auto& [n, options] : expected)
      EXPECT_EQ(tile_variant(t, chunk_dims(1, 1, 2 * n, 2, 4, 4), config).options, options)
          << name << " N = " << n;
    config["specialize_n"] = std::int64_t{1};
    EXPECT_EQ(tile_variant(t, chunk_dims(1, 1, 96, 2, 4, 4), config).options,
              Options{"-DREDZONE_CHUNK_N=48"});
  }
}

// One instance, several calls: a variant is requested again exactly when the padded D, a template
// knob, the class of N or (specialized) N differs.
TEST(ChunkLauncher, CachesByEverythingThatTheVariantKnows) {
  for (const auto& name : kFour) {
    const auto& t = chunk_target(name);
    const auto target = t.make();
    std::size_t asked = 0;
    const auto misses = [&](const Dims& dims, const Config& config) {
      RecordingContext ctx(t.spec, dims, config);
      target->run(ctx);
      EXPECT_EQ(ctx.launches.back().kernel, name);
      const auto n = static_cast<std::size_t>(std::count_if(
          ctx.variants.begin(), ctx.variants.end(), [&](const auto& v) { return v.name == name; }));
      asked += n;
      return n == 1;
    };
    Config config = default_config(t.spec);
    EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 16, 32, 8), config));   // N = 4
    EXPECT_FALSE(misses(chunk_dims(2, 3, 56, 8, 30, 99), config));  // N = 7, D pads to 32
    EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 16, 33, 8), config));   // D pads to 64
    EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 4, 32, 8), config));    // N = 16
    EXPECT_FALSE(misses(chunk_dims(1, 1, 128, 4, 32, 8), config));  // N = 32
    EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 64, 32, 8), config));   // N = 1
    EXPECT_FALSE(misses(chunk_dims(1, 1, 128, 128, 32, 8), config));
    config["grid"] = "persistent";  // does not affect the variant
    EXPECT_FALSE(misses(chunk_dims(1, 1, 64, 16, 32, 8), config));
    config["specialize_n"] = std::int64_t{1};
    EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 16, 32, 8), config));
    EXPECT_TRUE(misses(chunk_dims(1, 1, 56, 8, 32, 8), config));
    EXPECT_FALSE(misses(chunk_dims(1, 1, 28, 4, 32, 8), config));  // N = 7 again
    for (const auto& [knob, value] :
         Config{{"dtype", "bf16"}, {"block_v", std::int64_t{16}}, {"num_warps", std::int64_t{2}}}) {
      config[knob] = value;
      EXPECT_TRUE(misses(chunk_dims(1, 1, 64, 16, 32, 8), config)) << knob;
    }
    EXPECT_EQ(asked, 9u);
  }
}

// For all knobs, over shapes from one element to model size: the launches are the declared ones,
// every device supports them, and 48 KiB of shared memory, which need no opt-in, are enough.
TEST(ChunkGeometry, IsWhatIsLaunched) {
  const LaunchLimits limits;
  for (const auto& name : kFour) {
    const auto& t = chunk_target(name);
    std::vector<Config> configs = {{}};
    for (const auto& knob : t.spec.knobs) {
      std::vector<Config> more;
      for (const auto& config : configs)
        for (const auto& value : knob.values) {
          more.push_back(config);
          more.back()[knob.name] = value;
        }
      configs = std::move(more);
    }
    for (const auto& dims :
         {chunk_dims(1, 1, 1, 1, 1, 1), chunk_dims(2, 3, 40, 8, 24, 33),
          chunk_dims(4, 32, 8192, 64, 128, 128), chunk_dims(8, 64, 16384, 1, 256, 256)})
      for (const auto& config : configs) {
        RecordingContext ctx(t.spec, dims, config);
        t.make()->run(ctx);
        const Geometry declared = t.spec.geometry(dims, config);
        ASSERT_EQ(declared.launches.size(), ctx.launches.size());
        for (std::size_t i = 0; i < ctx.launches.size(); ++i) {
          const auto& want = declared.launches[i];
          const auto& got = ctx.launches[i];
          EXPECT_EQ(got.kernel, want.kernel);
          EXPECT_EQ(got.shape.grid.x, want.grid[0]);
          EXPECT_EQ(got.shape.block.x, want.block[0]);
          EXPECT_EQ(got.shape.shared_bytes, static_cast<std::size_t>(want.shared_bytes));
          EXPECT_GE(got.shape.grid.x, 1);
          EXPECT_LE(got.shape.grid.x, limits.grid[0]);
          EXPECT_LE(got.shape.block.x, limits.threads_per_block);
          EXPECT_LE(got.shape.shared_bytes, 48u * 1024);
        }
        EXPECT_GT(t.spec.work(dims, config), 0);
      }
  }
}

}  // namespace
}  // namespace redzone::test
