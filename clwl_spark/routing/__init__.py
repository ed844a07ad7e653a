"""Messages meet their plans: intake, buckets, engines, outcomes, and the run around them."""
