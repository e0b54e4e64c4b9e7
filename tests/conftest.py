"""Lets every room's tests import the helper modules that lie in this folder."""
