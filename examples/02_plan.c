/* A plan says what a product will do. It prints, the print parses back, and it can be carried out. Here from C. */
#include <heptad/heptad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(heptad_status status) {
    if (status != HEPTAD_OK)
        fprintf(stderr, "%s: %s\n", heptad_status_string(status), heptad_last_error());
    return status != HEPTAD_OK;
}

int main(void) {
    const int64_t m = 600, k = 500, n = 700;
    heptad_options options;
    heptad_options_init(&options);
    options.algorithm = "strassen"; /* "auto" takes what is predicted to be fastest */
    options.levels = 1;
    options.mode = "serial"; /* little memory */

    heptad_plan *plan = NULL, *again = NULL;
    if (failed(heptad_plan_create(&plan, m, k, n, HEPTAD_F64, &options, NULL)) ||
        failed(heptad_plan_parse(&again, heptad_plan_text(plan))))
        return 1;
    printf("levels: %d\n", heptad_plan_levels(plan));
    printf("workspace is less than A, B and C: %s\n",
           heptad_plan_workspace_bytes(plan) < (m * k + k * n + m * n) * 8 ? "yes" : "no");
    printf("the print parses back: %s\n", strcmp(heptad_plan_text(plan), heptad_plan_text(again)) == 0 ? "yes" : "no");

    double* a = malloc((size_t)(m * k) * sizeof *a);
    double* b = malloc((size_t)(k * n) * sizeof *b);
    double* c = malloc((size_t)(m * n) * sizeof *c);
    int wrong = 1;
    if (a && b && c) {
        for (int64_t i = 0; i < m * k; ++i)
            a[i] = 0.25;
        for (int64_t i = 0; i < k * n; ++i)
            b[i] = 4.0;
        const heptad_const_matrix left = {a, m, k, k, 1}, right = {b, k, n, n, 1};
        const heptad_matrix result = {c, m, n, n, 1};
        if (!failed(heptad_multiply_with_plan(HEPTAD_F64, 1.0, left, right, 0.0, result, plan, NULL))) {
            printf("C(0, 0) = %g, expected %g\n", c[0], (double)k);
            wrong = c[0] != (double)k;
        }
    }
    free(a);
    free(b);
    free(c);
    heptad_plan_destroy(plan);
    heptad_plan_destroy(again);
    return wrong;
}

/* Output:
 * levels: 1
 * workspace is less than A, B and C: yes
 * the print parses back: yes
 * C(0, 0) = 500, expected 500
 */
