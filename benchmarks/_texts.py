"""Generated texts with known themes: lines of a package manager's log, and reviews of movies.

The words are ours. Each generator returns texts and the theme of each.
"""

import numpy as np

# Families of packages: their names have words in common, as real ones have.
FAMILIES = {
    "python": ("python3-yaml", "python3-venv", "python3-numpy", "python3-minimal"),
    "fonts": ("fonts-noto-core", "fonts-liberation", "fonts-dejavu-extra", "fonts-droid"),
    "java": ("libmaven-java", "libplexus-java", "libcommons-java", "ca-certificates-java"),
    "database": ("postgresql-15", "postgresql-client-15", "postgresql-contrib", "redis-server"),
    "sound": ("alsa-utils", "alsa-ucm-conf", "alsa-topology", "alsa-tools"),
}
STEPS = (
    "install {0}:{2} <none> {1}",
    "status half-installed {0}:{2} {1}",
    "status unpacked {0}:{2} {1}",
    "configure {0}:{2} {1} <none>",
    "status half-configured {0}:{2} {1}",
    "status installed {0}:{2} {1}",
)
GENRES = {
    "war": "soldier battle army general trench bomb enemy front troops sergeant",
    "space": "alien planet ship crew galaxy captain star orbit laser android",
    "romance": "love wedding kiss heart bride couple romance marriage jealous date",
    "crime": "detective murder police killer suspect gun evidence victim clue alibi",
    "music": "singer band concert guitar song stage album drummer tour chorus",
}
PRAISE = ["good", "great", "bad", "best", "dull", "funny", "slow", "fine", "story", "actor", "plot"]
FRAMES = (
    "The film is about a {0} and the {1}, and it is {2} from the start to the end.",
    "I did not like the {0}, but the {1} was {2} and that is what we came to see.",
    "There is a {0} with a {1} in it; some of the movie is {2}.",
    "It has all the {0} and {1} that you want, and the {2} is not too much for us.",
)


def log_lines(n_documents: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return lines such as "2024-01-02 10:11:12 status installed libfoo:amd64 1.2-3"."""
    rng = np.random.default_rng(seed)
    lines, themes = [], []
    for number in range(n_documents):
        day = f"2024-01-{1 + number // 86400 % 28:02}"
        stamp = f"{day} {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
        if rng.random() < 0.05:
            lines.append(f"{stamp} startup archives {rng.choice(['unpack', 'install'])}")
            themes.append("startup")
            continue
        theme = str(rng.choice(list(FAMILIES)))
        package, step = rng.choice(FAMILIES[theme]), rng.choice(STEPS)
        version = f"{rng.integers(1, 9)}.{rng.integers(0, 20)}-{rng.integers(1, 4)}+deb12u1"
        lines.append(f"{stamp} {step.format(package, version, rng.choice(['amd64', 'all']))}")
        themes.append(theme)
    return lines, themes


def reviews(n_documents: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return reviews of 6 to 14 sentences. Each is about a genre, and a little about another."""
    rng = np.random.default_rng(seed)
    texts, themes = [], []
    for _ in range(n_documents):
        theme, other = rng.choice(list(GENRES), 2, replace=False)
        sentences = []
        for _ in range(rng.integers(6, 15)):
            words = GENRES[theme if rng.random() < 0.85 else other].split()
            one, two = rng.choice(words, 2, replace=False)
            sentences.append(str(rng.choice(FRAMES)).format(one, two, rng.choice(PRAISE)))
        texts.append(" ".join(sentences))
        themes.append(str(theme))
    return texts, themes
