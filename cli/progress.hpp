// Shows how far a long run is, on standard error: nothing during the first two seconds, then one line that is rewritten
// on a terminal, or a plain line every few seconds where standard error is no terminal.
//
//   multiply  42 %  61.2 GFLOP/s  0:35 left
#pragma once

#include <chrono>
#include <string>

#include <heptad/heptad.hpp>

#include "product/request/request.hpp"

namespace heptad::cli {

class ProgressMeter {
public:
    ProgressMeter();
    ~ProgressMeter();
    ProgressMeter(const ProgressMeter&) = delete;
    ProgressMeter& operator=(const ProgressMeter&) = delete;

    /// A new stage of `operations` (2mkn of a product; 0 where a rate means nothing).
    void begin(const std::string& stage, double operations = 0, Type type = Type::f32);
    /// 0 to 1 of the stage. Cheap: prints only when it is time to.
    void update(double fraction);
    void update(double fraction, const std::string& detail);
    /// Takes the line off a terminal, so that other text may follow.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    void show(double fraction, Clock::time_point now);

    bool terminal_ = false;
    bool line_shown_ = false;
    Clock::time_point start_, stage_start_, last_shown_;
    std::string stage_, detail_;
    double operations_ = 0;
    Type type_ = Type::f32;
};

// Show the stages of a request, a file operation or a product on a meter, and stop them at a signal. The meter must
// outlive what is made of it.

RequestHooks request_hooks(ProgressMeter& meter);
FileHooks file_hooks(ProgressMeter& meter, const std::string& stage, int threads);
Context product_context(ProgressMeter& meter, int threads);

}  // namespace heptad::cli
