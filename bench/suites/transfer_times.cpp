#include "bench/suites/transfer_times.hpp"

#include "kernels/cuda/device/device.hpp"
#include "move/stages.hpp"
#include "move/transfer_streams.hpp"
#include "product/device/device_mirror.hpp"

namespace heptad::cli {

TransferTimes time_transfers(const Matrix& a, const Matrix& b, Matrix& c, int device, const ContestRules& rules) {
    const cuda::DeviceScope scope(device);
    const TransferStreams streams(device);
    CopyChannel there(streams.there(), &streams.staging_there()), back(streams.back(), &streams.staging_back());
    const DeviceMirror on_a("A", a.view(), there.stream), on_b("B", b.view(), there.stream),
        on_c("C", c.view(), there.stream);
    const WaitAtEnd wait{&there.stream, &back.stream};
    const auto all_of = [](const Matrix& matrix) { return MatrixWindow{0, matrix.rows(), 0, matrix.cols()}; };
    const auto bring = [&] {
        there.bring(on_a, all_of(a));
        there.bring(on_b, all_of(b));
        there.stream.synchronize();
    };
    const auto fetch = [&] {
        back.fetch(on_c, all_of(c));
        back.stream.synchronize();
    };
    const auto both = [&] {
        StageFailure failure;
        Stages stages(failure);
        stages.start([&] {
            const cuda::DeviceScope scope_of_thread(device);
            fetch();
        });
        stages.run_here_and_finish(bring);
    };
    const auto repeated = [](const auto& work) {
        return [work](std::int64_t calls) {
            for (std::int64_t call = 0; call < calls; ++call) {
                work();
            }
        };
    };
    there.stream.synchronize();  // the memory is there
    const std::vector<Timing> timings =
        run_contest({{"there", repeated(bring)}, {"back", repeated(fetch)}, {"both ways", repeated(both)}}, rules,
                    {[] {}, [](std::size_t) {}, [](int, int) {}});
    return {timings[0].median_s, timings[1].median_s, timings[2].median_s};
}

}  // namespace heptad::cli
