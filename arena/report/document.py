"""A report for programs: any value as JSON that people can read, too."""

import msgspec


def json_document(value: object) -> str:
    """The value as JSON, indented; it ends without a line feed."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
