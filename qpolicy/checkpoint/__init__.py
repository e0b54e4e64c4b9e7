"""A checkpoint without its weights: headers, config files, the table of stored modules."""
