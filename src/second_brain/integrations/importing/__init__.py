"""Other memories' exports, read into entries and relations that the brain can take over."""
