/* fdtd_poles_internal.h: dispersive media: a current for each pole and edge beside the fields.
 *
 * A pole's polarisation P and current J = dP/dt follow its differential equation, by the trapezoidal rule
 * from one step to the next:
 *   Debye    tau J + P = eps_0 d E
 *   Drude    dJ/dt + gamma J = eps_0 wp^2 E
 *   Lorentz  dJ/dt + 2 gamma J + w0^2 P = eps_0 d w0^2 E
 * In p = P / eps_0 and q = J dt / eps_0 the mean current of a step is m = cp p + cq q + ce mean(E), and
 * then p = kp (p + m), q = kq (2 m - q). The part of it that is in proportion to mean(E) is a
 * conductivity, eps_0 ce / dt, and is in the coefficients of E; the rest is taken from E after the step.
 * This is the complex-conjugate pole-residue form (M. Han, R. W. Dutton and S. Fan, IEEE Microw.
 * Wireless Compon. Lett. 16, 2006) in real numbers, which also has the double poles that no residue
 * describes (Drude without damping, Lorentz at critical damping). The rule maps jw to (2j / dt)
 * tan(w dt / 2), so what is passive stays so: the fields are stable at the step of the
 * high-frequency permittivity whatever the poles are, and
 *   1/2 eps_0 (P^2 / d + J^2 / (d w0^2)) (Debye: the first, Drude: J^2 / wp^2)
 * joins the energy that the update conserves.
 *
 * An edge's weight is the share of its dual face that the medium has, as in its permittivity. What
 * an edge of a domain does is in fdtd_pole_step_internal.h; it comes after all else that changes E. */
#ifndef EC_FDTD_POLES_INTERNAL_H
#define EC_FDTD_POLES_INTERNAL_H

#include "fdtd.h"
#include "fdtd_domain_internal.h"

EC_C_BEGIN

/* number: [EC_FDTD_POLE_NUMBERS], from checked values of a pole at a time step (s). strength 0 gives
 * a pole without a current. */
void ec_fdtd_pole_numbers(ec_fdtd_pole_kind kind, double strength, double time, double resonance,
                          double damping, double dt, double *number);

EC_C_END
#endif
