#include "papers/p1/bench_p1_device.hpp"

#include <algorithm>

#include "product/memory/validate.hpp"

namespace heptad::cli {

std::map<P1Part, double> P1Times::seconds() const {
    std::map<P1Part, double> seconds;
    for (std::size_t i = 0; i < used_; ++i) {
        seconds[timers_[i].first] += timers_[i].second->seconds();
    }
    return seconds;
}

P1CudaDevice::P1CudaDevice(const cuda::Stream& stream, cuda::CudaBackend& backend, cuda::P1Style style,
                           bool two_streams)
    : style_(style) {
    add_lane(stream, backend);
    if (two_streams) {
        second_stream_ = std::make_unique<cuda::Stream>(stream.device());
        second_backend_ = std::make_unique<cuda::CudaBackend>(stream.device(), second_stream_->handle());
        add_lane(*second_stream_, *second_backend_);
    }
}

void P1CudaDevice::add_lane(const cuda::Stream& stream, cuda::CudaBackend& backend) {
    Lane lane;
    lane.stream = &stream;
    lane.backend = &backend;
    lane.verbs = std::make_unique<cuda::P1Verbs>(stream.device(), stream.handle(), style_);
    lanes_.push_back(std::move(lane));
}

void P1CudaDevice::begin() {
    for (Lane& lane : lanes_) {
        lane.open.clear();
    }
    written_by_.clear();
    next_product_ = 0;
    if (lanes_.size() > 1) {
        lanes_[1].stream->wait_for(*lanes_[0].stream);
    }
}

void P1CudaDevice::end() {
    if (lanes_.size() > 1) {
        lanes_[0].stream->wait_for(*lanes_[1].stream);
    }
}

P1CudaDevice::Lane& P1CudaDevice::lane_for(P1Part part, const std::vector<Access>& accesses) {
    if (lanes_.size() == 1) {
        return lanes_.front();
    }
    // Products in turn; anything else where its first operand was made.
    std::size_t index = 0;
    if (part == P1Part::product) {
        index = next_product_++ % 2;
    } else if (const auto found = written_by_.find(accesses.front().view.data); found != written_by_.end()) {
        index = found->second;
    }
    Lane& lane = lanes_[index];
    Lane& other = lanes_[1 - index];
    const bool meet = std::any_of(accesses.begin(), accesses.end(), [&](const Access& mine) {
        return std::any_of(other.open.begin(), other.open.end(), [&](const Access& theirs) {
            return (mine.writes || theirs.writes) && may_overlap(mine.view, theirs.view);
        });
    });
    if (meet) {
        lane.stream->wait_for(*other.stream);
        other.open.clear();
    }
    for (const Access& access : accesses) {
        lane.open.push_back(access);
        if (access.writes) {
            written_by_[access.view.data] = index;
        }
    }
    return lane;
}

template <class Call>
void P1CudaDevice::enqueue(P1Part part, const std::vector<Access>& accesses, Call&& call) {
    Lane& lane = lane_for(part, accesses);
    if (times_ != nullptr) {
        times_->time(part, lane.stream->handle(), [&] { call(lane); });
    } else {
        call(lane);
    }
}

void P1CudaDevice::add(const P1Addition& addition, P1Part part) {
    std::vector<Access> accesses{{addition.a, false}, {addition.target, true}};
    if (addition.y != 0) {
        accesses.push_back({addition.b, false});
    }
    enqueue(part, accesses, [&](const Lane& lane) {
        lane.verbs->add(addition.target, addition.x, addition.a, addition.y, addition.b, addition.keep);
    });
}

void P1CudaDevice::multiply(const ConstView& a, const ConstView& b, const View& c) {
    enqueue(P1Part::product, {{a, false}, {b, false}, {c, true}}, [&](const Lane& lane) {
        if (style_ == cuda::P1Style::device_scalars) {
            lane.verbs->multiply(a, b, c);
        } else {
            const Product product{1, a, b, 0, c};
            lane.backend->multiply({&product, 1}, "cublas");
        }
    });
}

void P1CudaDevice::copy(const ConstView& from, const View& to) {
    enqueue(P1Part::copy, {{from, false}, {to, true}}, [&](const Lane& lane) {
        const auto element = static_cast<std::int64_t>(element_bytes(from.type));
        cuda::copy_rows(from.data, from.row_stride * element, to.data, to.row_stride * element, from.cols * element,
                        from.rows, lane.stream->handle());
    });
}

}  // namespace heptad::cli
