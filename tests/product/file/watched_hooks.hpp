// Hooks of products from file to file that see every call of the operating system, too, or let it fail.
#pragma once

#include "io/io_watch.hpp"
#include "product/file/file_product.hpp"

namespace heptad {

struct WatchedHooks : FileHooks {
    IoWatch watch = {};
};

inline FileProductReport multiply_watched(const FileProductRequest& request, const StageProducts& stage,
                                          const WatchedHooks& hooks, StageTrace& trace) {
    struct Watching {
        explicit Watching(const IoWatch& watch) { io_watch = watch ? &watch : nullptr; }
        ~Watching() { io_watch = nullptr; }
    };
    const Watching watching(hooks.watch);
    return multiply_files(request, stage, hooks, trace);
}

}  // namespace heptad
