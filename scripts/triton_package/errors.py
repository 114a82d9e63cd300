"""Errors in the input of the exporter."""


class PackageError(Exception):
    """One line that names the file and, if there is one, the field."""

    def __init__(self, file, field, message):
        self.file = str(file)
        self.field = field
        where = f"{self.file}: {field}" if field else self.file
        super().__init__(f"{where}: {message}")
