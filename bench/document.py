"""docs/benchmarks.md: each script that measures writes a section of its own, and leaves the rest as it is."""

from servers import BENCH

DOCUMENT = BENCH.parent / "docs" / "benchmarks.md"


def write_section(script: str, text: str) -> None:
    """Put the text between the marks of a script; raises ValueError where the document has no such marks."""
    begin, end = f"<!-- bench/{script} writes this -->\n", f"<!-- bench/{script} ends here -->\n"
    before, _, rest = DOCUMENT.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{DOCUMENT} lacks the marks between which bench/{script} writes")
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{end}{after}")
