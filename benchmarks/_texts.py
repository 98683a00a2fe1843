"""Generated texts with known themes: lines of a package manager's log, and reviews of movies.

The words are ours. Each generator returns texts and the theme of each. This prints texts, one on
each line:

    python benchmarks/_texts.py log 5000 > dpkg.log
    python benchmarks/_texts.py reviews 2000 > reviews.txt
"""

import sys

import numpy as np

# Families of packages: their names have words in common, as real ones have.
FAMILIES = {
    "python": (
        "python3-{}",
        "yaml venv numpy minimal requests jinja markupsafe distutils pip wheel",
    ),
    "fonts": ("fonts-{}", "noto liberation dejavu droid lato roboto hack inter cantarell opensans"),
    "java": ("lib{}-java", "maven plexus commons guava guice jansi wagon sisu slf httpclient"),
    "perl": ("lib{}-perl", "file html http xml json lwp encode digest module timedate"),
    "database": ("postgresql-{}", "server client common contrib jit doc plpython pltcl hll cron"),
    "desktop": ("gir1.2-{}", "gtk pango atk gdkpixbuf harfbuzz rsvg notify secret soup webkit"),
    "sound": ("alsa-{}", "utils ucm topology tools base oss firmware gui plugins conf"),
    "windows": ("libxcb-{}", "render shm sync shape randr present glx dri xfixes keysyms"),
}
STEPS = (
    "install {0}:{2} <none> {1}",
    "status half-installed {0}:{2} {1}",
    "status unpacked {0}:{2} {1}",
    "configure {0}:{2} {1} <none>",
    "status half-configured {0}:{2} {1}",
    "status installed {0}:{2} {1}",
)
ENDS = ("", "", "+deb12u1", "+dfsg", "+ds", "+nmu1")  # of versions
# The words of a genre, the most frequent first.
GENRES = {
    "war": "soldier battle army general enemy trench sergeant troops front tank rifle bunker medal "
    "regiment platoon invasion grenade retreat surrender uniform",
    "space": "alien planet ship crew galaxy captain star orbit android laser robot rocket cosmos "
    "asteroid gravity colony hologram airlock nebula shuttle",
    "romance": "love wedding kiss heart bride couple marriage date romance jealous flowers "
    "proposal honeymoon groom sweetheart crush divorce letter summer paris",
    "crime": "detective murder police killer suspect gun evidence victim clue alibi robbery "
    "gangster heist witness prison warden informant badge corpse lawyer",
    "music": "singer band song concert guitar album tour drummer stage chorus piano jazz studio "
    "microphone orchestra lyrics melody rapper fans encore",
    "horror": "ghost vampire blood scream zombie curse cellar haunted demon knife fog werewolf "
    "ritual coffin graveyard nightmare possessed exorcist attic bats",
    "sports": "team coach game season player boxer ring champion stadium goal training referee "
    "locker league match trophy sprint underdog baseball racket",
    "family": "mother father son daughter home children grandmother dinner brother sister kitchen "
    "funeral inheritance school holiday neighbor baby puppy garden bedtime",
    "western": "sheriff cowboy horse saloon outlaw desert town ranch gunfight cattle bandit wagon "
    "stagecoach rodeo lasso canyon railroad poker dust bounty",
    "magic": "wizard dragon king sword castle spell queen elf quest prophecy kingdom dwarf throne "
    "sorcerer potion unicorn amulet enchanted goblin scroll",
}
OPINIONS = (
    "good great bad best dull funny slow fine clever boring brilliant weak moving silly tense flat "
    "charming awful subtle loud predictable gorgeous clumsy honest"
)
FRAMES = (
    "The {0} and the {1} are what this film is about, and it is {2} from the start to the end.",
    "I did not like the {0}, but the {1} was {2}, and that is what we came to see.",
    "There is a {0} with a {1} in it; some of the movie is {2}, and most of it isn't.",
    "It has all the {0} and the {1} that you want, though the plot is a bit too {2} for us.",
    "When the {0} meets the {1}, you know that you are in for a {2} scene.",
    "Who would have thought that a {0} could be so {2} next to a {1}?",
    "The director doesn't care for the {0}; he gives us a {2} {1} and nothing else.",
    "If you have seen one {0}, you have seen them all, but the {1} is {2}.",
    "The actor who plays with the {0} is {2}, and the story of the {1} is his.",
    "What I remember is the {0}: it is {2}, and there's a {1} at the end of it.",
    "They say that the {0} was {2} in the book, but on the screen it's the {1} that works.",
    "At two hours it is too long, and yet the {0} and her {1} are {2}.",
)


def log_lines(n_documents: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return lines such as "2024-01-02 10:11:12 status installed libfoo:amd64 1.2-3".

    Each package passes all steps, so many lines are nearly the same.
    """
    rng = np.random.default_rng(seed)
    events = list[tuple[str, str]]()
    while len(events) < n_documents:
        if rng.random() < 0.2:
            events.append(("startup", f"startup archives {rng.choice(['unpack', 'install'])}"))
        theme = str(rng.choice(list(FAMILIES)))
        pattern, parts = FAMILIES[theme]
        package = pattern.format(rng.choice(parts.split()))
        version = f"{rng.integers(1, 9)}.{rng.integers(20)}-{rng.integers(1, 4)}{rng.choice(ENDS)}"
        system = rng.choice(["amd64", "all"])
        events += [(theme, step.format(package, version, system)) for step in STEPS]
        if rng.random() < 0.3:
            events.append(("triggers", "trigproc libc-bin:amd64 2.36-9+deb12u1 <none>"))
    del events[n_documents:]
    themes, lines = zip(*events)
    return [f"{_stamp(second)} {line}" for second, line in enumerate(lines)], list(themes)


def _stamp(second: int) -> str:
    day, hour, minute = second // 86400 % 28 + 1, second // 3600 % 24, second // 60 % 60
    return f"2024-01-{day:02} {hour:02}:{minute:02}:{second % 60:02}"


def reviews(n_documents: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return reviews of 6 to 20 sentences. Each is about a genre, and a little about another."""
    rng = np.random.default_rng(seed)
    texts, themes = [], []
    for _ in range(n_documents):
        theme, other = rng.choice(list(GENRES), 2, replace=False)
        own = rng.uniform(0.6, 1)  # the share of sentences about the genre
        sentences = []
        for _ in range(rng.integers(6, 21)):
            words = GENRES[theme if rng.random() < own else other].split()
            falling = 1 / np.arange(3, len(words) + 3)
            one, two = rng.choice(words, 2, replace=False, p=falling / falling.sum())
            opinion = rng.choice(OPINIONS.split())
            sentences.append(str(rng.choice(FRAMES)).format(one, two, opinion))
        texts.append(" ".join(sentences))
        themes.append(str(theme))
    return texts, themes


if __name__ == "__main__":
    kind, number = sys.argv[1], int(sys.argv[2])
    print(*{"log": log_lines, "reviews": reviews}[kind](number)[0], sep="\n")
