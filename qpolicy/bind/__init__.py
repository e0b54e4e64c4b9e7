"""Policy, checkpoint and asker become a matcher that decides modules."""
