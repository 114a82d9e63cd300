// Values by key, of which only those used last are kept.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace redzone::libraries {

template <class Key, class Value>
class RecentlyUsed {
 public:
  // Keeps `most` values and passes each that is dropped to `destroy`. What is still kept at the end
  // is not passed.
  RecentlyUsed(std::size_t most, std::function<void(Value&)> destroy)
      : most_(most), destroy_(std::move(destroy)) {}

  // The value of a key, or null. It is then the one used last. Valid until the next add().
  Value* find(const Key& key) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, known->second);
    return &known->second->second;
  }

  // Adds the value of a key that has none. Drops the value that was used longest ago if there are
  // too many.
  void add(const Key& key, Value value) {
    order_.emplace_front(key, std::move(value));
    by_key_.emplace(key, order_.begin());
    if (order_.size() <= most_) return;
    destroy_(order_.back().second);
    by_key_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  std::size_t most_;
  std::function<void(Value&)> destroy_;
  std::list<std::pair<Key, Value>> order_;  // the one used last in front
  std::map<Key, typename std::list<std::pair<Key, Value>>::iterator> by_key_;
};

}  // namespace redzone::libraries
