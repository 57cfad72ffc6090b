/* lua_mimo_help.c: help on what a link can do, of methods without keys. */
#include "lua_mimo.h"

#define METHOD(name, help)                                                                         \
    {                                                                                              \
        "link:" name, "link:" name "()", help, NULL, 0                                             \
    }
#define AXES "; axes as those of link:h()"

const ec_noun ec_lua_link_methods[] = {
    METHOD("h", "The channel matrix H, [frequency][receiver][rx antenna][tx antenna] without the "
                "first two where they are 1: h = (wavelength / 4 pi r) g_t . g_r e^(-jkr) of a "
                "free path, |h|^2 is the path gain."),
    METHOD("path_gain_db",
           "20 log10 |h| of each pair of antennas, -300 of one without a path" AXES "."),
    METHOD("paths",
           "How many paths each pair of antennas has, [receiver][rx antenna][tx antenna]."),
    METHOD("grazing", "How many of each pair's paths graze a curved surface or end near a focal "
                      "line, where geometrical "
                      "optics is inexact, at the lowest frequency that there can be."),
    METHOD("grazing_share", "The part of those paths in the sum of the magnitudes of all, 0 to "
                            "1" AXES "."),
    METHOD("unresolved", "How many sequences of interactions both antennas of a pair can have, but "
                         "that there is no method for."),
    METHOD("k_factor_db", "Ricean K: the power of each pair's strongest path over that of all its "
                          "others. 150 with one path, -150 without" AXES "."),
    METHOD("mean_delay", "Mean delay of each pair's paths in s, weighted with their power (ITU-R "
                         "P.1407); 0 without a path" AXES "."),
    METHOD("delay_spread", "RMS spread of these delays in s" AXES "."),
    METHOD("snr_db", "A number: the transmitted power over a receiver's noise, by power_dbm of tx, "
                     "bandwidth and noise_figure_db of ec.mimo."),
    METHOD("report", "A text: which sequences of interactions were searched, and how many there "
                     "are."),
    {NULL, NULL, NULL, NULL, 0}};
