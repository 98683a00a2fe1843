"""`eigentext explore` under load: 50 clients ask for neighbors and topics for 30 seconds.

Run it with ``.venv/bin/python benchmarks/explorer.py`` (two minutes; with ``--parses`` one more
client keeps a worker busy with parses). The models are of text8's first 20 MB (50 dimensions) and
of 20 Newsgroups (20 topics). They are fitted once and kept in the temporary folder. The server is a
process as a user starts it; all clients are another process. No client asks again before it has its
answer. Of ten queries seven ask for the neighbors of a word, two for the list of topics, and one
for the proportions of a document.
"""

import asyncio
import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import eigentext as et
from _harness import data, scratch, unpacked
from _record import Table, fact, record, score

CLIENTS, SECONDS = 50, 30
SENTENCE = "the old man who lives near the river said that he had seen a boat with a red sail"


def documents() -> list[str]:
    with lzma.open(data("topics/20news.jsonl.xz"), "rt") as lines:
        return [json.loads(line)["text"] for line in lines]


def models() -> tuple[list[Path], int | None]:
    """The files of words, topics and, with ``--parses``, a grammar; and the grammar's number."""
    words, topics = scratch("explorer-words.safetensors"), scratch("explorer-topics.safetensors")
    grammar = scratch("explorer-grammar.safetensors")
    if not words.exists():
        text = unpacked("text/text8-prefix.txt.xz").read_text()[:20_000_000]
        part = scratch("explorer-text.txt")
        part.write_text(text[: text.rindex(" ")])
        et.Eigenwords(50).fit(et.TextCorpus(part, unit="stream")).save(words)
    if not topics.exists():
        et.TopicModel(20, alpha0=1.0, min_df=10, max_df=0.2, stop_words="english").fit(
            documents()
        ).save(topics)
    if "--parses" not in sys.argv:
        return [words, topics], None
    if not grammar.exists():
        et.LatentPCFG(8).fit(et.load_dataset("gum")).save(grammar)
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
    """One more client, which asks for parses all the time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    while time.perf_counter() < end:
        body = json.dumps({"text": SENTENCE, "k": 10}).encode()
        start = time.perf_counter()
        status = await fetch(reader, writer, "POST", f"/api/{grammar}/parse", body)
        kind = "parse" if status == 200 else f"errors {status}"
        taken.setdefault(kind, []).append(time.perf_counter() - start)
    writer.close()


async def load(port: int, grammar: int | None) -> dict[str, list[float]]:
    words = et.load(scratch("explorer-words.safetensors")).vocabulary_.words[:5000]
    texts = [text for text in documents()[:500] if text.strip() and len(text) < 5000]
    taken: dict[str, list[float]] = {}
    end = time.perf_counter() + SECONDS
    tasks = [client(port, seed, end, words, texts, taken) for seed in range(CLIENTS)]
    if grammar is not None:
        tasks.append(parses(port, grammar, end, taken))
    await asyncio.gather(*tasks)
    return taken


def cpu_seconds(pid: int) -> float:
    """The CPU seconds that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    paths, grammar = models()
    command = [sys.executable, "-m", "eigentext", "explore", *map(str, paths), "--json", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = json.loads(server.stdout.readline())["address"]
        port = int(address.rstrip("/").rpartition(":")[2])
        time.sleep(15 if grammar else 5)  # workers load, which is not measured
        before = cpu_seconds(server.pid)
        taken = asyncio.run(load(port, grammar))
        cpu = cpu_seconds(server.pid) - before
        server.send_signal(signal.SIGINT)
    light = sorted(
        t for kind in ("neighbors", "topics", "proportions") for t in taken.get(kind, [])
    )
    errors = sum(len(times) for kind, times in taken.items() if kind.startswith("errors"))
    columns = (fact("queries"), "median, ms", "99th percentile, ms")
    table = Table("queries", "Milliseconds by kind of query", columns, ("query",))
    for kind, times in [("all but parses", light), *sorted(taken.items())]:
        times = sorted(times)
        median, last = (1e3 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
        table.row(kind, len(times), median, last)
    columns = ("queries/s", score("errors", "lower"), "CPU ms a query")
    totals = Table("server", f"{CLIENTS} clients for {SECONDS} s", columns, ("load",))
    load_name = "with parses" if grammar else "neighbors and topics"
    totals.row(load_name, len(light) / SECONDS, errors, 1e3 * cpu / len(light))
    record(
        "explorer_parses" if grammar else "explorer",
        "The explorer under load",
        [table, totals],
        about="Word vectors of text8 (50 dimensions) and 20 topics of 20 Newsgroups. "
        f"{CLIENTS} clients for {SECONDS} s on the machine of the server; each asks again when it "
        "has its answer.",
    )


if __name__ == "__main__":
    main()
