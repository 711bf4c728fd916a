"""The server of a site: files of one folder, to this computer only, whatever is asked."""

import http.client
import threading

import pytest

from gwa.archive.server import server


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home") / "site"
    folder.mkdir()
    (folder / "index.html").write_text("front")
    (folder.parent / "secret.txt").write_text("hidden")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "out").symlink_to(folder.parent / "secret.txt")
    with server(folder, 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found.server_address
        found.shutdown()
        thread.join()


def ask(address, path, host=None, **headers):
    connection = http.client.HTTPConnection(address[0], address[1], timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {**({"Host": host} if host is not None else {}), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST:8000", "127.0.0.1:80"])
def test_this_computer_is_answered(host, address):
    assert ask(address, "/", host) == (200, b"front")


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        ":80",
    ],
)
def test_no_other_name_is_answered(host, address):
    status, body = ask(address, "/", host)
    assert status == 421
    assert b"front" not in body


@pytest.mark.parametrize(
    "path",
    [
        "/%00",
        "/index.html%00",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/out",
        "/loop",
        f"/{'a' * 5000}",
        "/nowhere",
    ],
)
@pytest.mark.parametrize("headers", [{}, {"Range": "bytes=0-1"}], ids=["whole", "range"])
def test_what_is_no_file_of_the_site_is_not_found(path, headers, address, capfd):
    assert ask(address, path, "localhost", **headers)[0] == 404
    assert "Traceback" not in capfd.readouterr().err
