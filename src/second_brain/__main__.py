"""`python -m second_brain` is `brain`."""

from second_brain.cli.main import main

if __name__ == "__main__":
    main(prog_name="brain")
