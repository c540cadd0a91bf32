"""Why an SPC is not answered."""


class Refusal(Exception):
    """The SPC gets no license. The client gets `status` and `code`; `reason` is for the reader of a test."""

    def __init__(self, status: int, code: str, reason: str):
        super().__init__(f"{status} {code}: {reason}")
        self.status = status
        self.code = code
        self.reason = reason


def rejected(reason: str) -> Refusal:
    """The refusal for every failure after the check of the certificate hash: the client cannot tell them apart."""
    return Refusal(422, "spc_rejected", reason)
