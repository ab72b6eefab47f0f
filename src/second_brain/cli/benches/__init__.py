"""What `brain bench` measures, and with what: made-up vaults, the real daemon, one table."""
