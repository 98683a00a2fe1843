"""Takes the pictures of topics in docs/: ``python docs/_topic_pictures.py``.

They show ``TopicModel(20, set_apart=True)`` of the training posts of 20 newsgroups: the tree on its
page (`report`, without documents, because sentences of corpora stay out of the repository), a
document by topic (`highlight`) and the shares by newsgroup (`shares_by`). Chromium, from Debian's
package, draws the pages.
"""

from pathlib import Path

import matplotlib
from playwright.sync_api import Page, sync_playwright

import eigentext as et

DOCS = Path(__file__).parent
TEXT = """\
The shuttle carried a small satellite into orbit. Its encryption chip keeps the key secret, so
nobody else can send it commands. The team at NASA wrote the driver for the ground station on an
old Mac with a SCSI disk."""
_PLAIN = "<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem; }</style>"


def saved(page: Page, name: str, height: int) -> None:
    """Save the top of the page, and print its size."""
    path = DOCS / f"topics-{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": 900, "height": height})
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    data = et.load_dataset("20news", split="train")
    model = et.TopicModel(20, set_apart=True).fit(data.texts)
    report, marked = model.report(), model.highlight(TEXT).to_html()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--headless", "--no-sandbox", "--disable-gpu"],
        )
        size = {"width": 900, "height": 1500}
        page = browser.new_context(viewport=size, reduced_motion="reduce").new_page()
        page.set_content(report)
        page.evaluate("document.querySelector('nav.tree').scrollIntoView()")
        saved(page, "tree", 900)
        page.set_content(f"<!DOCTYPE html>{_PLAIN}{marked}")
        saved(page, "highlight", 150)
        browser.close()
    groups = [label.partition(".")[0] for label in data.labels]
    matplotlib.rcParams["svg.hashsalt"] = "eigentext"
    axes = model.shares_by(data.texts, groups).plot()
    path = DOCS / "topics-shares.svg"
    axes.figure.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
