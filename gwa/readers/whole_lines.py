"""Read whole lines as text, for formats that a SELECT takes apart itself: one column, ``text``."""

from collections.abc import Iterator

from gwa.readers.batch import Records, Shape
from gwa.readers.compressed import Source
from gwa.readers.lines import Layout, parts

LINES = {"text": "varchar"}
"""The columns of this reader."""


def batches(source: Source, shape: Shape) -> Iterator[Records]:
    """Yield the lines of *source* that are neither blank nor comments."""
    for part in parts(source, Layout("", shape.comment)):
        batch = Records(shape, total=part.total - part.kept, rejects=part.rejects)
        batch.remarks = len(part.comments) + part.blank
        skipped = {int(number) for group in part.skipped for number in group}
        numbers = (number for number in range(part.first, part.first + part.total) if number not in skipped)
        for number, line in zip(numbers, part.data.decode().splitlines(), strict=True):
            batch.add(number, {"text": line})
        yield batch
