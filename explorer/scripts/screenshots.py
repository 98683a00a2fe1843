"""Takes the pictures of the page in docs/: ``python screenshots.py ADDRESS``.

ADDRESS is that of an `eigentext explore` with word vectors, topics and a grammar. The models of the
pictures in docs/ were learned from text8, 20 Newsgroups and GUM.
"""

import json
import sys
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[2] / "docs"
SENTENCE = "The old man saw the boy with the telescope ."


def opened(page: Page, path: str) -> None:
    """Open a view, and wait for its answer."""
    page.goto("about:blank")
    page.goto(f"{address}/#/{path}")
    page.locator("main h2").wait_for()
    page.wait_for_function("() => !document.querySelector('[aria-busy]')")
    page.wait_for_timeout(500)


def saved(page: Page, name: str) -> None:
    """Save the picture, and print its size."""
    path = DOCS / f"explorer-{name}.png"
    page.screenshot(path=path)
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


address = sys.argv[1].rstrip("/")
models = json.load(urlopen(f"{address}/api/models"))["models"]
number = {model["kind"]: model["id"] for model in reversed(models)}
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--headless", "--no-sandbox", "--disable-gpu"]
    )
    size = {"width": 1000, "height": 880}
    light = browser.new_context(viewport=size, color_scheme="light").new_page()
    dark = browser.new_context(
        viewport={"width": 1000, "height": 740}, color_scheme="dark"
    ).new_page()

    opened(light, f"{number['words']}/neighbors?word=music")
    saved(light, "words")

    opened(dark, f"{number['words']}/map")
    dark.evaluate("document.querySelector('.row').scrollIntoView()")
    saved(dark, "map")

    opened(light, f"{number['grammar']}/parse?text={SENTENCE.replace(' ', '+')}&k=5")
    light.locator("svg.tree [role=button]", has_text="NP").first.click()
    light.wait_for_timeout(800)
    light.evaluate("document.querySelector('.steps').scrollIntoView()")
    saved(light, "grammar")

    opened(light, f"{number['topics']}/topics")
    saved(light, "topics")
    browser.close()
