"""Large sparse matrices: row ranges, sorted runs, products, arrays on disk, and a memory budget."""
