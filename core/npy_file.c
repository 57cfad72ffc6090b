#include "npy_file.h"

void ec_npy_write_header(FILE *file, const char *descr, int rank, const int64_t *shape)
{
    char text[240], axes[5 * 24] = "";
    int used = 0;

    for (int i = 0; i < rank; i++)
        used += snprintf(axes + used, sizeof axes - (size_t)used, "%s%lld%s", i ? " " : "",
                         (long long)shape[i], i + 1 < rank || rank == 1 ? "," : "");
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     descr, axes);
    int total = (int)ec_round_up((size_t)(10 + n + 1), 64) - 10;
    const unsigned char head[10] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    1,
                                    0,
                                    (unsigned char)(total & 255),
                                    (unsigned char)(total >> 8)};
    fwrite(head, 1, sizeof head, file);
    fprintf(file, "%-*s\n", total - 1, text);
}
