"""The command line. Modules here import heavy packages only inside the command that needs them."""
