"""MQ's words and ranges, and the texts that MQ prints."""
