/* nlopt_list.h: every algorithm of NLopt 2.7, once: what it is, what it can, and its words.
 *
 * X(name, word, options, traits, help): name is NLopt's (nlopt_algorithm_from_string reads it), the
 * method is "nlopt_" and word; options names the table of nlopt_methods.c that it takes. A build of
 * NLopt may lack those marked OPTIONAL (C++ parts; a licence that bars one); they are known by name
 * and say so.
 */
#ifndef EC_NLOPT_LIST_H
#define EC_NLOPT_LIST_H

enum {
    EC_NLOPT_GRADIENT = 1,      /* needs gradients */
    EC_NLOPT_GLOBAL = 2,        /* searches the whole box, else from a start to a near optimum */
    EC_NLOPT_RANDOM = 4,        /* its path depends on the seed */
    EC_NLOPT_INEQUALITIES = 8,  /* takes inequality limits by itself ... */
    EC_NLOPT_EQUALITIES = 16,   /* ... and equalities */
    EC_NLOPT_META = 32,         /* runs a local algorithm, the option `inner` */
    EC_NLOPT_STARTLESS = 64,    /* begins at the box's centre, whatever the start */
    EC_NLOPT_OPTIONAL = 128,    /* not in every build of NLopt */
    EC_NLOPT_ABSOLUTE = 256,    /* compares the costs' size with that of their changes */
    EC_NLOPT_UNREPEATABLE = 512 /* NLopt 2.7 reads memory here that it has not set */
};
#define EC_NLOPT_LIMITS (EC_NLOPT_INEQUALITIES | EC_NLOPT_EQUALITIES)
#define EC_NLOPT_DIRECT (EC_NLOPT_GLOBAL | EC_NLOPT_STARTLESS)

/* clang-format off */
#define EC_NLOPT_LIST(X)                                                                           \
    X(GN_DIRECT, "gn_direct", fixed,                                                               \
      EC_NLOPT_DIRECT,                                                                             \
      "DIRECT, dividing rectangles (Jones, Perttunen and Stuckman 1993)")                          \
    X(GN_DIRECT_L, "gn_direct_l", fixed,                                                           \
      EC_NLOPT_DIRECT,                                                                             \
      "DIRECT-L, biased to local search (Gablonsky and Kelley 2001)")                              \
    X(GN_DIRECT_L_RAND, "gn_direct_l_rand", plain,                                                 \
      EC_NLOPT_DIRECT | EC_NLOPT_RANDOM,                                                           \
      "DIRECT-L with random choices")                                                              \
    X(GN_DIRECT_NOSCAL, "gn_direct_noscal", fixed,                                                 \
      EC_NLOPT_DIRECT,                                                                             \
      "DIRECT without scaling of the box")                                                         \
    X(GN_DIRECT_L_NOSCAL, "gn_direct_l_noscal", fixed,                                             \
      EC_NLOPT_DIRECT,                                                                             \
      "DIRECT-L without scaling of the box")                                                       \
    X(GN_DIRECT_L_RAND_NOSCAL, "gn_direct_l_rand_noscal", fixed,                                   \
      EC_NLOPT_DIRECT,                                                                             \
      "the same (NLopt 2.7 makes none of the random choices of its name)")                         \
    X(GN_ORIG_DIRECT, "gn_orig_direct", fixed,                                                     \
      EC_NLOPT_DIRECT | EC_NLOPT_INEQUALITIES,                                                     \
      "DIRECT, Gablonsky's code; takes inequalities")                                              \
    X(GN_ORIG_DIRECT_L, "gn_orig_direct_l", fixed,                                                 \
      EC_NLOPT_DIRECT | EC_NLOPT_INEQUALITIES,                                                     \
      "DIRECT-L, Gablonsky's code; takes inequalities")                                            \
    X(GD_STOGO, "gd_stogo", fixed,                                                                 \
      EC_NLOPT_DIRECT | EC_NLOPT_GRADIENT | EC_NLOPT_OPTIONAL,                                     \
      "StoGO, branch and bound with gradients (Madsen, Zertchaninov and Zilinskas 1998)")          \
    X(GD_STOGO_RAND, "gd_stogo_rand", points,                                                      \
      EC_NLOPT_DIRECT | EC_NLOPT_GRADIENT | EC_NLOPT_RANDOM | EC_NLOPT_OPTIONAL,                   \
      "StoGO with random starts")                                                                  \
    X(LD_LBFGS_NOCEDAL, "ld_lbfgs_nocedal", plain,                                                 \
      EC_NLOPT_GRADIENT | EC_NLOPT_OPTIONAL,                                                       \
      "L-BFGS-B, Nocedal's code")                                                                  \
    X(LD_LBFGS, "ld_lbfgs", storage,                                                               \
      EC_NLOPT_GRADIENT,                                                                           \
      "L-BFGS (Nocedal 1980; Liu and Nocedal 1989), Luksan's code")                                \
    X(LN_PRAXIS, "ln_praxis", step,                                                                \
      EC_NLOPT_RANDOM | EC_NLOPT_ABSOLUTE,                                                         \
      "principal axes (Brent 1973)")                                                               \
    X(LD_VAR1, "ld_var1", storage,                                                                 \
      EC_NLOPT_GRADIENT,                                                                           \
      "shifted limited-memory variable metric, rank 1 (Vlcek and Luksan 2006)")                    \
    X(LD_VAR2, "ld_var2", storage,                                                                 \
      EC_NLOPT_GRADIENT,                                                                           \
      "shifted limited-memory variable metric, rank 2 (Vlcek and Luksan 2006)")                    \
    X(LD_TNEWTON, "ld_tnewton", storage,                                                           \
      EC_NLOPT_GRADIENT,                                                                           \
      "truncated Newton (Dembo and Steihaug 1983)")                                                \
    X(LD_TNEWTON_RESTART, "ld_tnewton_restart", storage,                                           \
      EC_NLOPT_GRADIENT,                                                                           \
      "truncated Newton with restarts along the steepest descent")                                 \
    X(LD_TNEWTON_PRECOND, "ld_tnewton_precond", storage,                                           \
      EC_NLOPT_GRADIENT | EC_NLOPT_UNREPEATABLE,                                                   \
      "truncated Newton, preconditioned by L-BFGS; two runs may differ in their bits")             \
    X(LD_TNEWTON_PRECOND_RESTART, "ld_tnewton_precond_restart", storage,                           \
      EC_NLOPT_GRADIENT | EC_NLOPT_UNREPEATABLE,                                                   \
      "truncated Newton, preconditioned, with restarts; two runs may differ in their bits")        \
    X(GN_CRS2_LM, "gn_crs2_lm", points,                                                            \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM,                                                           \
      "controlled random search with local mutation (Kaelo and Ali 2006)")                         \
    X(GN_MLSL, "gn_mlsl", mlsl,                                                                    \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META,                                           \
      "multi-level single linkage, derivative-free (Rinnooy Kan and Timmer 1987)")                 \
    X(GD_MLSL, "gd_mlsl", mlsl,                                                                    \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META | EC_NLOPT_GRADIENT,                       \
      "multi-level single linkage with gradients")                                                 \
    X(GN_MLSL_LDS, "gn_mlsl_lds", mlsl,                                                            \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META,                                           \
      "multi-level single linkage from a low-discrepancy sequence (Kucherenko and Sytsko 2005)")   \
    X(GD_MLSL_LDS, "gd_mlsl_lds", mlsl,                                                            \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META | EC_NLOPT_GRADIENT,                       \
      "the same with gradients")                                                                   \
    X(LD_MMA, "ld_mma", plain,                                                                     \
      EC_NLOPT_GRADIENT | EC_NLOPT_INEQUALITIES | EC_NLOPT_ABSOLUTE,                               \
      "method of moving asymptotes (Svanberg 2002); takes inequalities")                           \
    X(LN_COBYLA, "ln_cobyla", step,                                                                \
      EC_NLOPT_LIMITS,                                                                             \
      "linear models in a simplex (Powell 1994); takes constraints")                               \
    X(LN_NEWUOA, "ln_newuoa", step,                                                                \
      0,                                                                                           \
      "quadratic models without bounds (Powell 2004); what lies outside counts as at the bound")   \
    X(LN_NEWUOA_BOUND, "ln_newuoa_bound", step,                                                    \
      0,                                                                                           \
      "NEWUOA with bounds; BOBYQA is its better successor")                                        \
    X(LN_NELDERMEAD, "ln_neldermead", step,                                                        \
      0,                                                                                           \
      "simplex (Nelder and Mead 1965) with bounds (Box 1965)")                                     \
    X(LN_SBPLX, "ln_sbplx", step,                                                                  \
      0,                                                                                           \
      "Nelder-Mead on a sequence of subspaces (Rowan 1990)")                                       \
    X(LN_AUGLAG, "ln_auglag", auglag,                                                              \
      EC_NLOPT_LIMITS | EC_NLOPT_META,                                                             \
      "augmented Lagrangian, derivative-free (Birgin and Martinez 2008); takes constraints")       \
    X(LD_AUGLAG, "ld_auglag", auglag,                                                              \
      EC_NLOPT_LIMITS | EC_NLOPT_META | EC_NLOPT_GRADIENT,                                         \
      "augmented Lagrangian with gradients (Conn, Gould and Toint 1991); takes constraints")       \
    X(LN_AUGLAG_EQ, "ln_auglag_eq", auglag,                                                        \
      EC_NLOPT_LIMITS | EC_NLOPT_META,                                                             \
      "augmented Lagrangian of the equalities; `inner` takes the inequalities; takes constraints") \
    X(LD_AUGLAG_EQ, "ld_auglag_eq", auglag,                                                        \
      EC_NLOPT_LIMITS | EC_NLOPT_META | EC_NLOPT_GRADIENT,                                         \
      "the same with gradients; takes constraints")                                                \
    X(LN_BOBYQA, "ln_bobyqa", step,                                                                \
      0,                                                                                           \
      "quadratic models inside bounds (Powell 2009)")                                              \
    X(GN_ISRES, "gn_isres", points,                                                                \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_LIMITS,                                         \
      "evolution strategy with stochastic ranking (Runarsson and Yao 2005); takes constraints")    \
    X(AUGLAG, "auglag", auglag,                                                                    \
      EC_NLOPT_LIMITS | EC_NLOPT_META,                                                             \
      "augmented Lagrangian over any `inner`; takes constraints")                                  \
    X(AUGLAG_EQ, "auglag_eq", auglag,                                                              \
      EC_NLOPT_LIMITS | EC_NLOPT_META,                                                             \
      "augmented Lagrangian of the equalities over any `inner`; takes constraints")                \
    X(G_MLSL, "g_mlsl", mlsl,                                                                      \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META,                                           \
      "multi-level single linkage over any `inner`")                                               \
    X(G_MLSL_LDS, "g_mlsl_lds", mlsl,                                                              \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM | EC_NLOPT_META,                                           \
      "multi-level single linkage from a low-discrepancy sequence over any `inner`")               \
    X(LD_SLSQP, "ld_slsqp", plain,                                                                 \
      EC_NLOPT_GRADIENT | EC_NLOPT_LIMITS,                                                         \
      "sequential least-squares programming (Kraft 1994); takes constraints")                      \
    X(LD_CCSAQ, "ld_ccsaq", plain,                                                                 \
      EC_NLOPT_GRADIENT | EC_NLOPT_INEQUALITIES | EC_NLOPT_ABSOLUTE,                               \
      "conservative convex separable quadratic approximations (Svanberg 2002); takes inequalities")\
    X(GN_ESCH, "gn_esch", points,                                                                  \
      EC_NLOPT_GLOBAL | EC_NLOPT_RANDOM,                                                           \
      "evolutionary algorithm (da Silva Santos 2010)")                                             \
    X(GN_AGS, "gn_ags", fixed,                                                                     \
      EC_NLOPT_DIRECT | EC_NLOPT_INEQUALITIES | EC_NLOPT_OPTIONAL,                                 \
      "global search along a Peano curve (Sergeyev and Markin 1995); takes inequalities")
/* clang-format on */

#endif
