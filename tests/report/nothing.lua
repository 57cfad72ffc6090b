-- Neither a search nor a sweep.
print(require "eciton".value(1))
