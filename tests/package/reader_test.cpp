#include "package/reader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include <regex>

#include "package/sample.h"

namespace redzone::package {
namespace {

using test::CubinParts;
using test::SamplePackage;

TEST(Reader, ReadsWhatTheExporterWrites) {
  const SamplePackage sample;
  const auto package = read_package(sample.folder());
  ASSERT_TRUE(package) << package.error().message;
  EXPECT_EQ(package->name, "test.add");
  EXPECT_EQ(package->kernel, "add");
  EXPECT_EQ(package->arch, 90);
  EXPECT_EQ(package->variants.size(), 144u);
  ASSERT_EQ(package->compiled.size(), 4u);
  EXPECT_EQ(package->dims[0].values, (std::vector<std::int64_t>{1, 3, 8}));
  EXPECT_EQ(package->dims[1].tile, 128);
  EXPECT_EQ(package->tensors[0].align_bytes, 4u);
  ASSERT_TRUE(package->tensors[1].tolerance);
  EXPECT_EQ(package->tensors[1].tolerance->rel, 1e-6);
  ASSERT_EQ(package->arguments.size(), 7u);
  EXPECT_TRUE(package->arguments[0].specialized);
  EXPECT_TRUE(package->arguments[2].specialized);
  EXPECT_FALSE(package->arguments[3].specialized);
  EXPECT_EQ(package->compiled[0].global.bytes, 384u);
  EXPECT_EQ(package->compiled[0].global.align, 128u);
  EXPECT_EQ(package->compiled[0].shared_bytes, 57344u);
  EXPECT_EQ(package->code_hash.size(), 32u);
}

TEST(Reader, HashesEveryFileOfThePackage) {
  const SamplePackage sample;
  const auto before = read_package(sample.folder())->code_hash;
  EXPECT_EQ(read_package(sample.folder())->code_hash, before);
  sample.edit("cubin/add.1.cubin", "code", "edoc");
  const auto after = read_package(sample.folder())->code_hash;
  EXPECT_NE(after, before);
  sample.edit("cubin/add.1.json", "57344", "57340");
  EXPECT_NE(read_package(sample.folder())->code_hash, after);
}

// The error message without its place in the file.
std::string without_place(const std::string& message) {
  static const std::regex place(R"(\.toml:[0-9]+:[0-9]+: )");
  return std::regex_replace(message, place, ".toml: ");
}

struct Broken {
  const char* name;
  const char* file;
  const char* from;
  const char* to;
  const char* error;  // includes file and field
};

void PrintTo(const Broken& b, std::ostream* out) {
  *out << b.name;
}

class BrokenPackage : public testing::TestWithParam<Broken> {};

TEST_P(BrokenPackage, IsAnErrorThatNamesFileAndField) {
  const Broken& row = GetParam();
  const SamplePackage sample;
  sample.edit(row.file, row.from, row.to);
  const auto package = read_package(sample.folder());
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().kind, ErrorKind::usage);
  EXPECT_NE(without_place(package.error().message).find(row.error), std::string::npos)
      << package.error().message;
}

TEST(Reader, ErrorsOfTheDescriptionHaveTheirPlace) {
  const SamplePackage sample;
  sample.write("target.toml", "redzone_package = 1\nname = 3\n");
  const auto package = read_package(sample.folder());
  ASSERT_FALSE(package);
  EXPECT_NE(package.error().message.find("target.toml:2:8: name: a string is expected"),
            std::string::npos)
      << package.error().message;
}

// Trees in the description and in the metadata that would exhaust the stack.
TEST(PackageReader, DeepFilesAreErrors) {
  std::string keys, lists;
  for (int i = 0; i < 150'000; ++i) {
    keys += "a.";
    lists += "[";
  }
  for (const auto& [file, text] : {std::pair{"target.toml", keys + "a = 1\n"},
                                   {"target.toml", "a = " + lists},
                                   {"cubin/add.1.json", lists},
                                   {"cubin/add.1.json", "{\"a\": " + lists}}) {
    const SamplePackage sample;
    sample.write(file, text);
    const auto package = read_package(sample.folder());
    ASSERT_FALSE(package);
    EXPECT_EQ(package.error().kind, ErrorKind::usage);
    EXPECT_NE(package.error().message.find(file), std::string::npos) << package.error().message;
  }
}

constexpr const char* kToml = "target.toml";
constexpr const char* kJson = "cubin/add.1.json";

INSTANTIATE_TEST_SUITE_P(
    Fields, BrokenPackage,
    testing::Values(
        Broken{"NoToml", kToml, "name = ", "name ", "target.toml: not a package: "},
        Broken{"Version", kToml, "redzone_package = 1", "redzone_package = 2",
               "target.toml: redzone_package: 2 is not in 1..1"},
        Broken{"MissingKernel", kToml, "kernel = \"add\"\n", "", "target.toml: kernel: missing"},
        Broken{"IllTyped", kToml, "arch = 90", "arch = \"90\"",
               "target.toml: arch: an integer is expected"},
        Broken{"UnknownField", kToml, "arch = 90", "arch = 90\narhc = 1",
               "target.toml: arhc: unknown field"},
        Broken{"NotDeclaredAsAList", kToml, "[[constraint]]", "[constraint]",
               "target.toml: constraint: a list of tables is expected"},
        Broken{"TargetName", kToml, "\"test.add\"", "\"Test add\"",
               "target.toml: name: 'Test add' is not of [a-z0-9_.]+"},
        Broken{"DimTwice", kToml, "name = \"R\"", "name = \"N\"",
               "dim[N].name: 'N' is declared twice"},
        Broken{"DimOrder", kToml, "[1, 3, 8]", "[3, 1, 8]", "dim[R].values: not ascending"},
        Broken{"DimContradicts", kToml, "values = [1, 3, 8]", "values = [1, 3, 8]\nmin = 1",
               "dim[R].min: contradicts 'values'"},
        Broken{"DimRange", kToml, "min = 1\nmax = 4096", "min = 9\nmax = 4", "dim[N].max: 4"},
        Broken{"DimMultiple", kToml, "max = 4096\nmultiple_of = 1", "max = 4\nmultiple_of = 8",
               "dim[N].multiple_of: no multiple of 8 in 1..4"},
        Broken{"Constraint", kToml, "b = \"N\"", "b = \"K\"", "constraint[0].b: no dim 'K'"},
        Broken{"Grid", kToml, "\"R\", \"1\"]", "\"R / 2\", \"1\"]",
               "target.toml: grid[1]: 'R / 2'"},
        Broken{"GridName", kToml, "\"R\", \"1\"]", "\"S\", \"1\"]",
               "grid[1]: 'S' has the unknown name"},
        Broken{"GridCount", kToml, ", \"R\", \"1\"]", ", \"R\"]", "grid: 2 expressions"},
        Broken{"ShapeReadsKnob", kToml, "shape = [\"R\", \"N\"]", "shape = [\"R\", \"BLOCK\"]",
               "tensor[x].shape[1]: 'BLOCK' has the unknown name"},
        Broken{"DType", kToml, "dtype = \"f32\"", "dtype = \"f31\"",
               "tensor[x].dtype: 'f31' is not one of"},
        Broken{"ComplexDType", kToml, "dtype = \"f32\"", "dtype = \"c64\"",
               "tensor[x].dtype: 'c64' is not one of f32, f64, f16, bf16, i8, u8, i32, u32, i64, "
               "bool, i16, u16, u64, f8e4m3, f8e5m2"},
        Broken{"Float8DType", kToml, "dtype = \"f32\"", "dtype = \"f8e4m3\"",
               "argument[x].type: '*fp32', but tensor 'x' is '*fp8e4nv'"},
        Broken{"BoolDType", kToml, "dtype = \"f32\"", "dtype = \"bool\"",
               "argument[x].type: '*fp32', but tensor 'x' is '*i1'"},
        Broken{"Constants", kToml, "constants = { BLOCK = 128", "constants = { BLOCK = 129",
               "variant[0].constants.BLOCK: 129, but the argument comes to 128 under these knobs"},
        Broken{"TunedType", kToml, "dtype = \"f32\"", "dtype_of = \"BLOCK\"",
               "tensor[x].dtype_of: knob 'BLOCK' is tuned, so it cannot change a type"},
        Broken{"Tune", kToml, "tune = true", "tune = 1", "knob[BLOCK].tune: "},
        Broken{"DTypeOf", kToml, "dtype = \"f32\"", "dtype_of = \"grid\"",
               "tensor[x].dtype_of: knob 'grid' has a value that is not one of"},
        Broken{"Align", kToml, "align_bytes = 4\n", "align_bytes = 3\n",
               "tensor[x].align_bytes: 3 is not a power of two"},
        Broken{"Tolerance", kToml, "abs = 0.0", "abs = -1.0", "tensor[y].tolerance.abs: negative"},
        Broken{"Fill", kToml, "kind = \"uniform\"", "kind = \"normal\"",
               "tensor[x].fill.kind: 'normal' is not one of"},
        Broken{"KnobMixed", kToml, "values = [128, 256]", "values = [128, \"b\"]",
               "knob[BLOCK].values: integers and strings are mixed"},
        Broken{"KnobValueOfNoVariant", kToml, "values = [128, 256]", "values = [128, 256, 512]",
               "target.toml: knob[BLOCK].values: no variant is for 512"},
        Broken{"KnobName", kToml, "name = \"BLOCK\"", "name = \"min\"",
               "knob[min]: 'min' is reserved in expressions"},
        Broken{"ArgumentTensor", kToml, "value = \"x\"", "value = \"z\"",
               "argument[x].value: no tensor 'z'"},
        Broken{"ArgumentType", kToml, "type = \"*fp32\"", "type = \"*fp16\"",
               "argument[x].type: '*fp16', but tensor 'x' is '*fp32'"},
        Broken{"ArgumentKind", kToml, "kind = \"float\"", "kind = \"descriptor\"",
               "argument[factor].kind: descriptors that the host encodes"},
        Broken{"ArgumentTwice", kToml, "name = \"rows\"", "name = \"n\"",
               "argument[n].name: 'n' is declared twice"},
        Broken{"VariantFile", kToml, "\"add.1one\"", "\"../add.1one\"",
               "variant[0].file: '../add.1one' is not a file name"},
        Broken{"VariantKnob", kToml, "{ BLOCK = 128, grid", "{ BLOCK = 64, grid",
               "variant[0].knobs.BLOCK: 64 is not a value of the knob"},
        Broken{"VariantKnobMissing", kToml, ", num_ctas = 1 }", " }",
               "variant[0].knobs.num_ctas: missing"},
        Broken{"VariantConstant", kToml, "constants = { BLOCK = 128, RDIM = 1 }",
               "constants = { BLOCK = 128 }", "variant[0].constants.RDIM: missing"},
        Broken{"VariantClass", kToml, "n = \"1\" }", "n = \"2\" }",
               "variant[0].classes.n: '2' is not one of"},
        Broken{"VariantAddressOfOne", kToml, "{ x = \"16\", y", "{ x = \"1\", y",
               "variant[0].classes.x: an address is never of class '1'"},
        Broken{"VariantClassOfReal", kToml, "n = \"1\" }", "n = \"1\", factor = \"16\" }",
               "variant[0].classes.factor: neither a tensor nor an integer"},
        Broken{"VariantClassMissing", kToml, ", n = \"16\" }", " }",
               "variant[2].classes.n: missing, but given for the first variant"},
        Broken{"VariantDropped", kToml, "[\"n\", \"BLOCK\", \"RDIM\"]", "[\"n\", \"BLOCK\"]",
               "variant[0].dropped: 'RDIM' is missing: it is constexpr"},
        Broken{"VariantDroppedOne", kToml, "[\"n\", \"BLOCK\", \"RDIM\"]", "[\"BLOCK\", \"RDIM\"]",
               "variant[0].dropped: 'n' is missing: it is of class '1'"},
        Broken{"VariantDroppedWrongly", kToml, "[\"BLOCK\", \"RDIM\"]",
               "[\"rows\", \"BLOCK\", \"RDIM\"]",
               "variant[2].dropped: 'rows' is neither constexpr nor of class '1'"},
        Broken{"VariantTwice", kToml, "classes = { x = \"other\", y = \"16\", n = \"1\" }",
               "classes = { x = \"16\", y = \"16\", n = \"1\" }",
               "variant[1]: serves the same calls as variant[0]"},
        Broken{"VariantCubin", kToml, "file = \"add.1one\"", "file = \"add.9\"",
               "cubin/add.9.cubin: no such file"},
        Broken{"VariantKnobAgainstMetadata", kToml, "file = \"add.1one\"", "file = \"add.2one\"",
               "variant[0].knobs.num_ctas: 1, but 2 in cubin/add.2one.json"},
        Broken{"DocWithAnEscape", kToml, "doc = \"adds\"", "doc = \"a\\u001b[2Jb\"",
               "target.toml: doc: has the control character 0x1b"},
        Broken{"DimNameWithANull", kToml, "name = \"R\"", "name = \"R\\u0000\"",
               "target.toml: dim[0].name: has the control character 0x00"},
        Broken{"FieldNameWithABell", kToml, "arch = 90", "arch = 90\n\"b\\u0007\" = 1",
               "target.toml: b\\x07: unknown field"},
        Broken{"KnobValueWithAnEscape", kToml, "[\"flat\"", "[\"fl\\u001bt\"",
               "knob[grid].values: 'fl\\x1bt' is not an identifier"},
        Broken{"GridDividesByZero", kToml, "\"R\", \"1\"]", "\"cdiv(R, N - N)\", \"1\"]",
               "grid[1]: 'cdiv(R, N - N)' divides by zero (N = 1, R = 1)"},
        Broken{"GridNegative", kToml, "\"R\", \"1\"]", "\"R - 9\", \"1\"]",
               "grid[1]: -8 is negative (R = 1)"},
        Broken{"WorkDividesByZero", kToml, "\"R * N\"", "\"cdiv(N, R - R)\"",
               "target.toml: work: 'cdiv(N, R - R)' divides by zero"},
        Broken{"ShapeNegative", kToml, "shape = [\"R\", \"N\"]", "shape = [\"R\", \"N - 5000\"]",
               "tensor[x].shape[1]: -4999 is negative (N = 1)"},
        Broken{"ArgumentNeverFits", kToml, "type = \"i32\"\nvalue = \"N\"",
               "type = \"i32\"\nvalue = \"N * 4294967296\"",
               "argument[n].value: 4294967296 does not fit i32 (N = 1)"},
        Broken{"FillBackwards", kToml, "{ kind = \"uniform\", lo = -1.0, hi = 1.0 }",
               "{ kind = \"integers\", lo = \"R\", hi = \"0\" }",
               "tensor[x].fill.hi: 0 is less than lo, which is 1"},
        Broken{"OffsetsNegative", kToml, "{ kind = \"uniform\", lo = -1.0, hi = 1.0 }",
               "{ kind = \"offsets\", total = \"-N\" }",
               "tensor[x].fill.total: -1 is negative (N = 1)"},
        Broken{"NoJson", kJson, "{", "[", "add.1.json: no JSON"},
        Broken{"JsonMissing", kJson, "\"shared\"", "\"sharde\"", "add.1.json: shared: missing"},
        Broken{"JsonKernel", kJson, "\"add\"", "\"sub\"",
               "add.1.json: name: 'sub', but target.toml names 'add'"},
        Broken{"JsonBackend", kJson, "\"cuda\"", "\"hip\"", "add.1.json: target.backend: 'hip'"},
        Broken{"JsonArch", kJson, "\"arch\": 90", "\"arch\": 80",
               "add.1.json: target.arch: 80, but target.toml says 90"},
        Broken{"JsonShared", kJson, "57344", "232449",
               "add.1.json: shared: needs 232449 bytes of shared memory, sm_90 has 232448"},
        Broken{"JsonWarps", kJson, "\"num_warps\": 4", "\"num_warps\": 8",
               "add.1.json: num_warps: 8, but the cubin is for blocks of 128 threads"},
        Broken{"JsonCluster", kJson, "\"num_ctas\": 1", "\"num_ctas\": 4",
               "add.1.json: num_ctas: 4, but the cubin is for clusters of 1"},
        Broken{"JsonScratchAlign", kJson, "\"global_scratch_align\": 128",
               "\"global_scratch_align\": 100", "global_scratch_align: 100 is not a power of two"},
        Broken{"JsonScratch", kJson, "384", "-1", "add.1.json: global_scratch_size: -1"},
        Broken{"JsonDescriptors", kJson, "\"tensordesc_meta\": []", "\"tensordesc_meta\": [1]",
               "add.1.json: tensordesc_meta: the kernel takes descriptors"}),
    [](const auto& info) { return std::string(info.param.name); });

// The error after replacing the cubin for two-CTA clusters without n.
std::string error_with(const std::string& image) {
  const SamplePackage sample;
  sample.write("cubin/add.2one.cubin", image);
  const auto package = read_package(sample.folder());
  return package ? "" : package.error().message;
}

TEST(ReaderOfCubins, ComparesThemWithTheDescription) {
  CubinParts parts{{8, 8, 8, 4, 8, 8}};
  parts.cluster_ctas = 2;
  EXPECT_EQ(error_with(test::cubin(parts)), "");
  parts.abi_version = 8;
  EXPECT_EQ(error_with(test::cubin(parts)), "");
  const auto has = [](const std::string& error, const char* text) {
    EXPECT_NE(error.find("add.2one.cubin: "), std::string::npos) << error;
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  CubinParts fewer = parts;
  fewer.parameter_bytes.pop_back();
  has(error_with(test::cubin(fewer)), "parameters: the kernel has 5, target.toml gives it 6");
  CubinParts other = parts;
  other.parameter_bytes[3] = 8;
  has(error_with(test::cubin(other)), "parameters[3]: has 8 bytes, target.toml gives it 4");
  CubinParts old = parts;
  old.arch = 80;
  has(error_with(test::cubin(old)), "architecture: sm_80, but target.toml says 90");
  has(error_with("not a cubin"), "is not an ELF file");
  std::string renamed = test::cubin(parts);
  renamed.replace(renamed.find(".text.add"), 9, ".text.sub");
  has(error_with(renamed), "has no kernel 'add'");
}

TEST(Reader, NamesWhatIsNotThere) {
  const SamplePackage sample;
  std::filesystem::remove(sample.folder() / "cubin/add.2.json");
  EXPECT_NE(read_package(sample.folder()).error().message.find("add.2.json: no such file"),
            std::string::npos);
  EXPECT_NE(read_package(sample.folder() / "none").error().message.find("no such folder"),
            std::string::npos);
  std::filesystem::remove(sample.folder() / "target.toml");
  EXPECT_NE(read_package(sample.folder()).error().message.find("target.toml: no such file"),
            std::string::npos);
}

// An expression that has no value for some dims affects only the calls with these dims, which the
// package does not serve.
TEST(Reader, AllowsWhatSomeDimsCanHave) {
  const SamplePackage sample;
  sample.edit("target.toml", "\"R\", \"1\"]", "\"cdiv(R, N - 1)\", \"1\"]");
  EXPECT_TRUE(read_package(sample.folder()));
  // The constraint of at_most forbids every call that could be tried, so the expression cannot be
  // checked.
  sample.edit("target.toml", "values = [1, 3, 8]", "values = [5000, 5001]");
  sample.edit("target.toml", "cdiv(R, N - 1)", "cdiv(R, N - N)");
  EXPECT_TRUE(read_package(sample.folder()));
}

TEST(Reader, AllowsWhatOnlyALargeDimBesideASmallOneCanHave) {
  const SamplePackage sample;
  sample.edit("target.toml", "\"R\", \"1\"]", "\"N - 1500 * R\", \"1\"]");
  const auto read = read_package(sample.folder());
  EXPECT_TRUE(read) << read.error().message;
}

// Opening a pipe waits for a writer that never comes.
TEST(Reader, DoesNotWaitForAPipe) {
  for (const char* name : {"target.toml", "cubin/add.1.cubin", "cubin/add.1.json"}) {
    const SamplePackage sample;
    const auto file = sample.folder() / name;
    std::filesystem::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    const auto package = read_package(sample.folder());
    ASSERT_FALSE(package) << name;
    EXPECT_EQ(package.error().message, file.string() + ": is not a regular file");
  }
}

TEST(Reader, SaysOfALongTextHowLongItIs) {
  const SamplePackage sample;
  sample.edit("target.toml", "\"test.add\"", '"' + std::string(1 << 20, 'a') + '"');
  EXPECT_NE(without_place(read_package(sample.folder()).error().message)
                .find("target.toml: name: 1048576 characters, at most 2000 are read"),
            std::string::npos);
}

// A text with a few bytes changed, removed or duplicated.
std::string mutated(std::string text) {
  const auto count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count && !text.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(1, 9);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), length));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(ReaderLaws, NoMutationCrashesAndErrorsNameAFile) {
  const SamplePackage sample;
  const std::string files[] = {"target.toml", "cubin/add.1.cubin", "cubin/add.1.json"};
  for (const auto& file : files) {
    const std::string good = sample.read(file);
    EXPECT_TRUE(rc::check(file, [&] {
      sample.write(file, mutated(good));
      const auto package = read_package(sample.folder());
      if (!package) RC_ASSERT(package.error().message.find(sample.folder().string()) == 0);
    }));
    sample.write(file, good);
    EXPECT_TRUE(read_package(sample.folder())) << file;
  }
}

TEST(ReaderLaws, EveryTruncationOfACubinIsAnError) {
  const std::string image = test::cubin({{8, 8, 4}});
  ASSERT_TRUE(read_cubin(image, "add"));
  for (std::size_t bytes = 0; bytes < image.size(); ++bytes)
    EXPECT_FALSE(read_cubin(std::string_view(image).substr(0, bytes), "add")) << bytes;
}

}  // namespace
}  // namespace redzone::package
