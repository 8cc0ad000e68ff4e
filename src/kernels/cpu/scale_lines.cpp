#include "kernels/cpu/cpu_kernels.hpp"

namespace heptad::cpu {

void scale_lines(const View& view, const LineExponents& lines) {
    if (lines != LineExponents{} && view.rows > 0 && view.cols > 0) {
        CombinePass pass{{view}, {{0, {{0, 1}}}}};
        pass.exponents = {lines};
        pass.written_exponents = {{}};
        combine(pass);
    }
}

}  // namespace heptad::cpu
