"""Transcripts of the command line; a package, so that its conftest is its own among others."""
