heptad_test(plan/planner_test heptad_plan)
heptad_test(plan/plan_text_test heptad_plan)
