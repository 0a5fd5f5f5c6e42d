"""What kinetree raises. One base, a handful of kinds; every message says what, where, found, allowed, and what to do."""


class KinetreeError(Exception):
    """Base of every error that kinetree raises on purpose."""


class ModelError(KinetreeError, ValueError):
    """The bodies, joints or inertias given do not make a physical tree."""


class FileError(KinetreeError, ValueError):
    """A file cannot be read as what it claims to be. The message begins with file:line where a line is known."""


class InputError(KinetreeError, ValueError):
    """An array or option given to a public function has the wrong shape, type or value."""


class SimulationError(KinetreeError, RuntimeError):
    """A simulation could not go on; the message names the time and the cause."""


class MissingExtraError(KinetreeError, ImportError):
    """An optional part was asked for and is not installed; the message says what to install."""
