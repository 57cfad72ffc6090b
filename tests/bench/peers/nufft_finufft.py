#!/usr/bin/env python3
"""Times our NUFFTs and FINUFFT's side by side: python3 nufft_finufft.py PATH/nufft_peer

2-D type 1, float32, one thread each, tolerance 1e-4, plans made once, FINUFFT with automatic
upsampling and with 1.25. The two take turns within one run; a figure is the least processor time of
all turns. Every candidate has points of its own, so FINUFFT sets points before each execution.
Both results are compared with a direct sum at some modes. Exit status 77: the Python package
finufft is missing.
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import finufft
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; pip install finufft")
    sys.exit(77)

TOLERANCE = 1e-4
TURNS = 15
CASES = (
    # modes a side, points, candidates, what must hold
    (256, 10000, 4, "no slower than 1.2 times", 1 / 1.2),
    (64, 100, 256, "at least 3 times faster", 3.0),
)


def error(out, x, y, c, modes, rng):
    """Relative l2 error at 200 random modes of the first candidate."""
    k = rng.integers(-(modes // 2), modes - modes // 2, (200, 2))
    phase = np.outer(k[:, 0], x) + np.outer(k[:, 1], y)
    want = np.exp(2j * np.pi * (phase - np.round(phase))) @ c.astype(np.complex128)
    got = out[k[:, 0] + modes // 2, k[:, 1] + modes // 2]
    return np.linalg.norm(got - want) / np.linalg.norm(want)


class Finufft:
    """A plan of the library and one pass over all candidates."""

    def __init__(self, modes, upsampling, x, y, c):
        options = {} if upsampling is None else {"upsampfac": upsampling}
        self.name = f"FINUFFT {finufft.__version__}, upsampling {upsampling or 'automatic'}"
        self.plan = finufft.Plan(
            1, (modes, modes), eps=TOLERANCE, isign=1, dtype="complex64", nthreads=1, **options
        )
        angle = 2 * np.pi
        self.points = [
            ((angle * a).astype(np.float32), (angle * b).astype(np.float32)) for a, b in zip(x, y)
        ]
        self.c = c
        self.out = [np.zeros((modes, modes), np.complex64) for _ in c]

    def run(self):
        start = time.process_time()
        for (a, b), strengths, out in zip(self.points, self.c, self.out):
            self.plan.setpts(a, b)
            self.plan.execute(strengths, out=out)
        return time.process_time() - start


def compare(driver, folder, modes, points, n, words, wanted):
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-0.5, 0.5, (2, n, points))
    c = (rng.normal(size=(n, points)) + 1j * rng.normal(size=(n, points))).astype(np.complex64)
    given, taken = os.path.join(folder, "in"), os.path.join(folder, "out")
    with open(given, "wb") as file:
        for part in (x, y, c):
            file.write(part.tobytes())
    ours = subprocess.Popen(
        [driver, str(modes), str(points), str(n), str(TOLERANCE), given, taken],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    description = ours.stdout.readline().strip()
    peers = [Finufft(modes, upsampling, x, y, c) for upsampling in (None, 1.25)]
    times = {peer.name: [] for peer in peers}
    own = []
    for _ in range(TURNS):
        for peer in peers:
            times[peer.name].append(peer.run())
        ours.stdin.write("run\n")
        ours.stdin.flush()
        own.append(float(ours.stdout.readline()))
    ours.stdin.close()
    ours.wait()
    result = np.fromfile(taken, np.complex64).reshape(n, modes, modes)
    print(f"{n} candidates of {points} points on {modes} x {modes}, microseconds a candidate:")
    for peer in peers:
        off = error(peer.out[0], x[0], y[0], c[0], modes, rng)
        print(f"  {1e6 * min(times[peer.name]) / n:10.2f}  error {off:.1e}  {peer.name}")
    off = error(result[0], x[0], y[0], c[0], modes, rng)
    print(f"  {1e6 * min(own) / n:10.2f}  error {off:.1e}  {description}")
    ratio = min(min(t) for t in times.values()) / min(own)
    held = ratio >= wanted and off <= TOLERANCE
    print(f"  {ratio:.2f} times as fast as the better one; wanted: {words}"
          f"{'' if held else '  NOT REACHED'}")
    return held


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0])
        return 2
    with tempfile.TemporaryDirectory() as folder:
        held = [compare(sys.argv[1], folder, *case) for case in CASES]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
