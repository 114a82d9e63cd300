// A map that keeps only the most recently used values.
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
  // Keeps `most` values and passes each dropped value to `destroy`. Values that remain at the end
  // are not passed.
  RecentlyUsed(std::size_t most, std::function<void(Value&)> destroy)
      : most_(most), destroy_(std::move(destroy)) {}

  // Returns the value of a key and marks it as the most recently used; null if there is none. The
  // pointer is valid until the next add().
  Value* find(const Key& key) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, known->second);
    return &known->second->second;
  }

  // Adds the value of a new key. Drops the least recently used value if there are too many.
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
  std::list<std::pair<Key, Value>> order_;  // most recently used first
  std::map<Key, typename std::list<std::pair<Key, Value>>::iterator> by_key_;
};

}  // namespace redzone::libraries
