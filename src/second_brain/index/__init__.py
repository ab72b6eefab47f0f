"""The derived stores: chunks, full text, vectors, catalogue and state. Knows no files, no HTTP."""
