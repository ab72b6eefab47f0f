"""What `brain doctor` looks at: one module a subject, each a few functions that return findings."""
