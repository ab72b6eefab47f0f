"""The browser extension: its files, and how they are written out for one kind of browser."""
