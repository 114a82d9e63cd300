#include "standalone/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "core/plan_text.h"
#include "core/terminal.h"
#include "standalone/inline_sources.h"
#include "standalone/ways.h"
#include "trial/tensor_buffer.h"

namespace redzone::standalone {
namespace {

constexpr std::string_view kEntryPoint = "REDZONE_PLUGIN(";

// Formats text as a C++ literal.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 0x20 || byte >= 0x7f || c == '?')
      out += fmt::format("\\{:03o}", byte);
    else
      out += c;
  }
  return out + '"';
}
std::string literal(std::int64_t n) {
  if (n == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  return fmt::format("{}ll", n);
}
std::string literal(double x) {
  if (std::isnan(x)) return "__builtin_nan(\"\")";
  if (std::isinf(x)) return x < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  return fmt::format("{:a}", x);
}
std::string literal(bool b) {
  return b ? "true" : "false";
}

std::string list(std::span<const std::int64_t> numbers) {
  std::string out;
  for (const auto n : numbers) out += (out.empty() ? "" : ", ") + literal(n);
  return "{" + out + "}";
}

std::string value_text(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value))
    return "redzone::Value(std::int64_t{" + literal(*n) + "})";
  return "redzone::Value(std::string(" + literal(std::get<std::string>(value)) + "))";
}

// The fields are in the order of BufferJob; fields that the program sets itself are omitted.
std::string job_text(const device::BufferJob& job) {
  return fmt::format(
      "{{.size = {}, .stride = {}, .rank = {}, .dtype = {}, .fill = redzone::device::FillKind({}), "
      ".numel = {}, .lo = {}, .hi = {}, .first = {}, .last = {}, .seed = {}ull}}",
      list({job.size, job.rank}), list({job.stride, job.rank}), job.rank, job.dtype,
      static_cast<int>(job.fill), literal(job.numel), literal(job.lo), literal(job.hi),
      literal(job.first), literal(job.last), job.seed);
}

Result<std::string> tensor_text(const TensorSpec& spec, const TargetSpec& target, const Call& call,
                                const Mode& mode) {
  RZ_TRY(check_tensor(spec));
  trial::TensorBuffer buffer;
  RZ_TRY(trial::describe_tensor(spec, target, call, mode, buffer));
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  if (buffer.storage.bytes > kMostBytes)
    return usage_error(
        fmt::format("tensor '{}' has more than 1 GiB, which the program would fill "
                    "on the host; it is not exported",
                    spec.name));
  return fmt::format(
      "       {{{}, redzone::DType({}), redzone::Role({}), {}, {}, {}, {}, {},\n        {}, "
      "{}, {}}},\n",
      literal(spec.name), static_cast<int>(buffer.dtype), static_cast<int>(buffer.role),
      list(buffer.view.shape), list(buffer.view.strides), buffer.storage.bytes,
      buffer.storage.lead_bytes, buffer.storage.align_bytes, job_text(buffer.job),
      literal(buffer.view.origin_elems * static_cast<std::int64_t>(dtype_bytes(buffer.dtype))),
      buffer.storage.skew_bytes);
}

Result<std::string> call_text(const CallStep& step, const TargetSpec& spec, const Mode& mode) {
  std::string dims, config, tensors;
  for (const auto& [name, size] : step.call.dims)
    dims += fmt::format("{}{{{}, {}}}", dims.empty() ? "" : ", ", literal(name), literal(size));
  for (const auto& [name, value] : step.call.config)
    config +=
        fmt::format("{}{{{}, {}}}", config.empty() ? "" : ", ", literal(name), value_text(value));
  for (const TensorSpec& tensor : spec.tensors) {
    auto text = tensor_text(tensor, spec, step.call, mode);
    if (!text) return text;
    tensors += *text;
  }
  return fmt::format("      {{{{{}}},\n       {{{}}},\n       {}, {}, {{\n{}       }}}},\n", dims,
                     config, step.repeat, step.stream, tensors);
}

const char* order_name(Launch launch) {
  switch (launch) {
    case Launch::blocking:
      return "blocking";
    case Launch::async:
      return "async";
    case Launch::gated:
      return "gated";
  }
  return "";
}

Result<std::string> trials_text(FailKind kind, const Mode& mode) {
  RZ_TRY_ASSIGN(const auto ways, ways_to_run(kind, mode));
  std::string out;
  for (const Way& way : ways)
    out += fmt::format("      {{{}, redzone::standalone::Order::{}, {}, {:#010x}u, {}}},\n",
                       literal(way.what), order_name(way.mode.launch),
                       literal(way.mode.placement == Placement::guard_after), way.mode.poison,
                       literal(way.alone));
  return out;
}

struct Steps {
  const TargetSpec& spec;
  const Mode& mode;
  std::string calls = {}, steps = {};
  std::int64_t count = 0, streams = 1;

  void add(const char* kind, std::int64_t call, std::int64_t stream, std::int64_t on) {
    steps += fmt::format("      {{redzone::standalone::StepData::Kind::{}, {}, {}, {}}},\n", kind,
                         call, stream, on);
    streams = std::max({streams, stream + 1, on + 1});
  }
  Result<void> operator()(const CallStep& step) {
    if (step.graph != 0) return usage_error("a plan with graphs is not exported");
    RZ_TRY_ASSIGN(auto text, call_text(step, spec, mode));
    calls += text;
    add("call", count++, step.stream, 0);
    return {};
  }
  Result<void> operator()(const SyncStep&) {
    add("sync", 0, 0, 0);
    return {};
  }
  Result<void> operator()(const WaitStep& step) {
    add("wait", 0, step.stream, step.on);
    return {};
  }
  Result<void> operator()(const ReplayStep&) {
    return usage_error("a plan with graphs is not exported");
  }
};

std::string commented(std::string_view text) {
  std::string out;
  std::istringstream in{std::string(text)};
  for (std::string raw; std::getline(in, raw);) {
    std::string line = printable(raw);
    // A backslash at the end would extend the comment to the next line.
    while (!line.empty() && (line.back() == '\\' || line.back() == ' ')) line.pop_back();
    out += line.empty() ? "//\n" : "// " + line + '\n';
  }
  return out;
}

// True if a line uses REDZONE_PLUGIN, rather than defines or mentions it.
bool has_entry_point(const std::string& source) {
  std::istringstream in(source);
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, kEntryPoint.size(), kEntryPoint) == 0)
      return true;
  }
  return false;
}

}  // namespace

Result<std::string> program_text(const ProgramRequest& request) {
  const Plan& plan = *request.plan;
  const TargetSpec& spec = *request.spec;
  if (plan.mode.allocator != Allocator::guard)
    return usage_error("the plan's allocator is not 'guard', the only one that the program has");
  auto trials = trials_text(request.kind, plan.mode);
  if (!trials) return trials;
  Steps steps{spec, plan.mode};
  for (const Step& step : plan.steps) RZ_TRY(std::visit(steps, step));
  std::string entry;
  if (!request.registers.empty() && has_entry_point(request.source))
    return usage_error(fmt::format(
        "--register {} is for a source without REDZONE_PLUGIN, and this one registers its targets "
        "with it: leave --register out",
        request.registers));
  if (!request.registers.empty())
    entry =
        fmt::format("\nREDZONE_PLUGIN(registrar) {{\n  {}(registrar);\n}}\n", request.registers);
  std::string compiler, arguments = "program(), redzone_plugin()";
  if (spec.needs_nvrtc) {
    compiler = fmt::format("const char* const kernel_header = R\"rz_text({})rz_text\";\n\n",
                           *public_header("redzone/kernel.h"));
    arguments += ", {&redzone::standalone::compile, kernel_header}";
  }
  return fmt::format(
      "{}//\n// Exit code: 1 the failure shows, 0 it does not, 3 it cannot run here.\n//\n"
      "// The plan:\n//\n{}{}{}\n"
      "namespace {{\n\n{}redzone::standalone::Program program() {{\n  return {{\n"
      "      {}, {}, {}, {},\n      {{\n{}      }},\n      {{\n{}      }},\n      {{\n{}      "
      "}}}};\n"
      "}}\n\n}}  // namespace\n\n"
      "int main() {{\n  redzone::standalone::run_on_cuda({});\n}}\n",
      commented(request.comment), commented(print_plan(plan)), request.source, entry, compiler,
      literal(spec.name), steps.streams, spec.side_streams, literal(!spec.concurrent_calls),
      steps.calls, steps.steps, *trials, arguments);
}

}  // namespace redzone::standalone
