// Before something is timed, whatever ran before it has to be over. Threads of a library spin for a while after a call:
// OpenBLAS's for 2^26 ticks of the processor's counter, which are 30 ms on one machine and 64 ms on another, and
// whoever is timed meanwhile seems to have fewer cores. How long is not for us to know, but it shows in the processor
// time of this process.
#pragma once

#include <functional>

namespace heptad {

/// The processor time that all threads of this process have had so far.
double process_cpu_s();

struct IdleRules {
    double most_s = 0.5;  // then it is not coming to rest
    std::function<double()> cpu_clock_s = process_cpu_s;
    std::function<void(double seconds)> sleep = {};  // empty: the calling thread's
};

/// Sleeps in short naps until one passes in which no thread of this process was busy. False: none did.
bool wait_until_idle(const IdleRules& rules = {});

}  // namespace heptad
