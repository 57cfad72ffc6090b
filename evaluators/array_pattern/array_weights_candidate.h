/* array_weights_candidate.h: optimal weights of one candidate, or their adjoint. One source for the
 * CPU (a team of one) and CUDA (a block). The method is in array_weights.h.
 */
#ifndef EC_ARRAY_WEIGHTS_CANDIDATE_H
#define EC_ARRAY_WEIGHTS_CANDIDATE_H

#include "array_weights_adjoint.h"
#include "array_weights_thinning.h"

EC_PATTERN_FN void ec_weights_candidate(const ec_team *team, const ec_weights_args *args, size_t c,
                                        size_t s, double *memory)
{
    ec_weights_work work;

    ec_weights_lay_out(args, memory, &work);
    ec_team_sync(team);
    int bad = ec_weights_gather(team, args, c, s, &work);
    ec_team_sync(team);
    bad |= ec_weights_rows_make(team, args, c, s, &work);
    int status =
        (ec_team_any(team, bad & EC_CANDIDATE_EVALUATOR) ? EC_CANDIDATE_EVALUATOR : 0) |
        (ec_team_any(team, bad & EC_CANDIDATE_OUT_OF_RANGE) ? EC_CANDIDATE_OUT_OF_RANGE : 0);
    bool found = false;
    if (!status && args->method == EC_WEIGHTS_THINNING)
        found = ec_weights_thin(team, args, c, s, &work);
    else if (!status)
        found = ec_weights_find(team, args, &work);
    bool wrong = !status && !found;
    for (int32_t m = team->rank; m < work.n && found; m += team->size) {
        double re = work.best.re[m], im = work.best.im[m];
        wrong = wrong || !(re * re + im * im < EC_WEIGHTS_LARGEST * EC_WEIGHTS_LARGEST);
    }
    if (ec_team_any(team, wrong))
        status = EC_CANDIDATE_EVALUATOR;
    if (args->vjp) {
        ec_weights_adjoint(team, args, c, s, status != 0, &work);
    } else {
        for (int32_t m = team->rank; m < work.n; m += team->size) {
            double re = work.best.re[m], im = work.best.im[m];
            double amplitude = status ? (double)NAN : sqrt(re * re + im * im);
            double phase = status ? (double)NAN : ec_det_atan2(im, re);
            ec_weights_write(&args->amplitude, c, s, m, amplitude);
            ec_weights_write(&args->phase, c, s, m, phase);
        }
    }
    ec_team_set_status(team, args->status, false, c, status);
}

#endif
