/* mimo_antennas_internal.h: what the antennas of an end are: the different ones, and which each is. */
#ifndef EC_MIMO_ANTENNAS_INTERNAL_H
#define EC_MIMO_ANTENNAS_INTERNAL_H

#include "../../core/hash.h"
#include "antenna.h"
#include "mimo.h"

typedef struct ec_mimo_antennas {
    int32_t n; /* different ones, >= 1 */
    ec_antenna *antenna;
    int32_t *which; /* [count]; NULL where n is 1 */
} ec_mimo_antennas;

/* Of an end whose number of antennas is set; name: "tx". ERR_ARGUMENT names the antenna. */
int ec_mimo_antennas_create(const char *name, const ec_mimo_end *end, ec_mimo_antennas *antennas);
void ec_mimo_antennas_free(ec_mimo_antennas *antennas);
/* The antenna number i, from 0. */
const ec_antenna *ec_mimo_antennas_get(const ec_mimo_antennas *antennas, int32_t i);
void ec_mimo_antennas_hash(const ec_mimo_antennas *antennas, int32_t count, ec_hash *hash);

#endif
