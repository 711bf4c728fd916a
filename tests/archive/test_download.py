# mypy: disable-error-code="attr-defined,union-attr"
"""Downloads, from a server on this computer that does what servers do, and worse."""

import bz2
import gzip
import hashlib
import io
import lzma
import threading
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import zstandard

from gwa.archive.download import Expected, download
from gwa.archive.integrity import is_proven_whole
from gwa.errors import DownloadError, OutputError
from gwa.util.owned import OwnedFolder

CONTENT = gzip.compress(bytes(range(256)) * 4000, mtime=0)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)
HALF = SIZE // 2


class Answers(BaseHTTPRequestHandler):
    """Answers with what the test put under a path: a function of this handler."""

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.answers[self.path](self)

    def log_message(self, *_):
        pass

    def send(self, body=b"", status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving():
    """Serve on a port of this computer; what is asked is listed in ``asked``."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        server.asked, server.answers = [], {}
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as found:
        yield found


def whole(handler, body=CONTENT, **headers):
    handler.send(body, Content_Length=len(body), **headers)


def ranged(handler, body=CONTENT, tag='"one"'):
    """Answer as a server that can continue; for another tag with the whole file."""
    start = handler.headers.get("Range", "").removeprefix("bytes=").removesuffix("-")
    if not start or handler.headers.get("If-Range") != tag:
        whole(handler, body, ETag=tag)
        return
    rest = body[int(start) :]
    stated = f"bytes {start}-{len(body) - 1}/{len(body)}"
    handler.send(rest, 206, Content_Length=len(rest), Content_Range=stated, ETag=tag)


def cut(handler, body=CONTENT[:HALF], **headers):
    """Announce the whole file, send *body* only."""
    handler.send(body, Content_Length=SIZE, **headers)


def get(server, answer, path, expected=Expected(), name="/a.gz"):  # noqa: B008 - frozen
    server.answers[name] = answer
    return download(f"{server.url}{name}", path, expected)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(server, answer, folder, match, expected=Expected(), name="a.gz"):  # noqa: B008
    """Check that an answer is refused in a line, and that nothing of it is left."""
    with pytest.raises(DownloadError, match=match) as error:
        get(server, answer, folder / name, expected, f"/{name}")
    assert "\n" not in str(error.value)
    assert left(folder) == []


def test_a_file_is_downloaded_whole(server, tmp_path):
    found = get(server, whole, tmp_path / "a.gz", Expected(SHA256, SIZE))

    assert found == SHA256
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert left(tmp_path) == ["a.gz"]


def test_without_a_length_the_file_itself_shows_that_it_is_whole(server, tmp_path):
    assert get(server, lambda handler: handler.send(CONTENT), tmp_path / "a.gz") == SHA256
    (tmp_path / "a.gz").unlink()
    refused(server, lambda handler: handler.send(CONTENT[:HALF]), tmp_path, "is not whole")


def test_without_a_length_or_another_proof_a_file_is_refused(server, tmp_path):
    text = b"1 2 3\n" * 1000
    refused(server, lambda h: h.send(text), tmp_path, "does not state the length", name="a.swf")
    expected = Expected(hashlib.sha256(text).hexdigest())
    assert get(server, lambda h: h.send(text), tmp_path / "a.swf", expected, "/a.swf") == expected.sha256


@pytest.mark.parametrize("length", ["-5", "1e3", "many"])
def test_an_impossible_length_is_refused(server, tmp_path, length):
    refused(server, lambda h: h.send(CONTENT, Content_Length=length), tmp_path, "states a length")


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_another_encoding_than_was_asked_for_is_not_stored(server, tmp_path, encoding):
    body = gzip.compress(b"1 2 3\n")
    refused(
        server, lambda h: whole(h, body, Content_Encoding=encoding), tmp_path, "is sent encoded", name="a.swf"
    )


def test_a_compressed_file_that_is_announced_as_an_encoding_is_the_file(server, tmp_path):
    assert get(server, lambda h: whole(h, Content_Encoding="x-gzip"), tmp_path / "a.gz") == SHA256


def test_a_body_without_an_end_has_a_limit(server, tmp_path, monkeypatch):
    monkeypatch.setattr("gwa.archive.download.MAXIMUM_SIZE", 1000)
    refused(server, lambda h: h.send(CONTENT), tmp_path, "sends more than the 1,000 bytes")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst", ".zip", ".parquet"])
def test_each_kind_of_file_shows_whether_it_is_whole(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed_as(suffix))
    assert is_proven_whole(path, path.name)
    for kept in (1, 3, 5):
        path.write_bytes(packed_as(suffix)[: -(kept * 7) + 2])
        with pytest.raises(DownloadError, match="is not whole"):
            is_proven_whole(path, path.name)
    assert not is_proven_whole(path, "a.swf")


def packed_as(suffix):
    """Return some bytes as a file of a kind."""
    plain = bytes(range(256)) * 300
    match suffix:
        case ".bz2":
            return bz2.compress(plain)
        case ".xz":
            return lzma.compress(plain)
        case ".zst":
            return zstandard.compress(plain) + zstandard.compress(plain[:1000])
        case ".zip":
            data = io.BytesIO()
            with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a", plain)
            return data.getvalue()
        case ".parquet":
            return b"PAR1" + plain + b"PAR1"
        case _:
            return gzip.compress(plain)


def test_a_file_that_was_cut_is_continued(server, tmp_path):
    with pytest.raises(DownloadError, match=rf"ended after {HALF:,} of {SIZE:,} bytes; the same command"):
        get(server, lambda handler: cut(handler, ETag='"one"'), tmp_path / "a.gz")
    assert left(tmp_path) == [".a.gz.fetch"]

    assert get(server, ranged, tmp_path / "a.gz") == SHA256
    assert server.asked[-1][1]["Range"] == f"bytes={HALF}-"
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert left(tmp_path) == ["a.gz"]


def test_the_date_of_a_file_tells_its_version_too(server, tmp_path):
    date = "Wed, 01 Jan 2025 00:00:00 GMT"
    with pytest.raises(DownloadError, match="ended after"):
        get(server, lambda handler: cut(handler, ETag='W/"weak"', Last_Modified=date), tmp_path / "a.gz")

    get(server, ranged, tmp_path / "a.gz")
    assert server.asked[-1][1]["If-Range"] == date


def test_another_version_of_a_file_is_not_joined_to_the_first(server, tmp_path):
    with pytest.raises(DownloadError, match="ended after"):
        get(server, lambda handler: cut(handler, b"\x1f\x8b" + b"x" * HALF, ETag='"zero"'), tmp_path / "a.gz")

    assert get(server, ranged, tmp_path / "a.gz") == SHA256


def test_without_a_version_a_file_is_begun_again(server, tmp_path):
    with pytest.raises(DownloadError, match="ended after"):
        get(server, cut, tmp_path / "a.gz")

    assert get(server, ranged, tmp_path / "a.gz") == SHA256
    assert "Range" not in server.asked[-1][1]


def test_a_server_that_cannot_continue_is_asked_for_the_whole_file(server, tmp_path):
    with pytest.raises(DownloadError, match="ended after"):
        get(server, lambda handler: cut(handler, ETag='"one"'), tmp_path / "a.gz")

    def unsatisfiable(handler):
        if "Range" in handler.headers:
            handler.send(status=416, Content_Length=0)
        else:
            whole(handler)

    assert get(server, unsatisfiable, tmp_path / "a.gz") == SHA256


@pytest.mark.parametrize("stated", ["bytes 0-9/10", "bytes 5-99999999/10", "all of it", ""])
def test_a_part_that_was_not_asked_for_is_refused(stated, server, tmp_path):
    with pytest.raises(DownloadError, match="ended after"):
        get(server, lambda handler: cut(handler, ETag='"one"'), tmp_path / "a.gz")

    def wrong(handler):
        handler.send(b"x" * 10, 206, Content_Length=10, Content_Range=stated)

    refused(server, wrong, tmp_path, "a part that was not asked for")


def test_a_changed_file_is_refused(server, tmp_path):
    refused(server, whole, tmp_path, f"has the SHA-256 {SHA256}, expected 0000", Expected("0" * 64))


def test_a_file_of_another_size_is_refused_before_it_comes(server, tmp_path):
    refused(server, whole, tmp_path, f"has {SIZE:,} bytes, expected 10: the file has", Expected(SHA256, 10))


def test_no_more_than_the_file_is_taken(server, tmp_path):
    def endless(handler):
        handler.send()
        try:
            while True:
                handler.wfile.write(b"\x1f\x8b" + b"x" * (1 << 20))
        except OSError:
            pass

    refused(server, endless, tmp_path, r"sends more than the 1,000 bytes", Expected(size=1000))


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>moved", b"\n <HTML><body>login"])
@pytest.mark.parametrize("name", ["a.gz", "a.csv"])
def test_a_page_is_no_trace(page, name, server, tmp_path):
    refused(server, lambda handler: whole(handler, page), tmp_path, "is a web page, expected", name=name)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".parquet", ".zip", ".xz", ".bz2", ".tgz"])
def test_a_file_that_begins_as_no_such_file_does_is_refused(suffix, server, tmp_path):
    answer = whole if suffix not in {".gz", ".tgz"} else lambda handler: whole(handler, b"Not here.")
    refused(server, answer, tmp_path, f"does not begin as a {suffix} file", name=f"a{suffix}")


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:text/plain,x", "gopher://127.0.0.1/"]
)
def test_no_redirection_leads_elsewhere_than_to_http(target, server, tmp_path):
    refused(server, lambda handler: handler.send(status=302, Location=target), tmp_path, "302|leads to")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a.gz", "a.gz"])
def test_no_address_is_other_than_of_http(url, tmp_path):
    with pytest.raises(DownloadError, match="expected an address of http or https"):
        download(url, tmp_path / "a.gz", Expected())
    assert left(tmp_path) == []


def test_a_redirection_is_followed(server, tmp_path):
    server.answers["/b.gz"] = whole
    found = get(server, lambda handler: handler.send(status=301, Location="/b.gz"), tmp_path / "a.gz")
    assert found == SHA256


def test_redirections_in_a_circle_end(server, tmp_path):
    refused(server, lambda handler: handler.send(status=302, Location="/a.gz"), tmp_path, "302")


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_a_status_that_is_no_success_is_told(status, server, tmp_path):
    answer = lambda handler: handler.send(status=status, Content_Length=0)  # noqa: E731
    refused(server, answer, tmp_path, f"the server says {status}")


@pytest.mark.parametrize("answer", [b"", b"what?\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x" * 2])
def test_an_answer_that_is_none_is_told(answer, server, tmp_path):
    def odd(handler):
        handler.wfile.write(answer)
        handler.close_connection = True

    with pytest.raises(
        DownloadError, match=r"the connection broke|SHA-256|does not begin|states a length"
    ) as error:
        get(server, odd, tmp_path / "a.gz")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "a.gz").exists()


def test_chunks_that_break_off_are_continued(server, tmp_path):
    def chunked(handler):
        handler.protocol_version = "HTTP/1.1"
        handler.send(Transfer_Encoding="chunked", ETag='"one"')
        handler.wfile.write(b"%x\r\n" % SIZE + CONTENT[:HALF])
        handler.close_connection = True

    with pytest.raises(DownloadError, match="the connection broke"):
        get(server, chunked, tmp_path / "a.gz")
    assert not (tmp_path / "a.gz").exists()
    assert get(server, ranged, tmp_path / "a.gz") == SHA256


def test_nobody_listening_is_told(tmp_path):
    with serving() as server:
        url = server.url
    with pytest.raises(DownloadError, match="the connection broke"):
        download(f"{url}/a.gz", tmp_path / "a.gz", Expected())
    assert not (tmp_path / "a.gz").exists()


def test_one_process_downloads_a_file(server, tmp_path):
    folder = OwnedFolder.claim(tmp_path / ".a.gz.fetch")
    with pytest.raises(DownloadError, match="is being downloaded by"):
        get(server, whole, tmp_path / "a.gz")
    folder.remove()


def test_a_folder_of_that_name_is_told(server, tmp_path):
    (tmp_path / "a.gz").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        get(server, whole, tmp_path / "a.gz")
    assert not server.asked
