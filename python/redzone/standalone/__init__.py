"""An exported finding, but for its data: `redzone export --standalone` writes these modules, whole and
in one file, so they import nothing of the package but each other.

failure, stand_in, fills, memory, arrays, processes, trials: in this order.
"""
