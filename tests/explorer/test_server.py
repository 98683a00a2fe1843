import socket
from pathlib import Path

import pytest

from eigentext.errors import ParameterError
from eigentext.explorer import server


def test_the_usual_port_or_a_free_one(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "PORT", port)
        with server.listening("127.0.0.1", None) as listener:
            assert listener.getsockname()[1] != port
        with pytest.raises(ParameterError, match=f"port {port} .*--port"):
            server.listening("127.0.0.1", port)
    with server.listening("127.0.0.1", None) as listener:
        assert listener.getsockname()[1] == port


def test_no_such_address():
    with pytest.raises(ParameterError, match="--host"):
        server.listening("no.such.host.invalid", 0)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"),
                                             ("localhost", "localhost")])  # fmt: skip
def test_addresses_to_type(host, shown):
    with server.listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert server.address(host, listener) == f"http://{shown}:{port}/"
        assert server.address("::1", listener) == f"http://[::1]:{port}/"


def test_loopback_addresses():
    assert all(map(server.is_loopback, ["127.0.0.1", "localhost", "::1", "127.1.2.3"]))
    assert not any(map(server.is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org"]))


def test_names_of_models_differ():
    paths = [Path("a/words.safetensors"), Path("b/words.safetensors"), Path("my.words")]
    names = server.model_names(paths)
    assert names == ["a/words.safetensors", "b/words.safetensors", "my.words"]
