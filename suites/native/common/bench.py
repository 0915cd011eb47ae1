"""What every oracle of the suite needs: the parameters of the program whose output it predicts."""
import os
import sys


def fail(text):
    sys.stderr.write(text + "\n")
    sys.exit(2)


def parameter(name, fallback, maximum):
    text = os.environ.get(name)
    if text is None:
        return fallback
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= maximum):
        fail(f"{name} must be 1 to {maximum}")
    return int(text)


def size(fallback, maximum):
    return parameter("ASSAY_BENCH_SIZE", fallback, maximum)


def steps(fallback, maximum):
    return parameter("ASSAY_BENCH_STEPS", fallback, maximum)


def read_input():
    """The bytes of the one file that the oracle is given."""
    if len(sys.argv) != 2:
        fail(f"usage: {sys.argv[0]} FILE")
    try:
        with open(sys.argv[1], "rb") as file:
            return file.read()
    except OSError as error:
        fail(f"{sys.argv[1]}: {error.strerror}")
