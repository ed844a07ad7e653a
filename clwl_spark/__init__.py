"""Where does every message of an IBM MQ cluster go, and why: exactly, on Spark."""
