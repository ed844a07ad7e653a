"""What people look at: the report, and ready questions in SQL."""
