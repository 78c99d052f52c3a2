"""Running turns: consumer, host, turn, rounds, failover, publisher."""
