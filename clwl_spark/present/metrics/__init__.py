"""A lake's figures for those who watch it: read, and written for Prometheus and OpenTelemetry."""
