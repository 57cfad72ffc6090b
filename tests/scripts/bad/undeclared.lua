-- expect: undeclared.lua:3: undeclared variable 'apertur'
local aperture = 3
print(apertur)
