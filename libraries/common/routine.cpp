#include "common/routine.h"

#include <memory>
#include <utility>

namespace redzone::libraries {
namespace {

const TensorSpec& find_tensor(const TargetSpec& spec, std::string_view name) {
  for (const auto& tensor : spec.tensors)
    if (tensor.name == name) return tensor;
  throw SpecError("no tensor '" + std::string(name) + "'");
}

// Number of rows of a tensor, as counted by sampled references.
std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return rows;
}

class RoutineTarget final : public Target {
 public:
  RoutineTarget(std::shared_ptr<const Routine> routine, std::function<std::string()> missing)
      : routine_(std::move(routine)), missing_(std::move(missing)) {}

  void run(Context& ctx) override {
    if (ctx.device() != DeviceKind::cuda)
      return ctx.unsupported("the library runs on a GPU only: use --device cuda");
    if (std::string why = missing_(); !why.empty()) return ctx.unsupported(std::move(why));
    routine_->run(ctx);
  }

  void reference(ReferenceCall& call) const override {
    InputRows inputs(routine_->spec, call);
    for (const auto& tensor : routine_->spec.tensors) {
      if (tensor.role == Role::in) continue;
      const auto all = call.output(tensor.name);
      const auto rows =
          static_cast<std::size_t>(rows_of(tensor.shape_for(call.dims(), call.config())));
      if (rows == 0 || all.empty()) continue;
      const std::size_t length = all.size() / rows;
      for (std::size_t r = 0; r < rows; ++r)
        routine_->row(inputs, tensor.name, static_cast<std::int64_t>(r),
                      all.subspan(r * length, length));
    }
  }

  void reference_rows(SampledCall& call) const override {
    InputRows inputs(routine_->spec, call);
    for (const auto& tensor : routine_->spec.tensors) {
      if (tensor.role == Role::in) continue;
      const auto rows = call.rows(tensor.name);
      for (std::size_t i = 0; i < rows.size(); ++i)
        routine_->row(inputs, tensor.name, rows[i], call.output(tensor.name, i));
    }
  }

 private:
  std::shared_ptr<const Routine> routine_;
  std::function<std::string()> missing_;
};

}  // namespace

InputTensor InputRows::tensor(std::string_view name) const {
  const TensorSpec& tensor = find_tensor(*spec_, name);
  const Shape shape = tensor.shape_for(dims(), config());
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const int reals = reals_per_element(tensor.dtype_for(config()));
  if (whole_ != nullptr) return {whole_->input(name), columns, reals};
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return {*sampled_, std::string(name), rows, columns, reals};
}

void add(Registrar& registrar, Routine routine, std::function<std::string()> missing) {
  const auto shared = std::make_shared<const Routine>(std::move(routine));
  registrar.add(shared->spec, [shared, missing = std::move(missing)] {
    return std::make_unique<RoutineTarget>(shared, missing);
  });
}

}  // namespace redzone::libraries
