"""The whole command line, for whoever writes its reference."""

from copyback.cli import application

app = application()
