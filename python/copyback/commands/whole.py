"""The whole command line, for whoever writes its reference."""

from copyback.commands.cli import application

app = application()
