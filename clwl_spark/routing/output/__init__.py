"""Routed blocks become files and rows."""
