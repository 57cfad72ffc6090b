-- Factors to SI units: 3.5*ec.GHz, 0.5*ec.mm, 20*ec.deg.
return {
    pi = math.pi,
    c0 = 299792458.0, -- m/s
    m = 1, km = 1e3, cm = 1e-2, mm = 1e-3, um = 1e-6, inch = 25.4e-3, mil = 25.4e-6,
    Hz = 1, kHz = 1e3, MHz = 1e6, GHz = 1e9, THz = 1e12,
    s = 1, ms = 1e-3, us = 1e-6, ns = 1e-9, ps = 1e-12,
    rad = 1, deg = math.pi / 180,
}
