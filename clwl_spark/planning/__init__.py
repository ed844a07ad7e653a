"""From a request (who puts to what) to its plan: name resolution, candidate rows, routes."""
