#include "trial/thrown.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <regex>
#include <string_view>
#include <typeinfo>

#include "core/trial.h"
#include "core/utf8.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kMostBytes = 100;   // of a type name or a text in a code
constexpr std::size_t kMostLooked = 300;  // of the text that is examined

// Replaces values that may depend on the call or the machine: "size [2, 3] at 0x7f20ab" and "size
// [2, 3, 4] at /tmp/a" both become "size # at #".
std::string without_values(const std::string& line) {
  static const std::regex paths(R"((^|[\s'"(=:])/[^\s'")]+)");
  static const std::regex numbers(
      R"([-+]?([0-9]+(\.[0-9]+)?[eE][-+]?[0-9]+|0[xX][0-9a-fA-F]+|[0-9][0-9a-fA-F]*(\.[0-9]+)?))");
  static const std::regex lists(R"(#([,x:]?\s*#)+)");
  std::string out = std::regex_replace(line, paths, "$1#");
  out = std::regex_replace(out, numbers, "#");
  out = std::regex_replace(out, lists, "#");
  std::ranges::replace_if(
      out, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return out;
}

std::string readable(const char* type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type, nullptr, nullptr, &status), std::free);
  return name ? name.get() : type;
}

std::string beginning(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + first_character(text.substr(end)).bytes;
    if (next > kMostBytes) break;
    end = next;
  }
  return valid_utf8(text.substr(0, end));
}

std::string code_of(const char* type, std::string_view text) {
  text = text.substr(0, kMostLooked);
  const std::string line(text.substr(0, text.find('\n')));
  const std::string words = beginning(without_values(line));
  return fmt::format("{}{}{}{}", kException, beginning(readable(type)), words.empty() ? "" : ": ",
                     words);
}

// `text` may be null: an exception of the target may return null from what().
Thrown told_by(const std::type_info& type, const char* text) {
  if (text == nullptr) text = "";
  return {code_of(type.name(), {text, ::strnlen(text, kMostLooked)}), text};
}

}  // namespace

Thrown thrown_now() {
  try {
    throw;
  } catch (const CodedError& e) {
    return {e.code(), e.what()};
  } catch (const std::bad_alloc& e) {
    return {code_of(typeid(e).name(), ""), told_by(typeid(e), e.what()).text};
  } catch (const std::exception& e) {
    return told_by(typeid(e), e.what());
  } catch (const std::string& text) {
    return told_by(typeid(text), text.c_str());
  } catch (const char* text) {
    return told_by(typeid(text), text);
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return type == nullptr ? Thrown{std::string(kException) + "unknown", ""}
                           : told_by(*type, nullptr);
  }
}

}  // namespace redzone::trial
