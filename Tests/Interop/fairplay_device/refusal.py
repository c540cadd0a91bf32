"""Why an SPC is not answered."""


class Refusal(Exception):
    """The SPC is not answered; `status` and `code` are what a client is told, `reason` is for the reader of a test."""

    def __init__(self, status: int, code: str, reason: str):
        super().__init__(f"{status} {code}: {reason}")
        self.status = status
        self.code = code
        self.reason = reason


def rejected(reason: str) -> Refusal:
    """The one answer to everything that fails after the certificate hash."""
    return Refusal(422, "spc_rejected", reason)
