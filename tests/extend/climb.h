/* climb.h: random local search, as an optimizer: the example of the page docs/guide/optimizer.md, laid out as a folder
 * of optimizers/ is.
 *
 * A generation are `population` points (default 16) about the best design so far: a normal step along each gene, of
 * `step` times its range. Where one of them is better it is the next centre and the step grows by 1.5; where none is
 * the step shrinks to 0.8 of itself (the rule of one success in five of Rechenberg, 1973, for generations). Below 1e-9
 * the step begins anew, so the search goes on until its budget ends.
 */
#ifndef EC_CLIMB_H
#define EC_CLIMB_H

#include "core/optimizer.h"

EC_C_BEGIN

extern const ec_optimizer_def ec_climb_method;

EC_C_END
#endif
