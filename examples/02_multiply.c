/* C = A * B for two f64 matrices from C. A failure is a status; its sentence is heptad_last_error(). */
#include <heptad/heptad.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    const int64_t m = 600, k = 500, n = 700;
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
        const heptad_status status = heptad_multiply(HEPTAD_F64, 1.0, left, right, 0.0, result, NULL, NULL);
        if (status == HEPTAD_OK) {
            printf("C(0, 0) = %g, expected %g\n", c[0], (double)k);
            wrong = c[0] != (double)k;
        } else {
            fprintf(stderr, "%s: %s\n", heptad_status_string(status), heptad_last_error());
        }
    }
    free(a);
    free(b);
    free(c);
    return wrong;
}
