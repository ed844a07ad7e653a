"""Messages meet their plans: blocks, the stateful stream, outcomes, and the run around them."""
