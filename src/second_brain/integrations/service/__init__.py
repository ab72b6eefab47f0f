"""The daemon as a service of the user's session: systemd on Linux, launchd on macOS."""
