#include "move/operand_cache.hpp"

#include <utility>

#include "base/error.hpp"

namespace heptad {

OperandCache::OperandCache(std::vector<std::unique_ptr<OperandPlace>> places) : spots_(places.size()) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        spots_[i].place = std::move(places[i]);
    }
}

OperandPlace& OperandCache::take(const Terms& terms, const std::function<void(OperandPlace&)>& bring) {
    std::unique_lock lock(mutex_);
    Spot* spot = nullptr;
    changed_.wait(lock, [&] {
        spot = find(terms);
        return stopped_ || spot != nullptr || free_longest() != nullptr;
    });
    go_on();
    if (spot != nullptr) {
        ++spot->users;
        changed_.wait(lock, [&] { return stopped_ || !spot->arriving; });
        go_on();
        return *spot->place;
    }
    spot = free_longest();
    ++spot->users;
    spot->terms = &terms;
    spot->arriving = true;
    lock.unlock();
    bring(*spot->place);
    lock.lock();
    spot->arriving = false;
    changed_.notify_all();
    return *spot->place;
}

void OperandCache::give_back(const OperandPlace& place) {
    const std::lock_guard lock(mutex_);
    for (Spot& spot : spots_) {
        if (spot.place.get() == &place) {
            --spot.users;
            spot.given_back = ++clock_;
        }
    }
    changed_.notify_all();
}

void OperandCache::stop() noexcept {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

OperandCache::Spot* OperandCache::find(const Terms& terms) {
    for (Spot& spot : spots_) {
        if (spot.terms != nullptr && *spot.terms == terms) {
            return &spot;
        }
    }
    return nullptr;
}

OperandCache::Spot* OperandCache::free_longest() {
    Spot* oldest = nullptr;
    for (Spot& spot : spots_) {
        if (spot.users == 0 && (oldest == nullptr || spot.given_back < oldest->given_back)) {
            oldest = &spot;
        }
    }
    return oldest;
}

void OperandCache::go_on() const {
    if (stopped_) {
        fail(ErrorCode::cancelled, "an operand will not be brought any more: the product has ended");
    }
}

}  // namespace heptad
