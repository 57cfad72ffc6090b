-- flags: --trust
-- expect: function table
print(type(io.open) .. " " .. type(debug))
