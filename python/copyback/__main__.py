"""``python -m copyback``: the command line."""

from copyback.cli import main

if __name__ == "__main__":
    main()
