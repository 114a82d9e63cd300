#include "fuzz/package_folder.h"

#include <array>
#include <fstream>
#include <string>

#include "fuzz/harness.h"
#include "package/packages.h"
#include "package/sample.h"

namespace redzone::fuzz {
namespace {

// One variant with each kind of argument.
constexpr std::string_view kDescription = R"toml(redzone_package = 1
name = "test.add"
kernel = "add"
triton = "3.6.0"
arch = 90
reference = ""
deterministic = true
work = "N"
grid = ["cdiv(N, BLOCK)", "1", "1"]

[[dim]]
name = "N"
values = [1, 3, 128]

[[tensor]]
name = "x"
dtype = "f32"
role = "in"
shape = ["N"]
align_bytes = 4

[[knob]]
name = "BLOCK"
values = [128]
tune = true

[[argument]]
name = "x"
kind = "tensor"
type = "*fp32"
value = "x"

[[argument]]
name = "n"
kind = "int"
type = "i32"
value = "N"

[[argument]]
name = "factor"
kind = "float"
type = "fp32"
value = 1.5

[[argument]]
name = "BLOCK"
kind = "constexpr"
value = "BLOCK"

[[variant]]
file = "add"
knobs = { BLOCK = 128 }
constants = { BLOCK = 128 }
classes = { x = "16", n = "other" }
dropped = ["BLOCK"]
)toml";

}  // namespace

PackageFolder::PackageFolder() {
  std::filesystem::create_directory(folder_.path() / "cubin");
  package::test::CubinParts parts;
  // x, n, factor, and the pointers to global and to profile scratch.
  parts.parameter_bytes = {8, 4, 4, 8, 8};
  write("target.toml", kDescription);
  write("cubin/add.cubin", package::test::cubin(parts));
  write("cubin/add.json", package::test::metadata(1));
  require(read(), "the package that the input takes a file of is sound");
}

void PackageFolder::write(const char* name, std::string_view text) const {
  std::ofstream out(folder_.path() / name, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

bool PackageFolder::read() const {
  Registry registry;
  return package::add_packages(registry, std::array{folder_.path()}).has_value();
}

}  // namespace redzone::fuzz
