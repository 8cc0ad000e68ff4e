#include "place/devices/device_machine.hpp"

namespace heptad {

Machine load_device_machine(int /*device*/) {
    return default_device_machine();
}

}  // namespace heptad
