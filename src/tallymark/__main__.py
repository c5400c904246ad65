"""`python -m tallymark` is the command line."""

from tallymark.cli import main

if __name__ == "__main__":
    main()
