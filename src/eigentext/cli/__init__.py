"""The command `eigentext`: parses, calls, prints."""

from eigentext.cli.main import app, main

__all__ = ["app", "main"]
