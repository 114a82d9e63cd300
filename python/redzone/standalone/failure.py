"""How a trial ends that does not run to its end."""


class Failed(Exception):
    """The failure shows; why."""


class Refused(Exception):
    """The callable refuses a call, which is no failure."""


class CannotRun(Exception):
    """A call cannot be made or compared, which says nothing of the failure; why."""
