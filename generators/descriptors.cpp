#include "generators/descriptors.h"

#include "generators/internal/descriptor_parts.h"

namespace redzone::generators {

using tma::Descriptor;
using tma::Rule;

class DescriptorGenerator::Source {
 public:
  explicit Source(std::uint64_t seed) : draw_(rc::Random(seed)) {}

  DrawnDescriptor next() {
    constexpr int rules_to_break[] = {50, 35, 15};
    const std::size_t wanted = draw_.weighted(rules_to_break);
    if (wanted == 0) return {draw_legal_descriptor(draw_), {}};
    DrawnDescriptor out = one_broken();
    while (out.broken.size() < wanted) {
      const Rule rule = some_rule();
      if (rule != out.broken[0] && break_rule(draw_, rule, out.descriptor))
        out.broken.push_back(rule);
    }
    return out;
  }

 private:
  // Several descriptors are tried, because many rules apply to one kind, type or mode only.
  static constexpr int kTries = 12;

  Rule some_rule() { return static_cast<Rule>(draw_.index(enumerators<Rule>().size())); }

  DrawnDescriptor one_broken() {
    for (;;) {
      const Rule rule = some_rule();
      for (int i = 0; i < kTries; ++i)
        if (Descriptor d = draw_legal_descriptor(draw_); break_rule(draw_, rule, d))
          return {d, {rule}};
    }
  }
  Draw draw_;
};

DescriptorGenerator::DescriptorGenerator(std::uint64_t seed)
    : source_(std::make_unique<Source>(seed)) {}
DescriptorGenerator::~DescriptorGenerator() = default;
DescriptorGenerator::DescriptorGenerator(DescriptorGenerator&&) noexcept = default;
DescriptorGenerator& DescriptorGenerator::operator=(DescriptorGenerator&&) noexcept = default;

DrawnDescriptor DescriptorGenerator::next() {
  return source_->next();
}

}  // namespace redzone::generators
