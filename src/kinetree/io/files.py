"""Reading a file's bytes: ordinary files only, up to a stated size."""

import os
import stat
from pathlib import Path

from kinetree.errors import FileError

MAX_BYTES = 64 * 2**20


def file_bytes(path: Path) -> bytes:
    """The content of an ordinary file of at most `MAX_BYTES`.

    Raises `FileError` where there is no such file, where it is a directory, a device or a pipe, or where it is too big.
    """
    try:
        # O_NONBLOCK: opening a pipe that nobody writes to must not wait.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise FileError(f"{path}: no such file (looked in {Path.cwd()}); check the path") from None
    except ValueError:
        raise FileError(f"{str(path).replace(chr(0), '<null>')}: is not a path: it holds a null character") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be opened: {error.strerror or error}") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = "a directory" if stat.S_ISDIR(mode) else "not an ordinary file"
        raise FileError(f"{path}: is {kind}; give the path of a model file")
    with os.fdopen(handle, "rb") as stream:
        try:
            data = stream.read(MAX_BYTES + 1)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise FileError(f"{path}: is larger than {MAX_BYTES // 2**20} MiB, the most that is read; is it a model file?")
    return data
