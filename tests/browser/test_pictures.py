"""The pictures of the documentation are of today's pages."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "_ext" / "pictures.py"


@pytest.mark.slow
def test_the_pages_still_say_what_their_pictures_do(browser, tmp_path):
    """Where letters are wider, less is in view: what a picture says may stand anywhere on its page."""
    spec = spec_from_file_location("pictures", SCRIPT)
    assert spec
    assert spec.loader
    pictures = module_from_spec(spec)
    spec.loader.exec_module(pictures)
    said = json.loads(pictures.SAID.read_text(encoding="utf-8"))
    pictures.write_pages(tmp_path)
    for name, page in pictures.opened(browser, tmp_path):
        whole = " ".join(page.evaluate("() => document.body.textContent").split())
        assert said[name]
        assert [text for text in said[name] if text not in whole] == [], f"{name}: run make pictures"
