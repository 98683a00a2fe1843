"""`eigentext explore` under load: 50 clients at once ask for neighbours and topics for 30 seconds.

Run it with ``.venv/bin/python benchmarks/explorer.py`` (two minutes; ``--parses`` keeps a worker
busy with parses meanwhile). Models are of text8's first 20 MB (50 dimensions) and of 20 Newsgroups
(20 topics), fitted once into the temporary folder. The server is a process of its own, as a user
starts it, the clients are another, and no client asks again before it has its answer: what it has
to wait is what is measured. Of ten queries seven are neighbours of a word, two what topics there
are, and one the proportions of a document.
"""

import asyncio
import json
import lzma
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import eigentext as et
from _harness import DATA, unpacked

CLIENTS, SECONDS = 50, 30
FOLDER = Path(tempfile.gettempdir(), "eigentext-benchmarks")
SENTENCE = "the old man who lives near the river said that he had seen a boat with a red sail"


def documents() -> list[str]:
    with lzma.open(DATA / "topics" / "20news.jsonl.xz", "rt") as lines:
        return [json.loads(line)["text"] for line in lines]


def models() -> tuple[list[Path], int | None]:
    """Words and topics and, if treebanks are there, a grammar, whose number is told."""
    words, topics = FOLDER / "explorer-words.safetensors", FOLDER / "explorer-topics.safetensors"
    grammar = FOLDER / "explorer-grammar.safetensors"
    if not words.exists():
        text = unpacked("text/text8-prefix.txt.xz").read_text()[:20_000_000]
        part = FOLDER / "explorer-text.txt"
        part.write_text(text[: text.rindex(" ")])
        et.Eigenwords(50).fit(et.TextCorpus(part, unit="stream")).save(words)
    if not topics.exists():
        et.TopicModel(20, alpha0=1.0, min_df=10, max_df=0.2, stop_words="english").fit(
            documents()
        ).save(topics)
    if "--parses" not in sys.argv:
        return [words, topics], None
    if not grammar.exists():
        et.LatentPCFG(8).fit(et.read_trees(DATA / "treebanks" / "gum" / "train.ptb.xz")).save(
            grammar
        )
    return [words, topics, grammar], 2


async def fetch(reader, writer, method: str, path: str, body: bytes = b"") -> int:
    """The status of one query over an open connection."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"\r\n" + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(answer.split(b" ", 2)[1])


async def client(port: int, seed: int, end: float, words: list[str], texts: list[str], taken: dict):
    rng = random.Random(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    while time.perf_counter() < end:
        kind = rng.choices(("neighbors", "topics", "proportions"), (7, 2, 1))[0]
        match kind:
            case "neighbors":
                query = ("GET", f"/api/0/neighbors?topn=20&word={quote(rng.choice(words))}")
            case "topics":
                query = ("GET", "/api/1/topics")
            case _:
                body = json.dumps({"text": rng.choice(texts)}).encode()
                query = ("POST", "/api/1/proportions", body)
        start = time.perf_counter()
        status = await fetch(reader, writer, *query)
        taken.setdefault(kind if status == 200 else f"errors {status}", []).append(
            time.perf_counter() - start
        )
    writer.close()


async def parses(port: int, grammar: int, end: float, taken: dict) -> None:
    """One more client, who parses all the time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    while time.perf_counter() < end:
        body = json.dumps({"text": SENTENCE, "k": 10}).encode()
        start = time.perf_counter()
        status = await fetch(reader, writer, "POST", f"/api/{grammar}/parse", body)
        kind = "parse" if status == 200 else f"errors {status}"
        taken.setdefault(kind, []).append(time.perf_counter() - start)
    writer.close()


async def load(port: int, grammar: int | None) -> dict[str, list[float]]:
    words = et.load(FOLDER / "explorer-words.safetensors").vocabulary_.words[:5000]
    texts = [text for text in documents()[:500] if text.strip() and len(text) < 5000]
    taken: dict[str, list[float]] = {}
    end = time.perf_counter() + SECONDS
    tasks = [client(port, seed, end, words, texts, taken) for seed in range(CLIENTS)]
    if grammar is not None:
        tasks.append(parses(port, grammar, end, taken))
    await asyncio.gather(*tasks)
    return taken


def cpu_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    paths, grammar = models()
    command = [sys.executable, "-m", "eigentext", "explore", *map(str, paths), "--json", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = json.loads(server.stdout.readline())["address"]
        port = int(address.rstrip("/").rpartition(":")[2])
        time.sleep(15 if grammar else 5)  # for workers to load, which is not measured
        before = cpu_seconds(server.pid)
        taken = asyncio.run(load(port, grammar))
        cpu = cpu_seconds(server.pid) - before
        server.send_signal(signal.SIGINT)
    light = sorted(
        t for kind in ("neighbors", "topics", "proportions") for t in taken.get(kind, [])
    )
    errors = sum(len(times) for kind, times in taken.items() if kind.startswith("errors"))
    print(
        f"{CLIENTS} clients, {SECONDS} s: {len(light) / SECONDS:,.0f} queries/s, {errors} errors; "
        f"the server's CPU {1e3 * cpu / len(light):.2f} ms a query, {cpu / SECONDS:.0%} of a core"
    )
    for kind, times in [("all but parses", light), *sorted(taken.items())]:
        times = sorted(times)
        median, last = (1e3 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
        print(f"{kind:16} {len(times):8,}  median {median:7.1f} ms  99th percentile {last:7.1f} ms")


if __name__ == "__main__":
    main()
