"""Lets every room's tests import the helper modules that lie in this folder."""

import gc

# Thousands of collected tests live until the end; going through them all again and again costs a tenth of the time.
gc.set_threshold(100_000, 50, 100)
