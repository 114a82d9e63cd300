// A kernel package, read and checked: plain values for the format in src/targets/triton/README.md.
#pragma once

#include <redzone/spec.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/enum_names.h"
#include "described/description.h"
#include "package/cubin.h"

namespace redzone::package {

using described::Expression;
using described::Tensor;
using described::Values;

// The value of a constexpr argument; booleans are 0 and 1.
using Constant = std::variant<std::int64_t, double, std::string>;
std::string text_of(const Constant& constant);

// A number that the compiled kernel receives by value.
struct Scalar {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real, brain_real };
  Kind kind = Kind::signed_integer;
  int bits = 32;  // 1 for a boolean, which occupies a byte

  std::size_t bytes() const { return bits == 1 ? 1 : static_cast<std::size_t>(bits) / 8; }
  bool is_integer() const { return kind <= Kind::unsigned_integer; }
};

// holds(): whether an integer type can represent this value. name_of(): the type's name, "i32".
bool holds(const Scalar& type, std::int64_t value);
std::string name_of(const Scalar& type);

// A parameter of the kernel's source.
struct Argument {
  enum class Kind : std::uint8_t { tensor, integer, real, constant };
  std::string name;
  Kind kind = Kind::tensor;
  std::size_t tensor = 0;           // index in Package::tensors
  Scalar type = {};                 // integer and real
  std::optional<Expression> value;  // for all kinds except tensor; absent: see the next two members
  std::string knob;  // if not "": the constant is the value of this knob, whose values are strings
  Constant plain = std::int64_t{0};  // a constant or real without dependencies
  bool specialized = false;          // variants differ in its class
};

// Triton's class of an integer or an address. 0 is a multiple of 16.
enum class Class : std::uint8_t { one, sixteen, other };
constexpr auto enum_table(Class) {
  return enum_names<Class>("class of an argument",
                           {{Class::one, "1"}, {Class::sixteen, "16"}, {Class::other, "other"}});
}

struct ScratchRule {
  std::size_t bytes = 0;  // per CTA
  std::size_t align = 1;
};

// A cubin and Triton's metadata for it.
struct Compiled {
  std::string file;   // "my_add.000"
  std::string image;  // the ELF file
  CubinFacts facts;
  int warps = 4;                 // warps per CTA, 32 threads each
  int ctas = 1;                  // CTAs per cluster; a program of the grid is a cluster
  std::size_t shared_bytes = 0;  // dynamic shared memory of a CTA
  ScratchRule global, profile;
  bool cooperative = false;  // the whole grid runs at once
  bool dependent = false;    // launch_pdl: may start before the preceding kernel has ended
};

struct Variant {
  std::size_t compiled = 0;  // index in Package::compiled
  Config knobs;
  std::vector<Constant> constants;            // values of the constexpr arguments, in order
  std::vector<std::optional<Class>> classes;  // by argument; absent: not specialized
  std::vector<std::size_t> passed;            // arguments that the compiled kernel receives, in
                                              // order
};

struct Package : described::Description {
  std::filesystem::path folder;
  std::string kernel;
  std::string triton;              // version that compiled it
  std::string reference;           // "": none
  int arch = 0;                    // 90
  std::vector<Expression> grid;    // three extents, in programs; may use num_sms
  std::vector<std::string> tuned;  // knobs that a launcher may choose, because they do not affect
                                   // results
  std::vector<Argument> arguments;
  std::vector<Compiled> compiled;
  std::vector<Variant> variants;
  // Variants by variant_key(): those with the same key differ only in the classes of addresses.
  std::unordered_map<std::string, std::vector<std::size_t>> by_key;
  std::string code_hash;  // hash of target.toml, the cubins and their metadata; 32 hex digits
};

// A key for the calls that a variant serves, apart from addresses. `constants` are those of the
// constexpr arguments in order, `classes` those of all arguments.
std::string variant_key(const Package& package, const Config& knobs,
                        const std::vector<Constant>& constants,
                        const std::vector<std::optional<Class>>& classes);

// Bytes of each parameter of the compiled kernel: the arguments that are passed, then the pointers
// to global scratch and to profile scratch (Triton 3.6, the launcher of its NVIDIA backend).
std::vector<std::size_t> parameter_bytes(const Package& package, const Variant& variant);

}  // namespace redzone::package
