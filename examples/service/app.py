"""A web service over saved models, with FastAPI: spans of a tagger, trees of a parser.

    pip install eigentext fastapi uvicorn
    EIGENTEXT_TAGGER=my-tagger EIGENTEXT_PARSER=my-grammar uvicorn app:app --port 8000

    curl -s localhost:8000/spans -H 'Content-Type: application/json' \
        -d '{"texts": ["Ann Lee went to New York."]}'

Each model is loaded when the service starts, and used once, so that no user waits for loops to be
compiled. FastAPI runs the functions below in threads. Models are not changed by use, so threads may
share them. `LIMITER` bounds how many requests work at the same time: more than there are cores
would only wait for each other.
"""

import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

import eigentext as et

LIMITER = threading.BoundedSemaphore(os.cpu_count() or 1)
SECONDS = 10.0  # a request that waits longer than this for its turn is refused
MODELS: dict[str, Any] = {}
VARIABLES = {"tagger": "EIGENTEXT_TAGGER", "parser": "EIGENTEXT_PARSER"}
WARM_UP = "It works."

Text = Annotated[str, Field(max_length=20_000)]
Sentence = Annotated[str, Field(min_length=1, max_length=1_000)]


class Texts(BaseModel):
    """Texts to find spans in. Each line of a text is a sentence."""

    texts: list[Text] = Field(max_length=100)


class Sentences(BaseModel):
    """Sentences to parse."""

    sentences: list[Sentence] = Field(max_length=100)


class Span(BaseModel):
    """A part of a text: its first character, the one after its last, its label."""

    start: int
    end: int
    label: str
    confidence: float


class Parse(BaseModel):
    """A tree in brackets. `fallback` says why it is not a parse by the grammar, if it is not."""

    tree: str | None
    log_probability: float | None
    fallback: str | None


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the models before the first request."""
    for name, variable in VARIABLES.items():
        if path := os.environ.get(variable):
            MODELS[name] = et.load(path)
    if "tagger" in MODELS:
        MODELS["tagger"].spans(WARM_UP)
    if "parser" in MODELS:
        list(MODELS["parser"].parses([WARM_UP]))
    yield
    MODELS.clear()


app = FastAPI(title="eigentext", lifespan=lifespan)


@app.get("/healthz")
def health() -> dict[str, Any]:
    """Say that the service is there, and which models it has."""
    return {"status": "ok", "models": sorted(MODELS)}


@app.post("/spans")
def spans(given: Texts) -> list[list[Span]]:
    """Find the spans of each text."""
    with turn("tagger") as tagger:
        found = tagger.spans_many(given.texts)
    return [[Span(**span._asdict()) for span in one] for one in found]


@app.post("/parse")
def parse(given: Sentences) -> list[Parse]:
    """Parse each sentence."""
    with turn("parser") as parser:
        found = list(parser.parses(given.sentences))
    return [
        Parse(
            tree=None if one.tree is None else str(one.tree),
            # JSON has no infinity.
            log_probability=one.log_probability if one.log_probability > -1e300 else None,
            fallback=one.fallback,
        )
        for one in found
    ]


@contextmanager
def turn(name: str) -> Iterator[Any]:
    """Wait for a turn, and give a model."""
    if name not in MODELS:
        raise HTTPException(404, f"no {name}: start the service with {VARIABLES[name]}")
    if not LIMITER.acquire(timeout=SECONDS):
        raise HTTPException(503, "the service is busy; try again later", {"Retry-After": "5"})
    try:
        yield MODELS[name]
    finally:
        LIMITER.release()
