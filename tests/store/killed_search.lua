-- A search that kill.sh ends in the middle: --set method=NAME, keep=WORD, generations=N. Some designs fail, lists
-- are recorded, and the looks are many for the short time that it takes.
local ec = require "eciton"
local method, keep = ec.arg("method", "lshade"), ec.arg("keep", "best")
local job = ec.job{ name = "killed", seed = 7 }
local x = job:real{ name = "x", count = 6, min = -5, max = 5 }
local f = ((x - 1.25) ^ 2 - ec.cos(5 * x)):sum()
if method == "nsga2" then
  job:minimize("near", f)
  job:minimize("far", ((x + 1.5) ^ 2):sum())
else
  job:minimize("f", f + ec.sqrt(x[1] + 4.5))
end
job:record("squares", x * x)
print(job:solve{ method = method, keep = keep, generations = ec.arg("generations", 400),
  population = ec.arg("population", 40) })
