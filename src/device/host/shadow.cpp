#include "device/host/shadow.h"

#include <algorithm>
#include <utility>

namespace redzone::device {

std::unique_ptr<ShadowPool::Page> ShadowPool::take() {
  constexpr std::size_t kCells = kPageBytes / kWordBytes;
  if (left_ < kCells) return nullptr;
  left_ -= kCells;
  std::unique_ptr<Page> page;
  if (spare_.empty()) {
    page = std::make_unique<Page>();
  } else {
    page = std::move(spare_.back());
    spare_.pop_back();
  }
  page->cell_bytes = kWordBytes;
  page->cells.assign(kCells, {});
  return page;
}

void ShadowPool::give_back(std::unique_ptr<Page> page) {
  left_ += page->cells.size();
  // A page with divided cells has a larger vector than its cell count would require when it is used
  // again, so it is freed.
  if (page->cell_bytes == kWordBytes) spare_.push_back(std::move(page));
}

bool ShadowPool::divide(Page& page, std::uintptr_t cell_bytes) {
  if (cell_bytes >= page.cell_bytes) return true;
  const std::size_t parts = page.cell_bytes / cell_bytes, more = page.cells.size() * (parts - 1);
  if (left_ < more) return false;
  left_ -= more;
  std::vector<ShadowCell> divided;
  divided.reserve(page.cells.size() * parts);
  for (const ShadowCell& cell : page.cells) divided.insert(divided.end(), parts, cell);
  page.cells = std::move(divided);
  page.cell_bytes = cell_bytes;
  return true;
}

void Shadow::clear() {
  for (auto& [base, page] : pages_) pool_.give_back(std::move(page));
  pages_.clear();
  last_base_ = 1;
  last_ = nullptr;
}

ShadowPool::Page* Shadow::page_of(std::uintptr_t base, std::uintptr_t bounds) {
  if (base != last_base_) {
    auto& page = pages_[base];
    if (page == nullptr) page = pool_.take();
    if (page == nullptr) {
      pages_.erase(base);
      return nullptr;
    }
    last_base_ = base;
    last_ = page.get();
  }
  const std::uintptr_t aligned = bounds & (0 - bounds);  // the lowest bit that is set
  if (aligned != 0 && !pool_.divide(*last_, std::min(aligned, ShadowPool::kWordBytes)))
    return nullptr;
  return last_;
}

}  // namespace redzone::device
