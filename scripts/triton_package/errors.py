"""What the user of the exporter did wrong."""


class PackageError(Exception):
    """One line that names the file and, where there is one, the field."""

    def __init__(self, file, field, message):
        self.file = str(file)
        self.field = field
        where = f"{self.file}: {field}" if field else self.file
        super().__init__(f"{where}: {message}")
