#include "campaign/coroutine.h"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#include "core/error.h"
#include "core/stack_switch.h"

namespace redzone::campaign {
namespace {

namespace context = boost::context;

// Reserves address space; an untouched page takes no memory. Oracles, the store and the functions
// of a target run on this stack.
constexpr std::size_t kStackBytes = 1 << 20;

struct Unwound {};

}  // namespace

class Coroutine::Stack {
 public:
  explicit Stack(std::function<void()> body) : body_(std::move(body)) {
    context::protected_fixedsize_stack allocator(kStackBytes);
    const context::stack_context stack = allocator.allocate();
    bounds_ = {static_cast<const char*>(stack.sp) - stack.size, stack.size};
    inside_ = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
                             allocator, [this](context::fiber&& caller) {
                               arrived_on_stack(nullptr, caller_bounds_);
                               outside_ = std::move(caller);
                               try {
                                 if (!unwinding_) body_();
                               } catch (const Unwound&) {
                               } catch (...) {
                                 thrown_ = std::current_exception();
                               }
                               ended_ = true;
                               leave_stack_for(caller_bounds_, nullptr);
                               return std::move(outside_);
                             });
  }
  ~Stack() {
    unwinding_ = true;
    if (!ended_) enter();
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void enter() {
    void* kept = nullptr;
    StackBounds left;
    leave_stack_for(bounds_, &kept);
    inside_ = std::move(inside_).resume();
    arrived_on_stack(kept, left);
    if (auto thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  }
  void leave() {
    void* kept = nullptr;
    leave_stack_for(caller_bounds_, &kept);
    outside_ = std::move(outside_).resume();
    arrived_on_stack(kept, caller_bounds_);
    if (unwinding_) throw Unwound{};
  }
  bool ended() const { return ended_; }

 private:
  std::function<void()> body_;
  StackBounds bounds_, caller_bounds_;
  context::fiber inside_, outside_;
  std::exception_ptr thrown_;
  bool ended_ = false;
  bool unwinding_ = false;
};

Coroutine::Coroutine(std::function<void()> body)
    : stack_(std::make_unique<Stack>(std::move(body))) {}

Coroutine::~Coroutine() = default;

void Coroutine::resume() {
  RZ_CHECK(!ended());
  stack_->enter();
}

void Coroutine::suspend() {
  stack_->leave();
}

bool Coroutine::ended() const {
  return stack_->ended();
}

}  // namespace redzone::campaign
