-- expect: normal_zero.lua:3: ec.geometry.points: the normal of element 2 has zero length
local ec = require "eciton"
local g = ec.geometry.points{ x = { 0, 1 }, nx = { 0, 0 }, ny = { 0, 0 }, nz = { 1, 0 } }
