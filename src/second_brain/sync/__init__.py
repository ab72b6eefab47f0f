"""Sync: makes catalogue and index equal to the vault, whatever events came or were missed."""
