"""What connects the daemon to other programs of this machine: their files, written with care."""
