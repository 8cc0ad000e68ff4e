#include "product/device/product_pace.hpp"

#include <algorithm>

#include "base/fail_if.hpp"

namespace heptad {

std::int64_t products_ahead(std::int64_t count, double predicted_s) {
    constexpr double kAheadS = 0.5;
    constexpr std::int64_t kLeast = 2;  // one at work, and the next
    const double ahead =
        predicted_s > kAheadS ? static_cast<double>(count) * kAheadS / predicted_s : static_cast<double>(count);
    return std::max(kLeast, static_cast<std::int64_t>(ahead));
}

void ProductPace::stop_if_cancelled() const {
    fail_if(hooks_.cancel != nullptr && hooks_.cancel->cancelled(), ErrorCode::cancelled,
            "the product was cancelled; C is undefined");
}

void ProductPace::enqueued(std::int64_t number, std::int64_t count) {
    if (hooks_.cancel == nullptr && !hooks_.progress) {
        return;
    }
    count_ = count;
    under_way_.push_back(std::make_unique<cuda::Event>(stream_.device()));
    under_way_.back()->record(stream_);
    wait_for(number - products_ahead(count, predicted_s_));
}

void ProductPace::wait_for(std::int64_t number) {
    while (done_ < number && !under_way_.empty()) {
        under_way_.front()->wait();
        under_way_.pop_front();
        ++done_;
        stop_if_cancelled();
        if (hooks_.progress) {  // the way back counts as one more
            hooks_.progress({static_cast<double>(done_) / static_cast<double>(count_ + 1), "multiply"});
        }
    }
}

}  // namespace heptad
