"""What can be proven about a policy: reachability, comparison, coverage."""
