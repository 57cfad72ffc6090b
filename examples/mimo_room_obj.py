#!/usr/bin/env python3
"""Writes mimo_room.obj and mimo_room.mtl beside itself: a meeting room of 8 x 6 x 3 m, in metres.

The room is one closed shell that faces inwards, on a grid of half a metre, so that its parts meet
corner to corner. Furniture is boxes that face outwards, and a round pillar. Materials have the names
of ITU-R P.2040.
"""
import math
import os

SIZE = (8.0, 6.0, 3.0)
COLOURS = {
    "concrete": (0.7, 0.7, 0.7), "plasterboard": (0.9, 0.9, 0.85), "ceiling_board": (1, 1, 1),
    "glass": (0.6, 0.8, 0.9), "wood": (0.7, 0.5, 0.3),
    "chipboard": (0.75, 0.6, 0.4), "metal": (0.5, 0.5, 0.55),
}
lines = []
vertices = {}
count = 0


def begin(name, material):
    lines.append("o " + name)
    lines.append("usemtl itu_" + material)
    vertices.clear()


def vertex(p):
    global count
    key = tuple(round(x, 6) + 0.0 for x in p)
    if key not in vertices:
        count += 1
        vertices[key] = count
        lines.append("v %.7g %.7g %.7g" % key)
    return vertices[key]


def face(*corners):
    """A convex polygon, counter-clockwise seen from outside."""
    v = [vertex(p) for p in corners]
    lines.extend("f %d %d %d" % (v[0], v[i], v[i + 1]) for i in range(1, len(v) - 1))


def cells(name, material, place, u, v, skip=()):
    """Squares of half a metre: place(u, v) gives their corners; skip: rectangles left out."""
    begin(name, material)
    for i in range(round(2 * u[0]), round(2 * u[1])):
        for k in range(round(2 * v[0]), round(2 * v[1])):
            a, b = i / 2, k / 2
            if not any(s[0] <= a < s[1] and s[2] <= b < s[3] for s in skip):
                face(*(place(a + d, b + e) for d, e in ((0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5))))


def box(low, high):
    x, y, z = zip(low, high)
    for side in ("000 010 110 100", "001 101 111 011", "000 100 101 001",
                 "010 011 111 110", "000 001 011 010", "100 110 111 101"):
        face(*((x[int(i)], y[int(k)], z[int(m)]) for i, k, m in side.split()))


def furniture(name, material, *boxes):
    begin(name, material)
    for low, high in boxes:
        box(low, high)


def pillar(name, material, x, y, radius, height, sides):
    begin(name, material)
    ring = [(x + radius * math.cos(2 * math.pi * i / sides), y + radius * math.sin(2 * math.pi * i / sides))
            for i in range(sides)]
    for i in range(sides):
        a, b = ring[i], ring[(i + 1) % sides]
        face((*a, 0), (*b, 0), (*b, height), (*a, height))
    face(*((*p, height) for p in ring))
    face(*((*p, 0) for p in reversed(ring)))


def room():
    X, Y, Z = SIZE
    cells("floor", "wood", lambda a, b: (a, b, 0), (0, X), (0, Y))
    cells("ceiling", "ceiling_board", lambda a, b: (b, a, Z), (0, Y), (0, X))
    window, door = (2, 6.5, 1, 2.5), (0.5, 1.5, 0, 2)
    north, east = (lambda a, b: (a, Y, b)), (lambda a, b: (X, b, a))
    south, west = (lambda a, b: (b, 0, a)), (lambda a, b: (0, a, b))
    cells("wall_north", "concrete", north, (0, X), (0, Z), [window])
    cells("window", "glass", north, window[:2], window[2:])
    cells("wall_east", "plasterboard", east, (0, Z), (0, Y))
    cells("wall_south", "plasterboard", south, (0, Z), (0, X))
    cells("wall_west", "concrete", west, (0, Y), (0, Z), [door])
    cells("door", "wood", west, door[:2], door[2:])


def table(name, low, high, inset):
    """A top of 4 cm on four legs of 6 cm."""
    legs = [((x, y, 0), (x + 0.06, y + 0.06, high[2] - 0.04))
            for x in (low[0] + inset, high[0] - inset - 0.06)
            for y in (low[1] + inset, high[1] - inset - 0.06)]
    furniture(name, "wood", ((*low, high[2] - 0.04), high), *legs)


def chair(name, x, y, back):
    """A seat of 0.44 m about (x, y); back: -1 or 1, the side of y its back is on."""
    s = 0.22
    legs = [((x + i * 0.17 - 0.02, y + k * 0.17 - 0.02, 0), (x + i * 0.17 + 0.02, y + k * 0.17 + 0.02, 0.42))
            for i in (-1, 1) for k in (-1, 1)]
    edge = sorted((y + back * 0.16, y + back * 0.2))
    furniture(name, "wood", ((x - s, y - s, 0.42), (x + s, y + s, 0.46)),
              ((x - s + 0.02, edge[0], 0.46), (x + s - 0.02, edge[1], 0.92)), *legs)


def all_of_it():
    room()
    table("table", (2.63, 2.17), (6.23, 3.57, 0.74), 0.12)
    for i in range(4):
        x = 3.07 + 0.9 * i
        chair("chair_%d" % (2 * i + 1), x, 1.87, -1)
        chair("chair_%d" % (2 * i + 2), x, 3.87, 1)
    furniture("cupboard", "chipboard", ((6.83, 0.06, 0), (7.93, 0.53, 2.03)))
    furniture("cabinet", "metal", ((0.07, 4.63, 0), (0.57, 5.83, 1.27)))
    furniture("radiator", "metal", ((2.37, 5.83, 0.13), (6.13, 5.93, 0.83)))
    furniture("screen", "metal", ((7.87, 2.03, 1.03), (7.94, 3.73, 2.03)))
    furniture("whiteboard", "metal", ((2.57, 0.03, 0.87), (5.57, 0.06, 2.13)))
    for i in range(2):
        furniture("lamp_%d" % (i + 1), "metal",
                  ((2.23 + 2.6 * i, 2.73, 2.43), (4.03 + 2.6 * i, 2.93, 2.51)))
    pillar("pillar", "concrete", 1.37, 1.43, 0.2, 2.98, 36)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    all_of_it()
    with open(os.path.join(here, "mimo_room.obj"), "w") as f:
        f.write("# A meeting room of 8 x 6 x 3 m, by mimo_room_obj.py\nmtllib mimo_room.mtl\n")
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(here, "mimo_room.mtl"), "w") as f:
        for name, colour in COLOURS.items():
            f.write("newmtl itu_%s\nKd %g %g %g\n" % ((name,) + colour))


main()
