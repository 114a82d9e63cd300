#include "trial/thrown.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>

#include "core/utf8.h"

namespace redzone::trial {
namespace {

constexpr std::size_t kMostBytes = 100;  // of a text in a code

bool is_of(const char* characters, char c) {
  return c != '\0' && std::string_view(characters).find(c) != std::string_view::npos;
}

// "size #" of "size 0x7f20", "size 3.5" and "size 12".
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (!is_of("0123456789", c)) {
      out += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
      continue;
    }
    out += '#';
    while (i < text.size() && is_of("0123456789abcdefABCDEFxX.", text[i])) ++i;
    if (text[i - 1] == '.') --i;  // the end of a sentence
  }
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
  const std::string words = beginning(without_numbers(text.substr(0, text.find('\n'))));
  return fmt::format("exception: {}{}{}", readable(type), words.empty() ? "" : ": ", words);
}

}  // namespace

Thrown thrown_now() {
  try {
    throw;
  } catch (const CodedError& e) {
    return {e.code(), e.what()};
  } catch (const std::bad_alloc& e) {
    return {code_of(typeid(e).name(), ""), e.what()};
  } catch (const std::exception& e) {
    return {code_of(typeid(e).name(), e.what()), e.what()};
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    return {code_of(type != nullptr ? type->name() : "unknown", ""), "no std::exception"};
  }
}

}  // namespace redzone::trial
