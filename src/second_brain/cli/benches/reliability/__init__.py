"""What `brain bench reliability` does to a daemon, and how it is told that nothing was lost."""
