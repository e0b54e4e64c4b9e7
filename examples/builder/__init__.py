"""Builds the example checkpoints: values, tensor formats, layers, files, and one module for each model."""
