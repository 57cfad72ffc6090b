/* nufft_window.h: the Kaiser-Bessel window of a NUFFT.
 *
 *   phi(t) = I0(beta sqrt(1 - (2 t / w)^2)) / I0(beta),  |t| <= w/2, t in cells
 *   transform: integral phi(t) exp(2 pi j f t) dt
 *            = w / I0(beta) sinh(s) / s,  s = sqrt(beta^2 - (pi w f)^2), f in cycles a cell
 * (Jackson et al., IEEE Trans. Med. Imaging 10, 1991). beta follows the rule of Beatty et al.
 * (IEEE Trans. Med. Imaging 24, 2005), with a constant fitted to the least rms error over modes.
 */
#ifndef EC_NUFFT_WINDOW_H
#define EC_NUFFT_WINDOW_H

#include "../../core/base.h"

typedef struct ec_nufft_window {
    int32_t width; /* cells, 2 .. EC_NUFFT_WIDTH_MAX */
    double beta;
    double scale; /* 1 / I0(beta) */
} ec_nufft_window;

/* A window for a fine grid `upsampling` times denser than the modes; more than 4 counts as 4. */
void ec_nufft_window_make(int32_t width, double upsampling, ec_nufft_window *window);
double ec_nufft_window_value(const ec_nufft_window *window, double t);
double ec_nufft_window_transform(const ec_nufft_window *window, double f);

/* Over the frequencies of a band, for a point where all aliases have one phase: the worst. */
typedef struct ec_nufft_window_quality {
    double mean, rms, most; /* sum of the aliases over the window's own transform */
    double gain;      /* rms of the window over its transform: so much rounding on the grid grows */
    double most_gain; /* the same at the edge of the band */
} ec_nufft_window_quality;

/* At -band .. band in steps of band / samples; lone_edge: +band is not among them. */
void ec_nufft_window_error(const ec_nufft_window *window, double band, int32_t samples,
                           bool lone_edge, ec_nufft_window_quality *q);

/* Polynomials [count][padded], highest power first, in 2 s - 1: cell i of a point has the value
 * phi(i + s - w/2). Cells from width on are 0. */
void ec_nufft_window_fit(const ec_nufft_window *window, int32_t count, int32_t padded,
                         double *coefficients);
/* Powers, highest first, of z = 2 (f / band)^2 - 1: 1 / transform at f, |f| <= band. */
void ec_nufft_window_fit_taper(const ec_nufft_window *window, double band, int32_t count,
                               double *coefficients);

#endif
