"""The recipe for puts of Kafka's topics, as the documentation has it."""

import re
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "traffic.md"


def recipe() -> tuple[str, str]:
    """The program of the page, and the packages that its command names."""
    text = PAGE.read_text(encoding="utf-8")
    program = re.search(r'```python title="from_kafka.py"\n(.*?)```', text, re.DOTALL)
    packages = re.search(r"--packages (\S+?)\\\n(\S+) ", text)
    assert program is not None
    assert packages is not None
    return program[1], f"{packages[1]}{packages[2]}"
