"""One put explained: every candidate with its verdict, the routes and their shares."""
