"""What the first call of each model costs on a new machine.

Run it with ``.venv/bin/python benchmarks/first_call.py [MODEL …]``, a few minutes. Each model is
learned from a little made-up text and used once, in a process of its own: first with an empty cache
of compiled loops (cold), then again with the cache that this run has left (warm). The difference is
what a user waits for once. CPU seconds of the process, with its imports.

``--shipped`` lets the cold runs use compiled loops that are shipped with the package, if there are
any. Otherwise these are ignored, as on a machine that they were not made for.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from _record import Table, column, record

_TEXT = """
import numpy as np, eigentext as et, warnings
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
words = [a + b + c for a in "bdfgklmnpr" for b in "aeiou" for c in "lmnprstx"]
p = 1 / np.arange(1, 401)
texts = [" ".join(rng.choice(words, 12, p=p / p.sum())) for _ in range(2000)]
lines = [text.split() for text in texts]
tagged = [[(w, w[0]) for w in text.split()] for text in texts[:200]]
"""
_TREES = """
trees = [et.Tree.parse(f"(S (NP (D the) (N n{i % 7})) (VP (V v{i % 5}) (NP (D a) (N n{i % 3}))))")
         for i in range(60)]
trees += [et.Tree.parse(f"(S (NP (N n{i % 7})) (VP (V v{i % 5}) (PP (P p) (NP (N n{i % 3})))))")
          for i in range(60)]
"""
MODELS = {
    "import": "import eigentext",
    "words": "et.Eigenwords(20).fit(texts).most_similar('bal')",
    "clusters": "et.WordClusters(20).fit(et.Eigenwords(20).fit(texts))",
    "eigentokens": "et.Eigentokens(20).fit(texts).transform([['bal', 'bam']])",
    "topics": "et.TopicModel(5, stop_words=None).fit(texts).transform(texts[:3])",
    "HMM": "et.HMM(5).fit(lines).score(lines[:9])",
    "HMM, EM": "et.HMM(5, method='em', n_iter=3).fit(lines).score(lines[:9])",
    "bigram": "et.BigramModel(5).fit(lines).perplexity(lines[:9])",
    "Kneser-Ney": "et.KneserNey().fit(lines).perplexity(lines[:9])",
    "tagger": "et.Tagger().fit(tagged).tag(texts[:3])",
    "HMM tagger": "et.HMMTagger().fit(tagged).tag(texts[0])",
    "PCFG": _TREES + "et.PCFG().fit(trees).parse('the n1 v1 a n2'.split())",
    "grammar": _TREES + "et.LatentPCFG(4).fit(trees).parse('the n1 v1 a n2'.split())",
    "grammar, EM": _TREES
    + "et.LatentPCFG(4, method='em', n_iter=4).fit(trees).parse('the n1 v1 a n2'.split())",
    "first parse": _TREES + "et.load(path).parse('the n1 v1 a n2'.split())",
    "tree kernel": _TREES + "et.TreeKernel(0.5).gram(trees)",
    "reranker": _TREES + "et.Reranker().fit_base(et.PCFG, trees)",
}


def cpu(script: str, cache: str, *, shipped: bool) -> float:
    """The CPU seconds of a process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    if not shipped:
        environment["EIGENTEXT_SHIPPED_LOOPS"] = "off"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--shipped", action="store_true", help="use loops that are shipped")
    options = parser.parse_args()
    table = Table(
        "first", "The first call", tuple(map(column, ("cold s", "warm s", "first s"))), ("model",)
    )
    with tempfile.TemporaryDirectory() as folder:
        model, setup = f"{folder}/saved", f"{folder}/made"
        make = f"{_TEXT}{_TREES}et.LatentPCFG(4).fit(trees).save({model!r})"
        for name in options.models or MODELS:
            if name == "first parse" and not os.path.exists(model):  # noqa: PTH110
                cpu(make, setup, shipped=True)
            script = MODELS[name]
            if name != "import":
                script = f"{_TEXT}path = {model!r}\n{script}"
            cache = f"{folder}/{name.replace(' ', '-')}"
            cold, warm = (cpu(script, cache, shipped=options.shipped) for _ in range(2))
            table.row(name, cold, warm, cold - warm)
    record(
        "first_call_shipped" if options.shipped else "first_call",
        "The first call of each model",
        [table],
        about="CPU seconds of a process that learns a small model and uses it, without and with a "
        "cache of compiled loops; “first” is the difference.",
    )


if __name__ == "__main__":
    main()
