// How fast the disk of the current folder is.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/fail_if.hpp"
#include "base/timing.hpp"
#include "io/matrix_file.hpp"
#include "product/request/request_plan.hpp"

namespace heptad {

DiskRates measure_disk() {
    constexpr std::int64_t kFile_bytes = std::int64_t{256} << 20, kDirectBlock_bytes = 512;
    std::string path = "./.heptad-disk-XXXXXX";
    const Descriptor made(::mkstemp(path.data()));
    fail_if(made.get() < 0, ErrorCode::input,
            "this folder cannot be written, so its disk cannot be measured; give its rate with --disk 2G");
    Descriptor direct(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT));
    ::unlink(path.c_str());
    const bool is_direct = direct.get() >= 0 && direct_block_bytes(direct.get()) > 1;
    const int file = is_direct ? direct.get() : made.get();
    const PageBuffer buffer(kFile_bytes);
    for (std::int64_t i = 0; i < kFile_bytes; i += 8) {  // nothing a disk could compress
        const auto word = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
        std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, buffer.data() + i);
    }
    const auto queue = make_io_queue("auto", {});
    const FileLayout layout{kFile_bytes >> 10, 1 << 10, 1, false, 0, is_direct ? kDirectBlock_bytes : 1};
    const FileWindow all{0, layout.rows, 0, layout.cols};
    const IoTarget target{file, layout.block_bytes, path};
    const std::vector<IoPiece> pieces = window_pieces(layout, all, buffer.data(), layout.pitch_bytes());
    DiskRates rates{0, 0, true};
    const auto before_write = Clock::now();
    queue->write(target, pieces);
    ::fdatasync(file);
    rates.write_bytes_per_s = static_cast<double>(kFile_bytes) / seconds_since(before_write);
    const auto before_read = Clock::now();
    queue->read(target, pieces);
    rates.read_bytes_per_s = static_cast<double>(kFile_bytes) / seconds_since(before_read);
    return rates;
}

}  // namespace heptad
