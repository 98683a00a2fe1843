"""The page in a real browser: every view is opened, used and checked, over small saved models.

It needs the ``chromium`` of Debian and the ``playwright`` of Python, and is skipped without them.
"""

import json
import re
import shutil
from urllib.parse import quote_plus, urlsplit

import pytest

from .conftest import running

api = pytest.importorskip("playwright.sync_api", reason="pip install playwright to test the page")
expect = api.expect

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium to test the page in it"
)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SENTENCE = "the cat sees the dog with the horse near the river"
EVIL = "<img src=x onerror=alert(1)>"
# A query for each view, so that it has something to show.
ASKED = {
    "neighbors": "word=cat",
    "analogy": "a=cat&b=dog&c=horse",
    "clusters": "word=cat",
    "next": f"text={quote_plus(SENTENCE)}",
    "parse": f"text={quote_plus(SENTENCE)}",
    "marginals": f"text={quote_plus(SENTENCE)}",
    "tag": f"text={quote_plus(SENTENCE)}",
}


@pytest.fixture(scope="module")
def browser(server):
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Page:
    """A page of the explorer that remembers its errors."""

    def __init__(self, browser, server, **options):
        self.address, self.wrong = server.address.rstrip("/"), []
        self.context = browser.new_context(
            **{"viewport": {"width": 1100, "height": 800}, **options}
        )
        self.context.set_default_timeout(20_000)
        self.context.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " event => console.error('policy: ' + event.violatedDirective))"
        )
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        self.page.on("console", self._said)
        self.page.on("request", self._asked)

    def _said(self, message):
        # The page shows a refused query. The browser logs it, too.
        refused = message.text.startswith("Failed to load") and "/api/" in message.location["url"]
        if message.type in ("error", "warning") and not refused:
            self.wrong.append(f"{message.type}: {message.text}")

    def _asked(self, request):
        if urlsplit(request.url).hostname != "127.0.0.1":
            self.wrong.append(f"asked {request.url}")

    def open(self, model="", view="", query=""):
        """Open a view with a query, and wait for the answer."""
        path = "kernel" if model is None else f"{model}/{view}"
        # Another hash alone would not load the page again.
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}/#/{path}" + (f"?{query}" if query else ""))
        self.settle()
        return self.page

    def settle(self):
        expect(self.page.locator("main h2").first).to_be_visible()
        expect(self.page.locator("[aria-busy]")).to_have_count(0)
        # The map is drawn in the frame after next.
        self.page.evaluate(
            "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
        )

    def asking(self, path, change):
        """Change the answers of the API to paths that begin with `path`."""

        def answer(route):
            response = route.fetch()
            route.fulfill(response=response, json=change(response.json()))

        self.page.route(re.compile(rf"/api/{path}"), answer)


@pytest.fixture
def new_page(browser, server):
    pages = []

    def make(**options):
        pages.append(Page(browser, server, **options))
        return pages[-1]

    yield make
    for one in pages:
        one.context.close()
        assert one.wrong == []


@pytest.fixture
def tab(new_page):
    return new_page()


@pytest.fixture(scope="module")
def everything(server):
    """(model, view, query) of every view."""
    found = [(None, "kernel", "")]
    for model in server.get("/api/models").json()["models"]:
        known = [*ASKED, "map", "spectrum", "topics", "proportions", "kernel"]
        for view in ["about", *(view for view in known if view in model["views"])]:
            found.append((model["id"], view, ASKED.get(view, "")))
    return found


@pytest.fixture(scope="module")
def each_view(everything, numbers):
    """One query for each view, and a second one for the view that shows two kinds of states."""
    one = {view: (model, view, query) for model, view, query in reversed(everything)}
    return [*one.values(), (numbers["spectral-hmm"], "next", ASKED["next"])]


def bars(page, label) -> list[tuple[str, str]]:
    """The labels and values of a list of bars."""
    rows = page.get_by_role("list", name=label, exact=True).get_by_role("listitem").all()
    return [
        (row.locator(".bar-label").inner_text(), row.locator(".bar-value").inner_text())
        for row in rows
    ]


def field(page, label):
    return page.get_by_label(label, exact=True)


# Every view.


def test_every_view_opens(tab, everything):
    views = {view for _, view, _ in everything}
    assert views == {*ASKED, "about", "map", "spectrum", "topics", "proportions", "kernel"}
    for model, view, query in everything:
        page = tab.open(model, view, query)
        assert page.locator(".error").count() == 0, (model, view, page.locator("main").inner_text())
        assert page.locator("[aria-current=page]").count() >= 1
        assert "eigentext" in page.title()


def test_findings_are_shown_in_words(tab, server, numbers):
    for model in server.get("/api/models").json()["models"]:
        text = tab.open(model["id"], "about").locator("main").inner_text()
        assert model["title"] in text
        for finding in model["diagnostics"]:
            assert finding["text"] in text and finding["level"].capitalize() in text
        for name, value in model["facts"]:
            assert name in text and value in text


def test_neighbors_by_typing(tab, server, numbers):
    page = tab.open(numbers["words"], "neighbors")
    assert page.get_by_text("Try").is_visible()
    box = page.get_by_role("combobox", name="Word")
    box.type("ca")
    expect(page.get_by_role("option", name="cat")).to_be_visible()
    assert box.get_attribute("aria-expanded") == "true"
    box.press("ArrowDown")
    assert page.get_by_role("option", name="cat").get_attribute("aria-selected") == "true"
    box.press("Enter")
    page.locator("h3", has_text="cat").wait_for()
    true = server.get(f"/api/{numbers['words']}/neighbors", word="cat").json()["neighbors"]
    shown = bars(page, "Neighbors of cat")
    assert shown == [(one["word"], f"{one['cosine']:.2f}") for one in true]
    assert "word=cat" in page.url
    expect(page.get_by_role("status")).to_contain_text("neighbors of cat")

    page.get_by_role("link", name=true[0]["word"], exact=True).click()
    page.get_by_role("list", name=f"Neighbors of {true[0]['word']}").wait_for()
    page.go_back()
    page.get_by_role("list", name="Neighbors of cat").wait_for()


def test_an_unknown_word_gets_near_spellings(tab, numbers):
    page = tab.open(numbers["words"], "neighbors", "word=hors")
    assert "not in the vocabulary" in page.locator(".error").inner_text()
    page.get_by_role("link", name="horse").click()
    page.get_by_role("list", name="Neighbors of horse").wait_for()


def test_analogies(tab, server, numbers):
    page = tab.open(numbers["words"], "analogy")
    for label, word in (("As", "cat"), ("is to", "dog"), ("so is", "river")):
        field(page, label).fill(word)
    page.get_by_role("button", name="Answer").click()
    page.locator(".question").wait_for()
    true = server.get(f"/api/{numbers['words']}/analogy", a="cat", b="dog", c="river", topn=10)
    assert [word for word, _ in bars(page, "Answers")] == [
        one["word"] for one in true.json()["answers"]
    ]


def test_clusters(tab, numbers):
    page = tab.open(numbers["clusters"], "clusters")
    assert page.locator(".card").count() == 4
    page.get_by_role("link", name="cat", exact=True).click()
    expect(page.locator(".card")).to_have_count(1)
    assert "cat" in page.locator(".card").inner_text()


def test_the_map(tab, server, numbers):
    page = tab.open(numbers["words"], "map")
    points = server.get(f"/api/{numbers['words']}/map").json()["points"]
    paths = page.locator("svg.points path")
    drawn = "".join(path.get_attribute("d") for path in paths.all())
    assert drawn.count("M") == len(points)
    assert paths.count() == len({point["cluster"] for point in points})
    seen = "() => document.querySelector('svg.points g').getAttribute('transform')"
    whole = page.evaluate(seen)
    # Every change of the view waits for the frame in which it is drawn.
    moves = [
        lambda: page.get_by_role("button", name="Zoom in").click(),
        lambda: page.get_by_role("button", name="Zoom out").click(),
        lambda: (page.locator(".map").hover(), page.mouse.wheel(0, -300)),
        lambda: page.locator(".map").press("+"),
        lambda: page.locator(".map").press("ArrowLeft"),
        lambda: page.locator(".map").press("ArrowUp"),
        lambda: drag(page, page.locator(".map")),
    ]
    for move in moves:
        before = page.evaluate(seen)
        move()
        page.wait_for_function(f"before => ({seen})() !== before", arg=before)
    page.locator(".map").press("0")
    page.wait_for_function(f"whole => ({seen})() === whole", arg=whole)

    field(page, "Find a word").fill("horse")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".chosen strong")).to_have_text("horse")
    expect(page.locator(".labels .found")).to_have_text("horse")
    field(page, "Find a word").fill("zebra")
    field(page, "Find a word").press("Enter")
    expect(page.locator(".chosen")).to_contain_text("not among the words")
    # After a search the word is in the middle, where Enter takes it.
    field(page, "Find a word").fill("horse")
    field(page, "Find a word").press("Enter")
    page.locator(".map").press("Enter")
    expect(page.locator(".chosen strong")).to_have_text("horse")

    cluster = page.get_by_role("group", name="Clusters").get_by_role("button").first
    cluster.click()
    assert cluster.get_attribute("aria-pressed") == "true"
    assert page.locator("svg.points .faded").count() == paths.count() - 1
    field(page, "Color by").select_option("frequency")
    assert page.locator("svg.points .f0").count() == 1
    page.get_by_role("link", name="Its neighbors").click()
    page.get_by_role("list", name="Neighbors of horse").wait_for()


def drag(page, element):
    box = element.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=3)
    page.mouse.up()


def test_two_fingers_zoom_the_map(new_page, numbers):
    tab = new_page(has_touch=True, viewport={"width": 375, "height": 800})
    page = tab.open(numbers["words"], "map")
    page.locator(".map").scroll_into_view_if_needed()
    box = page.locator(".map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    scale = "document.querySelector('svg.points g').transform.baseVal[1].matrix.a"
    before = page.evaluate(scale)
    fingers = page.context.new_cdp_session(page)
    for kind, apart in [("touchStart", 20), *(("touchMove", 20 + 10 * i) for i in range(6))]:
        touched = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function(f"before => {scale} > 1.5 * before", arg=before)


def test_a_large_map_is_a_canvas(tab, numbers):
    def many(answer):
        points = answer["points"]
        more = [
            {**points[i % len(points)], "x": (i % 71) / 35.5 - 1, "y": (i % 67) / 33.5 - 1}
            for i in range(4000)
        ]
        return {**answer, "points": more}

    tab.asking(r"\d+/map", many)
    page = tab.open(numbers["words"], "map")
    assert page.locator("svg.points").count() == 0
    painted = """() => { const c = document.querySelector('canvas.points');
        const copy = new OffscreenCanvas(c.width, c.height).getContext('2d');
        copy.drawImage(c, 0, 0);
        const d = copy.getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }"""
    assert page.evaluate(painted) > 10_000
    page.get_by_role("button", name="Zoom in").click()
    tab.settle()
    assert page.evaluate(painted) > 1000


def test_the_spectrum(tab, server, numbers):
    page = tab.open(numbers["words"], "spectrum")
    true = server.get(f"/api/{numbers['words']}/spectrum").json()
    assert page.locator("circle.kept").count() == len(true["kept"])
    assert page.locator("circle.dropped").count() == len(true["dropped"])
    heights = "[...document.querySelectorAll('circle')].map(c => Number(c.getAttribute('cy')))"
    linear = page.evaluate(heights)
    assert linear == sorted(linear)  # the larger, the higher up
    field(page, "Scale").select_option("log")
    assert page.evaluate(heights) != linear


@pytest.mark.parametrize("name", ["hmm", "spectral-hmm", "bigram", "kneser-ney"])
def test_next_words_along_a_sentence(tab, server, numbers, name):
    page = tab.open(numbers[name], "next")
    field(page, "Sentence").fill("the small cat")
    field(page, "Sentence").press("Enter")
    page.locator("h3", has_text="After “the small cat”").wait_for()
    true = server.post(f"/api/{numbers[name]}/next", text="the small cat").json()["steps"]
    places = page.get_by_role("group", name="Places in the sentence").get_by_role("button")
    assert places.count() == len(true) == 4
    shown = bars(page, "After “the small cat”, the next word")
    assert [word for word, _ in shown] == [one["word"] for one in true[-1]["next"]]
    places.nth(1).click()
    shown = bars(page, "After “the”, the next word")
    assert [word for word, _ in shown] == [one["word"] for one in true[1]["next"]]
    states = [step["state"] for step in true if step["state"]]
    assert page.locator(".heat rect").count() == sum(map(len, states))
    if states:
        assert len(bars(page, "After “the”, the filtered state")) == len(true[1]["state"])


def test_parses_are_drawn(tab, server, numbers):
    page = tab.open(numbers["latent"], "parse")
    field(page, "Sentence").fill(SENTENCE)
    page.get_by_role("button", name="Parse").click()
    page.locator("svg.tree").wait_for()
    true = server.post(f"/api/{numbers['latent']}/parse", text=SENTENCE, k=5).json()
    trees = page.get_by_role("group", name="The best trees").get_by_role("button")
    assert trees.count() == len(true["trees"]) > 1
    for button, tree in zip(trees.all(), true["trees"]):
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        words = page.locator("svg.tree .word text").all_text_contents()
        assert words == true["tokens"]
        assert page.locator("svg.tree .node").count() == count(tree["tree"])
        assert page.locator("pre").text_content() == tree["brackets"]


def count(node) -> int:
    return 1 + sum(map(count, node.get("children", ())))


def test_no_line_of_a_tree_crosses_a_label(tab, numbers):
    page = tab.open(numbers["latent"], "parse", ASKED["parse"])
    crossings = page.evaluate(
        """() => {
        const boxes = [...document.querySelectorAll('svg.tree .node > text')].map(t => {
            const b = t.getBBox(), m = t.parentNode.transform.baseVal[0].matrix;
            return [b.x + m.e, b.y + m.f, b.x + m.e + b.width, b.y + m.f + b.height]; });
        let n = 0;
        for (const edge of document.querySelectorAll('svg.tree .edge'))
            for (let at = 0; at <= edge.getTotalLength(); at += 1) {
                const p = edge.getPointAtLength(at);
                n += boxes.some(b => p.x > b[0] && p.x < b[2] && p.y > b[1] + 3 && p.y < b[3] - 3);
            }
        return n; }"""
    )
    assert crossings == 0


def test_states_of_a_node_by_keyboard(tab, server, numbers):
    page = tab.open(numbers["latent"], "parse", ASKED["parse"])
    page.locator("svg.tree [role=button][tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("NP over “the cat”")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("VP")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.get_by_role("list", name="Hidden states of NP").wait_for()
    true = server.post(
        f"/api/{numbers['latent']}/states", text=SENTENCE, start=0, end=2, label="NP"
    ).json()
    assert len(bars(page, "Hidden states of NP")) == len(true["states"])
    assert page.locator("svg.tree .marked").count() == 1


def test_span_marginals_are_a_chart(tab, server, numbers):
    page = tab.open(numbers["pcfg"], "marginals", ASKED["marginals"])
    true = server.post(f"/api/{numbers['pcfg']}/marginals", text=SENTENCE).json()
    likely = [span for span in true["spans"] if span["probability"] >= 0.01]
    cells = page.locator("svg.chart .cell")
    assert cells.count() == len({(span["start"], span["end"]) for span in likely})
    assert page.locator("svg.chart .token").all_text_contents() == true["tokens"]
    whole = [span for span in likely if (span["start"], span["end"]) == (0, len(true["tokens"]))]
    shown = bars(page, "Labels of this span")
    assert sorted(label for label, _ in shown) == sorted(span["label"] for span in whole)
    page.get_by_role("link", name="Parse").click()  # the sentence goes along
    page.locator("svg.tree").wait_for()
    page.go_back()
    page.locator("svg.chart").wait_for()
    page.locator("svg.chart [tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("main h3").inner_text() != f"“{SENTENCE}”"


def test_topics_and_their_documents(tab, server, numbers):
    page = tab.open(numbers["topics"], "topics")
    true = server.get(f"/api/{numbers['topics']}/topics").json()["topics"]
    order = [one["id"] for one in sorted(true, key=lambda one: -one["share"])]
    titles = page.locator(".card h3").all_inner_texts()
    assert [int(re.match(r"Topic (\d+)", title)[1]) for title in titles] == order
    shown = [word for word, _ in bars(page, f"Words of topic {order[0]}")]
    assert shown == [one["word"] for one in true[order[0]]["words"]][: len(shown)]
    page.locator("summary").first.click()
    documents = server.get(f"/api/{numbers['topics']}/topics/{order[0]}/documents").json()
    assert documents["documents"]
    expect(page.locator(".documents li")).to_have_count(len(documents["documents"]))
    assert page.locator(".documents p").first.inner_text() == documents["documents"][0]["text"]


def test_a_pasted_document(tab, numbers):
    page = tab.open(numbers["topics"], "proportions")
    field(page, "Document").fill("goal team match player ball zebra")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("list", name="Proportions of topics").wait_for()
    assert "5 words known to the model, 1 unknown" in page.locator("main").inner_text()
    (_, first), (_, second) = bars(page, "Proportions of topics")
    assert float(first.split()[0]) > float(second.split()[0])
    assert "team" in page.locator(".bar-aside").first.inner_text()


def test_kernels_of_two_trees(tab, server):
    page = tab.open(None)
    a = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))"
    b = "(S (NP (DT the) (NN cat)) (VP (VBZ hears) (NP (DT the) (NN dog))))"
    field(page, "First tree, in brackets").fill(a)
    field(page, "Second tree, in brackets").fill(b)
    field(page, "Decay").fill("0.5")
    page.get_by_role("button", name="Compare").click()
    page.locator("svg.tree .word text", has_text="hears").wait_for()
    true = server.post("/api/kernel", a=a, b=b, decay=0.5).json()
    figures = [float(one) for one in page.locator(".figures dd").all_inner_texts()]
    assert figures == pytest.approx([true["value"], true["normalized"]], rel=0.01)
    fragments = page.get_by_role("group", name="Common fragments").get_by_role("button")
    assert fragments.count() == len(true["fragments"])
    for button, fragment in zip(fragments.all(), true["fragments"]):
        button.click()
        assert button.locator("code").inner_text() == fragment["fragment"]
        for tree, places in zip(page.locator("svg.tree").all(), fragment["places"]):
            assert tree.locator(".node.marked").count() == len(places) > 0
    field(page, "First tree, in brackets").fill("(S (NP")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".error")).to_contain_text("tree a")


@pytest.mark.parametrize("name", ["tagger", "hmm-tagger"])
def test_tags(tab, server, numbers, name):
    page = tab.open(numbers[name], "tag", "text=the+small+cat")
    true = server.post(f"/api/{numbers[name]}/tag", text="the small cat").json()["tokens"]
    shown = [item.locator("span, b").all_inner_texts() for item in page.locator(".tagged li").all()]
    assert shown == [[one["word"], one["tag"]] for one in true]


# The frame.


def test_an_unknown_view_says_so(tab):
    page = tab.page
    page.goto(f"{tab.address}/#/99/neighbors")
    expect(page.locator(".error")).to_contain_text("no such model")


def test_errors_of_the_api_and_of_the_network_are_shown(tab, numbers):
    page = tab.open(numbers["latent"], "parse")
    field(page, "Sentence").fill("the " * 300)
    page.get_by_role("button", name="Parse").click()
    expect(page.locator(".error")).to_contain_text("shorten it")
    expect(page.get_by_role("status")).to_contain_text("shorten it")
    page.route(re.compile("/api/"), lambda route: route.abort())
    page.get_by_role("button", name="Parse").click()
    expect(page.locator(".error")).to_contain_text("still running")


def test_a_newer_query_replaces_an_older_one(tab, numbers):
    held, ended = [], []
    tab.page.on("requestfailed", lambda request: ended.append(request.url))
    page = tab.open(numbers["words"], "neighbors")
    page.route(re.compile("neighbors.*word=cat"), lambda route: held.append(route))
    for word in ("cat", "dog"):
        field(page, "Word").fill(word)
        page.get_by_role("button", name="Show").click()
        if word == "cat":
            expect(page.locator(".loading")).to_be_visible()  # the page says that it waits
            assert page.locator("[aria-busy]").count() == 1
    page.get_by_role("list", name="Neighbors of dog").wait_for()
    assert any("word=cat" in url for url in ended)  # aborted, not only ignored


def test_all_strings_of_a_model_are_text(tab, each_view):
    def with_evil(value, key=""):
        # The page looks things up by these keys, so they stay.
        if isinstance(value, str):
            return (
                value if key in ("kind", "views", "level", "states", "states_are") else value + EVIL
            )
        if isinstance(value, list):
            return [with_evil(one, key) for one in value]
        if isinstance(value, dict):
            return {name: with_evil(one, name) for name, one in value.items()}
        return value

    tab.asking("", with_evil)
    for model, view, query in each_view:
        page = tab.open(model, view, query)
        assert page.locator("img, script:not([src]), [onerror]").count() == 0
        if (model, view) != (None, "kernel"):
            assert EVIL in page.locator("main").text_content(), (model, view)


def test_a_word_like_markup_is_quoted(tab, numbers):
    page = tab.open(numbers["words"], "neighbors")
    field(page, "Word").fill(EVIL)
    field(page, "Word").press("Enter")
    expect(page.locator(".error")).to_contain_text(EVIL)
    assert page.locator("img").count() == 0


def test_without_models_there_are_trees(tab):
    tab.asking("models", lambda _: {"models": []})
    page = tab.open("", "")
    expect(page.locator("h2")).to_have_text("Tree kernel")
    expect(page.locator("svg.tree")).to_have_count(2)


# Accessibility.


def test_the_keyboard_reaches_everything(tab, numbers):
    page = tab.open(numbers["words"], "neighbors", "word=cat")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"

    page.evaluate("document.activeElement.blur()")
    page.locator(".brand a").focus()
    seen, least = set(), page.locator("a, button, input, select, textarea, summary").count() - 2
    for _ in range(80):
        page.keyboard.press("Tab")
        key, ring = page.evaluate(
            """() => { const e = document.activeElement, style = getComputedStyle(e);
            const place = [...document.querySelectorAll('*')].indexOf(e);
            return [place, style.outlineStyle + style.outlineWidth]; }"""
        )
        if key in seen:
            break
        seen.add(key)
        assert ring == "solid2px" or page.evaluate("document.activeElement === document.body")
    assert len(seen) >= least


def test_focus_stays_where_the_reader_is(tab, numbers):
    page = tab.open(numbers["words"], "about")
    page.get_by_role("link", name="Spectrum").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h2")).to_have_text("Spectrum")
    assert page.evaluate("document.activeElement.textContent") == "Spectrum"
    page = tab.open(numbers["words"], "neighbors", "word=cat")
    link = page.get_by_role("list", name="Neighbors of cat").get_by_role("link").first
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.tagName === 'H2'")


def test_everything_has_a_name(tab, each_view):
    unnamed = """() => {
        const named = e => e.getAttribute('aria-label') || e.textContent.trim() || e.title;
        const bad = [];
        for (const e of document.querySelectorAll('input, select, textarea'))
            if (![...e.labels].some(l => l.textContent.trim() && l.checkVisibility())) bad.push(e);
        for (const e of document.querySelectorAll('a, button, summary, nav, [role=button], '
                + '[role=img], [role=group], [role=region], [role=application], [role=listbox]'))
            if (!named(e)) bad.push(e);
        for (const e of document.querySelectorAll('svg'))
            if (!e.getAttribute('aria-label') && !e.getAttribute('aria-hidden')) bad.push(e);
        for (const e of document.querySelectorAll('[aria-controls], [aria-describedby]'))
            for (const a of ['aria-controls', 'aria-describedby'])
                if (e.hasAttribute(a) && !document.getElementById(e.getAttribute(a))) bad.push(e);
        const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
        if (new Set(ids).size < ids.length) bad.push(document.body);
        return bad.map(e => e.outerHTML.slice(0, 120)); }"""
    for model, view, query in each_view:
        page = tab.open(model, view, query)
        assert page.evaluate(unnamed) == [], (model, view)
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.locator("main, header, nav").count() >= 3


# The contrast of a text with what is painted behind it: backgrounds of its ancestors and, in SVG,
# the rectangle beside it.
CONTRASTS = """() => {
    const parse = color => {
        const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
        return [r, g, b, a]; };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
    const linear = v => v <= 10.31 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const behind = e => {
        const layers = [], rect = e.closest('g')?.querySelector(':scope > rect');
        if (rect) {
            const style = getComputedStyle(rect), fill = parse(style.fill);
            layers.push([...fill.slice(0, 3), fill[3] * Number(style.fillOpacity)]);
        }
        for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
    const poor = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode.data.trim(), e = texts.currentNode.parentElement;
        if (!text || !e.checkVisibility()) continue;
        if (e.closest('.unseen, noscript, title, option')) continue;
        const style = getComputedStyle(e), back = behind(e);
        const front = parse(e instanceof SVGElement ? style.fill : style.color);
        for (let up = e; up; up = up.parentElement) front[3] *= getComputedStyle(up).opacity;
        const [a, b] = [light(over(front, back)), light(back)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
    }
    return poor; }"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(new_page, each_view, theme):
    tab = new_page(color_scheme=theme, reduced_motion="reduce")
    grounds = set()
    for model, view, query in each_view:
        page = tab.open(model, view, query)
        assert page.evaluate(CONTRASTS) == [], (model, view)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    (ground,) = grounds
    assert (int(re.findall(r"\d+", ground)[0]) < 64) == (theme == "dark")


def test_errors_can_be_read(new_page, numbers):
    for theme in ("light", "dark"):
        page = new_page(color_scheme=theme).open(numbers["words"], "neighbors", "word=hors")
        assert page.locator(".error").is_visible()
        assert page.evaluate(CONTRASTS) == []


def test_the_theme_is_remembered(new_page, numbers):
    tab = new_page(color_scheme="light")
    page = tab.open(numbers["words"], "about")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    tab.settle()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(ground) == light


def test_phones_scroll_down_only(new_page, everything):
    tab = new_page(viewport={"width": 375, "height": 700})
    for model, view, query in everything:
        page = tab.open(model, view, query)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, (model, view)
        out = page.evaluate(
            """() => [...document.querySelectorAll('main *, header *, nav *')].filter(e =>
            e.checkVisibility() && !e.closest('.scroller, .map, .unseen, .skip')
            && e.getBoundingClientRect().right > 376).map(e => e.outerHTML.slice(0, 100))"""
        )
        assert out == [], (model, view)


def test_answers_hold_the_page_to_itself(server):
    policy = server.get("/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";") if " " in rule.strip())
    assert rules["script-src"] == "'self'" and rules["style-src"] == "'self'"
    assert "unsafe" not in json.dumps(rules)


def test_under_a_prefix(browser, model_files):
    """As behind a proxy that keeps the prefix; without the slash at the end, too."""
    with running(model_files["words"], "--base-url", "/some/models/") as served:
        one = Page(browser, served)
        one.address = f"{served.address.rstrip('/')}/some/models"
        page = one.open(0, "neighbors", "word=cat")
        assert page.locator(".error").count() == 0
        assert len(bars(page, "Neighbors of cat")) > 1
        assert urlsplit(page.url).path == "/some/models/"
        one.context.close()
        assert one.wrong == []
