#include "standalone/python_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include "core/json.h"
#include "core/plan_text.h"
#include "core/repeats.h"
#include "core/spec_names.h"
#include "core/terminal.h"
#include "core/tolerance.h"
#include "standalone/ways.h"
#include "standalone_arrays_py.h"
#include "standalone_failure_py.h"
#include "standalone_fills_py.h"
#include "standalone_memory_py.h"
#include "standalone_processes_py.h"
#include "standalone_stand_in_py.h"
#include "standalone_trials_py.h"
#include "trial/tensor_buffer.h"

namespace redzone::standalone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Python fills buffers element by element.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
// Time after which a trial counts as a hang; it must suffice for imports.
constexpr int kHangSeconds = 60, kMostSeconds = 3600;

// A module uses only those before it.
constexpr std::string_view kModules[] = {
    standalone_failure_py, standalone_stand_in_py,  standalone_fills_py, standalone_memory_py,
    standalone_arrays_py,  standalone_processes_py, standalone_trials_py};

std::string modules_text() {
  std::string out;
  for (const auto module : kModules) {
    std::istringstream in{std::string(module)};
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with("from .")) out += line + '\n';
    out += "\n\n";
  }
  return out;
}

std::string_view fill_name(device::FillKind kind) {
  switch (kind) {
    case device::FillKind::uniform:
      return "uniform";
    case device::FillKind::integers:
      return "integers";
    case device::FillKind::offsets:
      return "offsets";
    case device::FillKind::constant:
      return "constant";
    case device::FillKind::poison:
      return "poison";
    case device::FillKind::sparse:
      return "sparse";
    case device::FillKind::special:
      return "special";
  }
  return "";
}

Result<Json> tensor_json(const TensorSpec& spec, const TargetSpec& target, const Call& call,
                         const Mode& mode) {
  RZ_TRY(check_tensor(spec));
  trial::TensorBuffer buffer;
  RZ_TRY(trial::describe_tensor(spec, target, call, mode, buffer));
  const device::BufferJob& job = buffer.job;
  if (job.numel > kMostElements)
    return usage_error(
        fmt::format("tensor '{}' has more than {} elements, which Python would fill one by one; "
                    "reduce the finding first",
                    spec.name, kMostElements));
  const Tolerance tolerance = tolerance_of(spec, buffer.dtype, target, call.config);
  return Json{{"dtype", name_of(buffer.dtype)},
              {"role", name_of(buffer.role)},
              {"shape", buffer.view.shape},
              {"strides", buffer.view.strides},
              {"storage_bytes", buffer.storage.bytes},
              {"lead_bytes", buffer.storage.lead_bytes},
              {"origin_bytes",
               buffer.view.origin_elems * static_cast<std::int64_t>(dtype_bytes(buffer.dtype))},
              {"align", buffer.storage.align_bytes},
              {"skew", buffer.storage.skew_bytes},
              {"tolerance", {tolerance.abs, tolerance.rel}},
              {"real", name_of(static_cast<DType>(job.dtype))},
              {"numel", job.numel},
              {"size", std::vector<std::int64_t>(job.size, job.size + job.rank)},
              {"stride", std::vector<std::int64_t>(job.stride, job.stride + job.rank)},
              {"fill",
               {{"kind", fill_name(job.fill)},
                {"lo", job.lo},
                {"hi", job.hi},
                {"first", job.first},
                {"last", job.last},
                {"seed", job.seed}}}};
}

// For each knob, the index of its value among the values that the file gives: the plan has only the
// text of most values, which does not identify them.
Result<Json> knobs_json(const Call& call, const TargetSpec& spec) {
  Json out = Json::object();
  for (const KnobSpec& knob : spec.knobs) {
    const auto given = call.config.find(knob.name);
    if (given == call.config.end()) continue;
    const auto at = std::find(knob.values.begin(), knob.values.end(), given->second);
    if (at == knob.values.end())
      return usage_error(fmt::format("knob '{}' has no longer the plan's value", knob.name));
    out[knob.name] = at - knob.values.begin();
  }
  return out;
}

Result<Json> call_json(const CallStep& step, const TargetSpec& spec, const Mode& mode) {
  if (step.graph != 0) return usage_error("a plan with graphs is not exported");
  Json dims = Json::object(), tensors = Json::object();
  for (const auto& [name, size] : step.call.dims) dims[name] = size;
  RZ_TRY_ASSIGN(const auto knobs, knobs_json(step.call, spec));
  for (const TensorSpec& tensor : spec.tensors) {
    RZ_TRY_ASSIGN(tensors[tensor.name], tensor_json(tensor, spec, step.call, mode));
  }
  return Json{{"dims", dims},
              {"knobs", knobs},
              {"repeat", step.repeat},
              {"seed", step.call.seed},
              {"tensors", tensors}};
}

Json trials_json(const std::vector<Way>& ways) {
  Json out = Json::array();
  for (const Way& way : ways)
    out.push_back({{"what", way.what},
                   {"after", way.mode.placement == Placement::guard_after},
                   {"poison", way.mode.poison},
                   {"alone", way.alone}});
  return out;
}

// The ways to run Python code, which runs synchronously on a CPU.
Result<std::vector<Way>> ways_of(FailKind kind, const Mode& mode) {
  if (kind == FailKind::reference) return ways_to_run(FailKind::fault, mode);
  if (kind == FailKind::async)
    return usage_error("a failure that depends on launch modes is not exported from Python");
  return ways_to_run(kind, mode);
}

// True if memory that the calls allocate themselves must be poisoned and guarded to reproduce the
// failure.
bool guards_empty(const Signature& signature, const TargetSpec& spec) {
  if (signature.kind == FailKind::uninitialized) return true;
  if (signature.kind != FailKind::illegal_access && signature.kind != FailKind::redzone)
    return false;
  return std::none_of(spec.tensors.begin(), spec.tensors.end(),
                      [&](const TensorSpec& t) { return t.name == signature.buffer; });
}

// True if trials of the kind differ in addresses, by chance or by the placement of their buffers.
// Forked processes share the addresses of their parent.
bool compares_addresses(FailKind kind) {
  return kind == FailKind::nondeterministic || kind == FailKind::placement ||
         kind == FailKind::divergence;
}

// The modules beside the file that it imports.
std::vector<std::string> imported_beside(const fs::path& file, const std::string& source) {
  static const std::regex import(R"(^\s*(import|from)\s+(.*))"), name(R"(^\s*([A-Za-z_]\w*))");
  std::vector<std::string> found;
  std::istringstream in(source);
  for (std::string line; std::getline(in, line);) {
    std::smatch match, module;
    if (!std::regex_match(line, match, import)) continue;
    std::istringstream all(match[2]);
    for (std::string part; std::getline(all, part, match[1] == "from" ? '\0' : ',');) {
      if (!std::regex_search(part, module, name)) continue;
      std::error_code error;
      const fs::path path = file.parent_path() / module[1].str();
      if (fs::is_regular_file(path.string() + ".py", error) || fs::is_directory(path, error))
        found.push_back(module[1]);
    }
  }
  return found;
}

Result<Json> plan_json(const PythonRequest& request, const std::string& folder) {
  const Plan& plan = *request.plan;
  RZ_TRY_ASSIGN(const auto ways, ways_of(request.signature.kind, plan.mode));
  Json calls = Json::array(), steps = Json::array();
  for (const Step& step : plan.steps) {
    if (const auto* call = std::get_if<CallStep>(&step)) {
      steps.push_back(calls.size());
      RZ_TRY_ASSIGN(auto made, call_json(*call, *request.spec, plan.mode));
      calls.push_back(std::move(made));
    } else if (std::holds_alternative<SyncStep>(step)) {
      steps.push_back(nullptr);
    } else if (std::holds_alternative<ReplayStep>(step)) {
      return usage_error("a plan with graphs is not exported");
    }  // waits are dropped: streams run in the order of the calls
  }
  return Json{{"target", plan.target},
              {"file", request.file.filename().string()},
              {"folder", folder},
              {"device", request.on_gpu ? "cuda" : "cpu"},
              {"reference", request.signature.kind == FailKind::reference},
              {"guards_empty", guards_empty(request.signature, *request.spec)},
              {"own_buffers", repeats_have_own_buffers(*request.spec)},
              {"forks", !compares_addresses(request.signature.kind)},
              {"timeout_s", request.signature.kind == FailKind::hang ? kHangSeconds : kMostSeconds},
              {"trials", trials_json(ways)},
              {"steps", steps},
              {"calls", calls}};
}

// JSON with one line for each tensor. It never contains three quotes in a row, which would end a
// raw string.
std::string plan_text(const Json& plan) {
  std::string out = "{";
  for (const auto& [key, value] : plan.items()) {
    if (key == "calls") continue;
    out += fmt::format("\n  {}: {},", Json(key).dump(), value.dump());
  }
  out += "\n  \"calls\": [";
  std::string call_end;
  for (const Json& call : plan["calls"]) {
    out += call_end + "\n    {";
    for (const auto& [key, value] : call.items())
      if (key != "tensors") out += fmt::format("{}: {}, ", Json(key).dump(), value.dump());
    out += "\"tensors\": {";
    std::string tensor_end;
    for (const auto& [name, tensor] : call["tensors"].items()) {
      out += fmt::format("{}\n      {}: {}", tensor_end, Json(name).dump(), tensor.dump());
      tensor_end = ",";
    }
    out += "}}";
    call_end = ",";
  }
  return out + "\n  ]\n}";
}

// A Python literal with exactly this text: a raw string, or its lines if a raw string is
// impossible.
std::string source_literal(const std::string& source) {
  const bool raw = source.find("'''") == std::string::npos && source.ends_with('\n') &&
                   source.find('\r') == std::string::npos;
  if (raw) return "r'''" + source + "'''";
  static const std::regex quote("'");
  std::string out = "''.join([\n";
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
    const std::string line = Json(source.substr(at, end - at)).dump(-1, ' ', true);
    out += "    json.loads(r'''" + std::regex_replace(line, quote, "\\u0027") + "'''),\n";
    at = end;
  }
  return out + "])";
}

std::string commented(std::string_view text) {
  std::string out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    line = printable(line);
    out += line.empty() ? "#\n" : "# " + line + '\n';
  }
  return out;
}

std::string_view memory_note(const PythonRequest& request) {
  if (request.on_gpu)
    return "Tensors lie between canaries, since memory of a GPU cannot be guarded by torch alone: "
           "writes around\nthem show, and reads need the line above.";
  return "Arguments lie at pages that nobody may access, and an access of one ends the process; so "
         "does what\ntorch.empty() and its kin return where the failure is about it. Other memory "
         "that the code takes by\nitself is only guarded by the line above.";
}

}  // namespace

Result<std::string> python_program_text(const PythonRequest& request) {
  if (request.plan->mode.allocator != Allocator::guard)
    return usage_error("the plan's allocator is not 'guard', the only one that the program has");
  const auto beside = imported_beside(request.file, request.source);
  std::error_code error;
  const std::string folder =
      beside.empty() ? "" : fs::absolute(request.file, error).parent_path().string();
  try {
    RZ_TRY_ASSIGN(const auto plan, plan_json(request, folder));
    std::string note;
    if (!beside.empty())
      note = fmt::format("\nIt imports {} from {}.\n", fmt::join(beside, ", "), folder);
    return fmt::format(
        "#!/usr/bin/env python3\n{}#\n"
        "# Exit code: 1 the failure shows, 0 it does not, 3 it cannot run here.\n"
        "# With Redzone: {}\n#\n{}{}#\n# The plan:\n#\n{}\nimport json\n\n"
        "# The file of the target.\nSOURCE = {}\n\nPLAN = json.loads(r\"\"\"{}\"\"\")\n\n\n{}"
        "if __name__ == \"__main__\":\n    sys.exit(main(PLAN, SOURCE))\n",
        commented(request.comment), printable(request.replay), commented(memory_note(request)),
        commented(note), commented(print_plan(*request.plan)), source_literal(request.source),
        plan_text(plan), modules_text());
  } catch (const Json::exception&) {
    return usage_error(request.file.string() + " or a name in it is no UTF-8");
  }
}

}  // namespace redzone::standalone
