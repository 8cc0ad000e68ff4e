#include "run/bits/deferred_sums.hpp"

#include <algorithm>
#include <bit>

namespace heptad::bits {
namespace {

bool is_sum(unsigned wanted) {
    return std::popcount(wanted) > 1;
}

}  // namespace

LaterLevel::LaterLevel(LaterQueue& queue, WordSum sum, std::uint64_t* c, std::int64_t quarter_words,
                       bool c_holds_something)
    : queue_(queue), sum_(sum), c_(c), quarter_words_(quarter_words), holds_(c_holds_something ? 0b1111 : 0) {
    queue_.first = queue_.last = 0;
}

int LaterLevel::add(std::uint64_t* to, std::span<const std::uint64_t* const> from, std::int64_t words) {
    DeferredSum& sum = queue_.sums[queue_.last++];
    sum = {};
    sum.to = to;
    std::copy(from.begin(), from.end(), sum.from);
    sum.count = static_cast<int>(from.size());
    sum.words = words;
    return queue_.last;
}

void LaterLevel::add_quarters(std::span<const Addition> additions) {
    for (auto next = additions.begin(); next != additions.end();) {
        const int to = next->to;
        const std::uint64_t* terms[DeferredSum::kMostTerms];
        std::size_t count = 0;
        if (((holds_ >> to) & 1) != 0) {
            terms[count++] = c_ + to * quarter_words_;
        }
        unsigned used = 1U << to;
        for (; next != additions.end() && next->to == to && count < DeferredSum::kMostTerms; ++next) {
            if (((holds_ >> next->from) & 1) != 0) {
                terms[count++] = c_ + next->from * quarter_words_;
                used |= 1U << next->from;
            }
        }
        if (used == 1U << to) {
            continue;
        }
        const int ticket = add(c_ + to * quarter_words_, {terms, count}, quarter_words_);
        holds_ |= 1U << to;
        for (int i = 0; i < 4; ++i) {
            last_use_[i] = ((used >> i) & 1) != 0 ? ticket : last_use_[i];
        }
    }
}

bool LaterLevel::begin_product(int quarter) {
    finish(last_use_[quarter]);
    return ((holds_ >> quarter) & 1) != 0;
}

void LaterLevel::finish(int ticket) {
    for (; queue_.first < ticket; ++queue_.first) {
        DeferredSum& sum = queue_.sums[queue_.first];
        const std::uint64_t* from[DeferredSum::kMostTerms];
        std::transform(sum.from, sum.from + sum.count, from,
                       [&](const std::uint64_t* source) { return source + sum.done; });
        sum_(sum.to + sum.done, from, sum.count, sum.words - sum.done, false);
    }
}

void LaterLevel::finish() {
    finish(queue_.last);
}

bool LaterOperand::has_room(unsigned wanted) const {
    return !is_sum(wanted) || asked_ - given_back_ < 2;
}

void LaterOperand::ask(unsigned wanted, LaterLevel& level) {
    if (!is_sum(wanted)) {
        return;
    }
    const std::uint64_t* from[4];
    std::size_t count = 0;
    for (int i = 0; i < 4; ++i) {
        if (((wanted >> i) & 1) != 0) {
            from[count++] = quarters_ + i * words_;
        }
    }
    tickets_[asked_ % 2] = level.add(buffers_ + asked_ % 2 * words_, {from, count}, words_);
    ++asked_;
}

const std::uint64_t* LaterOperand::take(unsigned wanted, LaterLevel& level) {
    if (!is_sum(wanted)) {
        return quarters_ + std::countr_zero(wanted) * words_;
    }
    level.finish(tickets_[taken_ % 2]);
    return buffers_ + taken_++ % 2 * words_;
}

void LaterOperand::give_back(unsigned wanted) {
    given_back_ += is_sum(wanted) ? 1 : 0;
}

}  // namespace heptad::bits
