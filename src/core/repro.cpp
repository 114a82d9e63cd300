#include "core/repro.h"

#include <fmt/format.h>

#include <array>

#include "core/names.h"
#include "core/plan_text.h"
#include "core/terminal.h"
#include "core/toml.h"

namespace redzone {
namespace {

// The optional parts of a signature and their keys.
std::array<std::pair<std::string_view, std::string Signature::*>, 4> signature_parts() {
  return {{{"where", &Signature::where},
           {"buffer", &Signature::buffer},
           {"side", &Signature::side},
           {"access", &Signature::access}}};
}

Result<void> read_expect(const toml::table& table, std::string_view where, Repro& repro) {
  Signature signature;
  signature.target = repro.plan.target;
  std::string kind;
  for (const auto& [key, node] : table) {
    const auto* text = node.as_string();
    const auto& at = node.source().begin;
    const auto error = [&](std::string_view what) {
      return usage_error(fmt::format("{}:{}:{}: [expect] {}", where, at.line, at.column, what));
    };
    if (text == nullptr) return error(fmt::format("'{}' must be a string", key.str()));
    bool known = true;
    if (key.str() == "oracle") {
      repro.oracle = text->get();
    } else if (key.str() == "kind") {
      kind = text->get();
    } else {
      known = false;
      for (const auto& [name, part] : signature_parts()) {
        if (key.str() != name) continue;
        signature.*part = text->get();
        known = true;
      }
    }
    if (!known) return error(fmt::format("has no key '{}'", key.str()));
  }
  auto parsed = parse_name<FailKind>(kind);
  if (!parsed)
    return usage_error(fmt::format("{}: [expect] kind: {}", where, parsed.error().message));
  if (repro.oracle.empty())
    return usage_error(fmt::format("{}: [expect] key 'oracle' is missing", where));
  signature.kind = *parsed;
  repro.signature = signature;
  return {};
}

}  // namespace

std::string print_repro(const Repro& repro, std::string_view comment) {
  std::string out;
  while (!comment.empty()) {
    const auto end = comment.find('\n');
    const auto line = comment.substr(0, end);
    out += line.empty() ? "#\n" : fmt::format("# {}\n", printable(line));
    comment = end == std::string_view::npos ? std::string_view() : comment.substr(end + 1);
  }
  if (!out.empty()) out += '\n';
  const std::string plan = print_plan(repro.plan);
  if (!repro.signature) return out + plan;
  // Before the steps, so that the file reads as: what, how, and then the sequence.
  std::string expect = fmt::format("[expect]\noracle = {}\nkind = {}\n", print_value(repro.oracle),
                                   print_value(std::string(name_of(repro.signature->kind))));
  for (const auto& [name, part] : signature_parts())
    if (const std::string& v = (*repro.signature).*part; !v.empty())
      expect += fmt::format("{} = {}\n", name, print_value(v));
  const auto steps = plan.find("\n[[step]]\n");
  return out + plan.substr(0, steps + 1) + expect + plan.substr(steps);
}

Result<Repro> parse_repro(std::string_view text, std::string_view where) {
  RZ_TRY_ASSIGN(auto plan, parse_plan(text, where));
  Repro repro{std::move(plan), {}, {}};
  const auto document = parse_toml(text);
  RZ_CHECK(document);  // parse_plan() has shown that it parses
  const toml::node* expect = document->get("expect");
  if (expect == nullptr) return repro;
  if (expect->as_table() == nullptr)
    return usage_error(fmt::format("{}: 'expect' must be a table", where));
  RZ_TRY(read_expect(*expect->as_table(), where, repro));
  return repro;
}

}  // namespace redzone
