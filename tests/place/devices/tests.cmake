heptad_test(place/devices/exact_device_test heptad_place_devices LABELS gpu)
heptad_test(place/devices/device_promises_test heptad_place_devices LABELS gpu)
heptad_test(place/devices/device_plan_test heptad_place_devices)
heptad_test(place/devices/p0_device_test heptad_place_devices LABELS gpu)
