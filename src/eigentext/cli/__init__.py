"""The command `eigentext`: it reads options, calls the library, and prints."""

from eigentext.cli.main import app, main

__all__ = ["app", "main"]
