"""The lists that quantizers write and how each engine reads them, as data."""
