#include "move/operand_cache.hpp"

#include <utility>

namespace heptad {

OperandCache::OperandCache(std::vector<std::unique_ptr<OperandPlace>> places, StageFailure& failure)
    : monitor_(failure), spots_(places.size()) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        spots_[i].place = std::move(places[i]);
    }
}

OperandPlace& OperandCache::take(const Terms& terms, const std::function<void(OperandPlace&)>& bring) {
    std::unique_lock lock(monitor_.mutex);
    Spot* spot = nullptr;
    monitor_.wait(lock, [&] {
        spot = find(terms);
        return spot != nullptr || free_longest() != nullptr;
    });
    if (spot != nullptr) {
        ++spot->users;
        monitor_.wait(lock, [&] { return !spot->arriving; });
        return *spot->place;
    }
    spot = free_longest();
    ++spot->users;
    spot->terms = &terms;
    spot->arriving = true;
    lock.unlock();
    bring(*spot->place);
    monitor_.change([&] { spot->arriving = false; });
    return *spot->place;
}

void OperandCache::give_back(const OperandPlace& place) {
    monitor_.change([&] {
        for (Spot& spot : spots_) {
            if (spot.place.get() == &place) {
                --spot.users;
                spot.given_back = ++clock_;
            }
        }
    });
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

}  // namespace heptad
