"""One module per finding, called by its code and its name; ``CODE`` is its page."""
