"""Both taggers return the same kind of scored tagging."""

import eigentext as et
from eigentext.trellis import ScoredTagging

TAGGED = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 3


def test_both_taggers_return_scored_taggings():
    for tagger in (et.Tagger(), et.HMMTagger()):
        best = tagger.fit(TAGGED).k_best(["dogs", "sleep"], 2)
        assert all(type(one) is ScoredTagging for one in best)
        assert best[0].tagging == [("dogs", "N"), ("sleep", "V")]
        assert best[0].log_probability >= best[1].log_probability
