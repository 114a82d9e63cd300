"""What a process that runs code of the user writes to the one that asked it."""

from __future__ import annotations

import contextlib
import os


class Answer:
    """The end of a pipe that is written to, as long as no file has closed it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._pipe = os.fstat(number)
        # Processes that the files start must not keep the pipe open.
        os.set_inheritable(number, False)
        os.register_at_fork(after_in_child=self._close)

    def write(self, data: bytes) -> bool:
        """False if it is another file by now."""
        try:
            if not self._is_open():
                return False
            while data:
                data = data[os.write(self._number, data) :]
        except OSError:
            return False
        return True

    def _is_open(self) -> bool:
        return os.path.samestat(os.fstat(self._number), self._pipe)

    def _close(self) -> None:
        # If the pipe is closed already, the number may belong to another file.
        with contextlib.suppress(OSError):
            if self._is_open():
                os.close(self._number)
