"""The command line's root."""


def main() -> None:
    raise SystemExit(0)
