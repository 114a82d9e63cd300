#include "described/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <mutex>
#include <stdexcept>

#include "core/names.h"

namespace redzone::described {
namespace {

// Much longer than any description needs, and short enough to parse instantly.
constexpr std::size_t kMostCharacters = 2000;

// The operator `not` for muParser. No text can contain it, because `!` is not in the grammar.
constexpr const char* kNot = "!";

// An operation has no exact result; caught by the functions that evaluate an expression.
struct NoValue : std::domain_error {
  using std::domain_error::domain_error;
};
// An error that does not depend on the values of names.
struct Misuse : std::logic_error {
  using std::logic_error::logic_error;
};

std::int64_t exact(__int128 value) {
  if (value > kMostExact || value < -kMostExact)
    throw NoValue("comes to a value beyond 2^53, which is not exact");
  return static_cast<std::int64_t>(value);
}

// Operands are results of exact(), literals or checked variables: integers up to 2^53.
std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}
double result(__int128 value) {
  return static_cast<double>(exact(value));
}

std::int64_t floor_div(double a, double b) {
  if (b == 0) throw NoValue("divides by zero");
  const std::int64_t x = whole(a), y = whole(b);
  return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
}

double plus(double a, double b) {
  return result(__int128{whole(a)} + whole(b));
}
double subtract(double a, double b) {
  return result(__int128{whole(a)} - whole(b));
}
double multiply(double a, double b) {
  return result(__int128{whole(a)} * whole(b));
}
double negate(double a) {
  return a == 0 ? 0 : -a;
}
double is_zero(double a) {
  return a == 0;
}
double both(double a, double b) {
  return a != 0 && b != 0;
}
double either(double a, double b) {
  return a != 0 || b != 0;
}
double equal(double a, double b) {
  return a == b;
}
double unequal(double a, double b) {
  return a != b;
}
double less(double a, double b) {
  return a < b;
}
double at_most(double a, double b) {
  return a <= b;
}
double greater(double a, double b) {
  return a > b;
}
double at_least(double a, double b) {
  return a >= b;
}
double floordiv(double a, double b) {
  return result(floor_div(a, b));
}
// With the sign of the divisor, as in Python.
double modulo(double a, double b) {
  return result(__int128{whole(a)} - __int128{floor_div(a, b)} * whole(b));
}
double cdiv(double a, double b) {
  return result(-__int128{floor_div(negate(a), b)});
}
double next_power_of_2(double x) {
  return x <= 1 ? 1 : result(std::bit_ceil(static_cast<std::uint64_t>(whole(x))));
}
double smallest(const double* first, int count) {
  if (count < 2) throw Misuse("calls min with fewer than two values");
  return *std::min_element(first, first + count);
}
double largest(const double* first, int count) {
  if (count < 2) throw Misuse("calls max with fewer than two values");
  return *std::max_element(first, first + count);
}

void set_grammar(mu::Parser& parser) {
  parser.ClearFun();
  parser.ClearConst();
  parser.ClearOprt();
  parser.ClearInfixOprt();
  parser.ClearPostfixOprt();
  parser.EnableBuiltInOprt(false);  // keeps `c ? a : b` and parentheses
  parser.DefineOprt("||", either, mu::prLOR);
  parser.DefineOprt("&&", both, mu::prLAND);
  parser.DefineOprt("==", equal, mu::prCMP);
  parser.DefineOprt("!=", unequal, mu::prCMP);
  parser.DefineOprt("<", less, mu::prCMP);
  parser.DefineOprt("<=", at_most, mu::prCMP);
  parser.DefineOprt(">", greater, mu::prCMP);
  parser.DefineOprt(">=", at_least, mu::prCMP);
  parser.DefineOprt("+", plus, mu::prADD_SUB);
  parser.DefineOprt("-", subtract, mu::prADD_SUB);
  parser.DefineOprt("*", multiply, mu::prMUL_DIV);
  parser.DefineOprt("//", floordiv, mu::prMUL_DIV);
  parser.DefineOprt("%", modulo, mu::prMUL_DIV);
  // Negates the comparison that follows, and binds tighter than `and`.
  parser.DefineInfixOprt(kNot, is_zero, mu::prLOGIC, false);
  // Binds tighter than the product, so that the sign applies only to its operand.
  parser.DefineInfixOprt("-", negate, mu::prPOW, false);
  parser.DefineFun("cdiv", cdiv, false);
  parser.DefineFun("floordiv", floordiv, false);
  parser.DefineFun("next_power_of_2", next_power_of_2, false);
  parser.DefineFun("min", smallest, false);
  parser.DefineFun("max", largest, false);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Maps words that are operators to muParser's symbols.
std::string_view as_operator(std::string_view word) {
  if (word == "and") return "&&";
  if (word == "or") return "||";
  if (word == "not") return kNot;
  return word;
}

// The text for muParser. An error for characters and numbers outside of the grammar, which muParser
// might accept.
tl::expected<std::string, std::string> for_parser(std::string_view text) {
  const auto fail = [](std::string problem) { return tl::unexpected(std::move(problem)); };
  if (text.size() > kMostCharacters)
    return fail(
        fmt::format("has {} characters, at most {} are read", text.size(), kMostCharacters));
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char c = text[i];
    const std::string_view two = text.substr(i, 2);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      __int128 number = 0;
      for (; i < text.size() && is_word(text[i]); ++i) {
        if (std::isdigit(static_cast<unsigned char>(text[i])) == 0)
          return fail(fmt::format("'{}' follows a number", text[i]));
        number = number * 10 + (text[i] - '0');
        if (number > kMostExact) return fail("has a number beyond 2^53");
      }
    } else if (is_word(c)) {
      while (i < text.size() && is_word(text[i])) ++i;
      out += as_operator(text.substr(begin, i - begin));
      continue;
    } else if (two == "&&" || two == "||" || two == "==" || two == "!=" || two == "<=" ||
               two == ">=" || two == "//") {
      i += 2;
    } else if (c == '/') {
      return fail("has no '/': write cdiv(a, b) or floordiv(a, b)");
    } else if (std::string_view(" +-*%()<>?:,").find(c) != std::string_view::npos) {
      ++i;
    } else {
      return fail(fmt::format("has the character {:#04x}, which is not allowed in an expression",
                              static_cast<unsigned char>(c)));
    }
    out += text.substr(begin, i - begin);
  }
  return out;
}

}  // namespace

struct Expression::Compiled {
  std::string text;
  std::vector<std::string> names;
  std::mutex in_use;            // guards the members below
  std::vector<double> current;  // by name
  mu::Parser parser;
};

tl::expected<Expression, std::string> Expression::parse(const std::string& text,
                                                        std::span<const std::string> known) {
  const auto fail = [&](std::string_view what) {
    return tl::unexpected(fmt::format("'{}' {}", text.substr(0, 80), what));
  };
  if (text.find_first_not_of(' ') == std::string::npos) return fail("is empty");
  const auto parsed = for_parser(text);
  if (!parsed) return fail(parsed.error());
  auto compiled = std::make_shared<Compiled>();
  compiled->text = text;
  try {
    set_grammar(compiled->parser);
    compiled->parser.SetExpr(*parsed);
    for (const auto& [name, unset] : compiled->parser.GetUsedVar()) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fail(fmt::format("has the unknown name '{}'{}", name,
                                did_you_mean(name, {known.begin(), known.end()})));
      compiled->names.push_back(name);
    }
    // Assigned once, so that the addresses of the elements stay valid.
    compiled->current.assign(compiled->names.size(), 1.0);
    for (std::size_t i = 0; i < compiled->names.size(); ++i)
      compiled->parser.DefineVar(compiled->names[i], &compiled->current[i]);
    compiled->parser.Eval();
    if (compiled->parser.GetNumResults() != 1) return fail("is more than one expression");
  } catch (const mu::ParserError& e) {
    return fail(fmt::format("is not an expression: {}", e.GetMsg()));
  } catch (const NoValue& e) {
    // All names are 1 here; an expression without names can never have a value.
    if (compiled->names.empty()) return fail(e.what());
  } catch (const Misuse& e) {
    return fail(e.what());
  }
  return Expression(std::move(compiled));
}

const std::string& Expression::text() const {
  return compiled_->text;
}

const std::vector<std::string>& Expression::names() const {
  return compiled_->names;
}

tl::expected<std::int64_t, std::string> Expression::value(const Values& values) const {
  Compiled& c = *compiled_;
  const auto fail = [&](std::string_view what) {
    return tl::unexpected(fmt::format("'{}' {}", c.text, what));
  };
  const std::lock_guard lock(c.in_use);
  for (std::size_t i = 0; i < c.names.size(); ++i) {
    const auto it = values.find(c.names[i]);
    if (it == values.end()) return fail(fmt::format("needs a value of '{}'", c.names[i]));
    if (it->second > kMostExact || it->second < -kMostExact)
      return fail(fmt::format("reads {} = {}, beyond 2^53", it->first, it->second));
    c.current[i] = static_cast<double>(it->second);
  }
  try {
    return static_cast<std::int64_t>(c.parser.Eval());
  } catch (const NoValue& e) {
    return fail(e.what());
  } catch (const Misuse& e) {
    return fail(e.what());
  } catch (const mu::ParserError& e) {
    return fail(e.GetMsg());
  }
}

}  // namespace redzone::described
