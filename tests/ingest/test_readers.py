"""From bytes to lines to cells: nothing is lost, whatever the bytes are."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import UnknownFormat
from gwa.ingest.source import lines
from gwa.ingest.source.compressed import BLOCK_SIZE, Source, plain_name
from gwa.ingest.source.head import HEAD_SIZE, FileHead, entries
from gwa.ingest.source.lines import MAXIMUM_LINE_LENGTH, LineLayout, line_blocks, squeeze

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
PACKED = pytest.mark.parametrize("kind", PACKERS)
TEXT = b"".join(b"%d some text of a line\n" % number for number in range(20_000))


def content(path, size=1 << 16):
    source, pieces = Source(path), []
    while piece := source.read(size):
        pieces.append(piece)
    source.close()
    return b"".join(pieces), source


def read(tmp_path, data, layout=None, size=BLOCK_SIZE):
    """Return what becomes of the lines of *data*: kept lines, and an account of all."""
    path = tmp_path / "data"
    path.write_bytes(data)
    source = Source(path)
    found = list(line_blocks(source, layout or LineLayout(), size))
    source.close()
    return b"".join(bytes(part.data) for part in found), found


@PACKED
def test_compressed_data_is_told_by_its_first_bytes(kind, tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(PACKERS[kind](TEXT))
    data, source = content(path)
    assert data == TEXT
    assert source.position == source.size == path.stat().st_size


@PACKED
def test_several_streams_in_one_file_are_read_on(kind, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(PACKERS[kind](TEXT) + PACKERS[kind](b"the end\n"))
    assert content(path)[0] == TEXT + b"the end\n"


@PACKED
def test_what_comes_before_a_break_is_kept(kind, tmp_path):
    path = tmp_path / "log"
    packed = PACKERS[kind](np.random.default_rng(1).bytes(3 << 20))
    path.write_bytes(packed[: len(packed) * 3 // 4])
    data, source = content(path)
    assert "compressed data broke off" in (source.broken or "")
    # bzip2 works in blocks of 900 kB, the others give nearly all that there is.
    assert len(data) > (1.7e6 if kind == "bz2" else 2.2e6)


def test_garbage_behind_a_stream_is_told(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT) + b"garbage")
    data, source = content(path)
    assert data == TEXT
    assert "compressed data broke off" in (source.broken or "")


def test_half_a_line_at_a_break_is_not_taken_for_a_whole(tmp_path):
    packed = gzip.compress(TEXT, 0)
    kept, found = read(tmp_path, packed[: len(packed) // 2])
    assert TEXT.startswith(kept)
    assert kept.endswith(b"\n")
    assert sum(part.total for part in found) == kept.count(b"\n") > 9000


def test_the_hash_is_of_the_whole_file(tmp_path):
    import hashlib

    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(TEXT))
    source = Source(path)
    source.read(10)
    assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    source.close()


def tarred(kind=tarfile.USTAR_FORMAT):
    """Return a tar archive of a log."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        member = tarfile.TarInfo("logs/january.swf")
        member.size = 29
        archive.addfile(member, io.BytesIO(b"1 1 5 60 2 -1 -1 2 60 -1 1 1\n"))
    return out.getvalue()


def zipped():
    """Return a zip archive of a log."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("january.swf", "1 1 5 60 2 -1 -1 2 60 -1 1 1\n")
    return out.getvalue()


ARCHIVES = {
    "tar": (tarred(), r"is a tar archive \(logs/january.swf, …\): unpack it \(tar -xf 'a log'\)"),
    "tar of GNU": (tarred(tarfile.GNU_FORMAT), "is a tar archive"),
    "tar of POSIX": (tarred(tarfile.PAX_FORMAT), "is a tar archive"),
    "zip": (zipped(), "is a zip archive.* unpack it"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04", "is a 7z archive: unpack it"),
    "lz4": (b"\x04\x22\x4d\x18...", r"is compressed by lz4: unpack it \(lz4 -d 'a log'\)"),
    "gzip": (gzip.compress(TEXT), "is compressed"),
}


@pytest.mark.parametrize("packer", [None, *PACKERS])
@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_are_refused_by_name_whatever_they_are_packed_in(kind, packer, tmp_path):
    data, reason = ARCHIVES[kind]
    if kind == "gzip":
        data, reason = (data, "is compressed twice") if packer else (gzip.compress(data), "compressed twice")
    (tmp_path / "a log").write_bytes(PACKERS[packer](data) if packer else data)

    with pytest.raises(UnknownFormat, match=reason):
        FileHead.of(tmp_path / "a log")


def test_names_lose_the_suffix_of_their_compression(tmp_path):
    assert [plain_name(tmp_path / name) for name in ("a.swf.gz", "a.swf", "a.GZ")] == ["a.swf", "a.swf", "a"]


# Lines.


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b" \t\n"])
def test_lines_end_in_many_ways(end, tmp_path):
    kept, found = read(tmp_path, end.join([b"1 2", b" 3\t\t4 ", b"5 6"]))
    assert kept == b"1 2\n3 4\n5 6\n"
    assert sum(part.total for part in found) == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_text_may_be_encoded_in_many_ways(encoding, tmp_path):
    bom = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    kept, _ = read(tmp_path, bom + "1 Zoë\n2 Ångström\n".encode(encoding))
    assert kept.decode() == "1 Zoë\n2 Ångström\n"


def test_bytes_that_are_no_utf8_are_read_as_latin_1_where_they_stand(tmp_path):
    kept, _ = read(tmp_path, "1 日本\n2 ".encode() + b"Zo\xeb\n")
    assert kept.decode() == "1 日本\n2 Zoë\n"


def test_nul_bytes_and_the_end_sign_of_dos_are_blanks(tmp_path):
    kept, found = read(tmp_path, b"\x00\x00\x00\n1\x002\n\x1a")
    assert kept == b"1 2\n"
    assert (found[0].total, found[0].comments) == (3, 2)


def test_a_line_without_end_is_refused_and_not_held_in_memory(tmp_path):
    data = b"1 2\n" + b"9" * (3 * MAXIMUM_LINE_LENGTH) + b"\n3 4\n"
    kept, (part,) = read(tmp_path, data, LineLayout(width=2))
    assert kept == b"1 2\n3 4\n"
    assert [(reject.line, reject.reason) for reject in part.rejects] == [
        (2, f"longer than {MAXIMUM_LINE_LENGTH} bytes")
    ]
    assert part.rejects[0].text == "9" * lines.REJECT_TEXT_LENGTH
    assert part.total == 3
    assert part.line_numbers(np.array([0, 1])).tolist() == [1, 3]


CELL = st.text(st.sampled_from("ab1-;#\"'\\"), min_size=1, max_size=3)
LINE = st.one_of(
    st.lists(CELL, min_size=1, max_size=5).map("  ".join),
    st.just(""),
    st.just(" \t "),
    CELL.map(lambda cell: f";{cell}"),
)


@given(
    rows=st.lists(LINE, max_size=60), chunk=st.integers(1, 99), size=st.integers(1, 200), end=st.booleans()
)
def test_every_line_is_kept_refused_blank_or_a_comment(rows, chunk, size, end, tmp_path_factory):
    text = "\n".join(rows) + ("\n" if end else "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_SIZE", chunk)
        kept, found = read(
            tmp_path_factory.mktemp("lines"), text.encode(), LineLayout(" ", ";", width=3), size
        )
    numbered = dict(enumerate(text.removesuffix("\n").split("\n") if text else [], 1))
    places = [int(number) for part in found for number in part.line_numbers(np.arange(part.data_lines))]
    refused = [reject.line for part in found for reject in part.rejects]
    comments = [number for number, row in numbered.items() if row.startswith(";") or not row.strip()]
    good = {number for number, row in numbered.items() if row[:1] != ";" and len(row.split()) == 3}

    assert sum(part.total for part in found) == len(numbered)
    assert kept.decode() == "".join(" ".join(numbered[number].split()) + "\n" for number in places)
    # Among lines whose lacks and surpluses even out some may be left for the parser to refuse.
    assert (
        good <= set(places) <= {number for number, row in numbered.items() if row.strip() and row[0] != ";"}
    )
    assert sum(part.comments for part in found) == len(comments)
    assert sorted([*places, *refused, *comments]) == list(numbered)


def test_squeezing_keeps_what_is_no_blank():
    assert squeeze(b"\t a\xc3\xa9\x0b\x0c b \n\n  \n c\n") == b"a\xc3\xa9 b\n\n\nc\n"


# Heads.


def test_a_head_ends_with_a_whole_line(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"; Computer: Heron\n" * (HEAD_SIZE // 18 + 5))
    assert set(FileHead.of(path).comments(";")) == {" Computer: Heron"}


def test_only_blanks_of_ascii_part_cells(tmp_path):
    path = tmp_path / "log"
    path.write_text("1 a\u00a0b\u2028c 2\n", encoding="utf-8")
    head = FileHead.of(path)
    assert head.rows() == ["1 a\u00a0b\u2028c 2"]
    assert head.width(LineLayout()) == 3


@pytest.mark.parametrize(
    ("data", "binary"),
    [(b"\x00\x01\x02" * 99, True), (TEXT, False), (("1 2\n" * 50).encode("utf-16"), False)],
)
def test_binary_data_is_told_from_text(data, binary, tmp_path):
    (tmp_path / "log").write_bytes(data)
    assert FileHead.of(tmp_path / "log").is_binary == binary


def test_a_header_has_keys_and_lines_that_go_on():
    comments = [
        " Version: 2.2",
        " Note:  a   b  ",
        "   goes on",
        " http://x.y",
        " Empty:",
        "",
        " A-b: no key",
    ]
    assert entries(comments) == (
        ("Version", "2.2"),
        ("Note", "a   b goes on http://x.y"),
        ("Empty", "A-b: no key"),
    )


@pytest.mark.parametrize(("data", "kept"), [(b"\0", b"a"), (b" \t", b"a\t\t"), (b" ", b"a")])
def test_blanks_without_end_are_looked_at_once(data, kept, tmp_path):
    """What went over them again and again would not come back."""
    many = 1 << 18
    (tmp_path / "log").write_bytes(b"a" + data * many + b"\r\nb\r\n")
    (part,) = line_blocks(Source(tmp_path / "log"), LineLayout("\t"))
    assert part.data.startswith(kept)
    assert part.data.endswith(b"\nb\n")
    assert b" " not in part.data
