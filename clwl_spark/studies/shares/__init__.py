"""Expected load without a message: long-run shares of requests and of traffic."""
