heptad_test(plan/planner_test heptad_plan)
heptad_test(plan/plan_text_test heptad_plan)
heptad_test(plan/device_counts_test heptad_plan)
heptad_test(plan/c1060_test heptad_plan)
