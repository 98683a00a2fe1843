import eigentext as et


def test_clusters_are_the_models(server, numbers, model_files):
    model = et.load(model_files["clusters"])
    answer = server.get(f"/api/{numbers['clusters']}/clusters", topn=2).json()
    assert answer["n_clusters"] == len(answer["clusters"]) == 4
    for one in answer["clusters"]:
        words = [(word["word"], word["count"]) for word in one["words"]]
        assert words == model.most_frequent(one["id"], 2)
        assert one["size"] == len(model.words(one["bits"]))


def test_the_cluster_of_a_word(server, numbers, model_files):
    answer = server.get(f"/api/{numbers['clusters']}/clusters", word="cat").json()
    (one,) = answer["clusters"]
    assert one["bits"] == et.load(model_files["clusters"])["cat"]
    assert server.get(f"/api/{numbers['clusters']}/clusters", word="zzz").status_code == 404
    found = server.get(f"/api/{numbers['clusters']}/words", prefix="ca").json()
    assert [word["word"] for word in found["words"]] == ["cat"]
