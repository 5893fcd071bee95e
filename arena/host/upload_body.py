"""The body of an upload, written to a file as it arrives: a form with one file, or the file alone."""

from typing import BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from arena.errors import ArenaError
from arena.web.guard import TOO_LARGE

FILE = "file"
MOST_FIELDS = 20
LONGEST_FIELD = 8192
LONGEST_NAME = 1024
DISPOSITION = b"content-disposition"


class BodyError(ArenaError):
    """A body that is not taken. `status` is that of the answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class FilePart:
    """Takes the pieces of a body. Without `kind`, the type of a form, the body is the file.

    Raises `BodyError` for what is no form, and for a file of more than `most` bytes.
    """

    def __init__(self, written: BinaryIO, most: int, kind: str | None) -> None:
        self._written, self._most = written, most
        self.size = 0
        self.name = ""
        self.fields: dict[str, str] = {}
        self._field, self._value = "", bytearray()
        self._header, self._header_value = bytearray(), bytearray()
        self._has_file = self._is_file = self._is_over = False
        self._parser = None if kind is None else self._new_parser(kind)

    def _new_parser(self, kind: str) -> MultipartParser:
        boundary = parse_options_header(kind)[1].get(b"boundary", b"")
        if not boundary:
            raise BodyError(400, "Expected a form with a boundary.")
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._on_header,
                "on_header_value": self._on_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_data,
                "on_part_data": self._on_data,
                "on_part_end": self._end,
                "on_end": self._finish,
            },
        )

    def feed(self, piece: bytes) -> None:
        if self._parser is None:
            self._write(piece)
            return
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise BodyError(400, f"Expected a form with a file: {error}") from None

    def finish(self) -> None:
        if self._parser is not None and not (self._is_over and self._has_file):
            raise BodyError(400, f"Expected a form with a file in the field {FILE!r}.")

    def _write(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self._most:
            raise BodyError(413, TOO_LARGE)
        self._written.write(piece)

    def _begin(self) -> None:
        self._field, self._is_file = "", False
        self._header.clear()
        self._header_value.clear()
        self._value.clear()

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == DISPOSITION:
            _, options = parse_options_header(bytes(self._header_value))
            self._field = options.get(b"name", b"").decode("utf-8", "replace")
            if b"filename" in options:
                self._is_file = True
                self.name = options[b"filename"][:LONGEST_NAME].decode("utf-8", "replace")
        self._header.clear()
        self._header_value.clear()

    def _begin_data(self) -> None:
        if self._is_file and (self._has_file or self._field != FILE):
            raise BodyError(400, f"Expected one file, in the field {FILE!r}.")
        self._has_file = self._has_file or self._is_file

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._write(data[start:end])
        elif len(self._value) + end - start > LONGEST_FIELD or len(self.fields) >= MOST_FIELDS:
            raise BodyError(413, TOO_LARGE)
        else:
            self._value += data[start:end]

    def _end(self) -> None:
        if not self._is_file and self._field:
            self.fields[self._field] = self._value.decode("utf-8", "replace")

    def _finish(self) -> None:
        self._is_over = True
