"""Findings, one module each, and the reporters that print them."""
