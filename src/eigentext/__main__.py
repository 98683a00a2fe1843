"""`python -m eigentext` is the command `eigentext`."""

from eigentext.cli import main

if __name__ == "__main__":
    main()
