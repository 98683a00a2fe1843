import hashlib

from eigentext.explorer.page import built_page


def test_files_are_read_with_their_types(tmp_path):
    (tmp_path / "assets").mkdir()
    files = {"index.html": "<p>", "assets/a.js": "1", ".sources": "x", "notes.exe": "x"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    page = built_page(tmp_path)
    assert set(page) == {"/", "/index.html", "/assets/a.js"}
    assert page["/"] == page["/index.html"]
    assert page["/assets/a.js"].type.startswith("text/javascript")
    assert page["/"].etag == f'"{hashlib.sha256(b"<p>").hexdigest()[:32]}"'


def test_without_an_index_there_is_no_page(tmp_path):
    (tmp_path / "a.js").write_text("1")
    assert built_page(tmp_path) == {}
    assert built_page(tmp_path / "missing") == {}
