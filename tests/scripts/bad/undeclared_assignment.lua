-- expect: undeclared_assignment.lua:2: undeclared variable 'aperture' is assigned to: write 'local aperture'
aperture = 3
