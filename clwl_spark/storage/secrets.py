"""Secrets taken out of what is said: on the screen, in logs and in errors."""

import os
import re
from typing import Final

HIDDEN: Final = "***"
_NAMED: Final = re.compile(
    r"SECRET|TOKEN|PASSWORD|PASSWD|_SAS\b|SAS_KEY|ACCESS_KEY|ACCOUNT_KEY|SERVICE_ACCOUNT_KEY|CREDENTIAL"
)
"""Variables of the environment whose values are secrets."""
_SHORTEST: Final = 6
"""A shorter value would hide ordinary words."""
_ENDS: Final = (
    r"(?:secret|password|passwd|token|credential|signature|secret[_.-]?(?:access[_.-]?)?key|"
    r"(?:account|access|private)[_.-]?key)"
)
"""How the name of something secret ends."""
_SAYS: Final = (
    (re.compile(r"(\w[\w+.-]*://)[^/\s:@]*:[^\s@]+@"), rf"\1{HIDDEN}@"),
    (re.compile(rf"(?i)({_ENDS}[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;)}}\]>]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)([?&](?:sig|se|sp|sv|skoid)=)[^\s&\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(authorization\s*[:=]\s*)(?:\w[\w-]*\s+)?[^\s\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"), HIDDEN),
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
        HIDDEN,
    ),
)


def without_secrets(text: str) -> str:
    """A text in which *** stands for what is secret.

    That are the values of variables of the environment that name one, and what is written as one:
    a password in a URI, `secret…=`, the signature of a signed URL, a private key.
    """
    for value in sorted(_values(), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    for pattern, instead in _SAYS:
        text = pattern.sub(instead, text)
    return text


def _values() -> set[str]:
    """Values of the environment's variables that name a secret."""
    return {
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _NAMED.search(name.upper()) and not name.endswith("_FILE")
    }
