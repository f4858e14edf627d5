"""Facts over a graph, the rules, and the linter that runs them."""
