// Makes a context current for the lifetime of an object.
#pragma once

#include "interpose/driver.h"

namespace redzone::interpose {

// Makes a context the current one of this thread while this object lives.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, CuContext context) : driver_(driver) {
    driver_.get_context(&before_);
    changed_ = before_ != context;
    if (changed_) driver_.set_context(context);
  }
  ~CurrentContext() {
    if (changed_) driver_.set_context(before_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
  CuContext before_ = nullptr;
  bool changed_ = false;
};

}  // namespace redzone::interpose
