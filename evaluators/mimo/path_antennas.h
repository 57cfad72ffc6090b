/* path_antennas.h: the antennas of one end of many pairs, on a backend.
 *
 * Shared by C17 and CUDA, but for what is declared as plain functions. */
#ifndef EC_PATH_ANTENNAS_H
#define EC_PATH_ANTENNAS_H

#include "../../core/backend.h"
#include "antenna.h"

typedef struct ec_path_antennas {
    const ec_antenna *antenna; /* on the backend, with the tables they have */
    const int32_t *of;         /* on the backend: the one of each lane; NULL: all have the first */
} ec_path_antennas;

EC_FN const ec_antenna *ec_path_antenna(const ec_path_antennas *antennas, size_t lane)
{
    return antennas->antenna + (antennas->of ? antennas->of[lane] : 0);
}

EC_C_BEGIN

/* Copies n >= 1 antennas and their tables to the backend, which must outlive the copy; `of` is NULL.
 * ERR_MEMORY; errors of the backend. */
EC_API int ec_path_antennas_create(ec_backend *backend, int32_t n, const ec_antenna *antenna,
                                   ec_path_antennas *antennas);
/* Bytes of the copy. */
EC_API size_t ec_path_antennas_bytes(int32_t n, const ec_antenna *antenna);
/* Frees what create made, and clears it. */
EC_API void ec_path_antennas_destroy(ec_backend *backend, ec_path_antennas *antennas);

EC_C_END
#endif
