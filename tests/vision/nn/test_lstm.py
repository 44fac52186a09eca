"""The language model of two LSTM layers against its definition in plain PyTorch: outputs,
gradients, steps of training, ONNX, and what is refused where words are not images."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import embedding, nn, timing, training  # noqa: E402

F = torch.nn.functional
SIZE = {"words": 6, "vocabulary": 11, "embedding": 5}


def cells(x, w_ih, w_hh, bias):
    """Zaremba et al. 2014, section 3.1, a step at a time; gates ordered as torch orders them."""
    h = c = torch.zeros(len(x), w_hh.shape[1], dtype=x.dtype)
    steps = []
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ w_ih.T + h @ w_hh.T + bias).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h)
    return torch.stack(steps, 1)


def language_model(words, t):
    x = t["lookup.weight"][words]
    for layer in ("lstm1", "lstm2"):
        x = cells(x, *(t[f"{layer}.{n}_l0"] for n in ("weight_ih", "weight_hh", "bias_ih")))
    return x


def random_words(count=4, size=SIZE, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(size["vocabulary"], (count, size["words"]), generator=generator)


def test_outputs_and_gradients_are_the_definitions():
    network = nn.build_network("lstm", **SIZE)
    network.to(dtype=torch.float64)
    words = random_words()
    ours = network(words)
    assert ours.shape == (4, 6, 5)
    copies = {n: p.detach().clone().requires_grad_() for n, p in network.named_parameters()}
    wanted = language_model(words, copies)
    torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-12)
    weights = torch.randn(wanted.shape, dtype=torch.float64)
    (ours * weights).sum().backward()
    (wanted * weights).sum().backward()
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(parameter.grad, copies[name].grad, rtol=1e-10, atol=1e-12)


def test_a_layer_is_torchs():
    network = nn.build_network("lstm", **SIZE)
    theirs = torch.nn.LSTM(5, 5, batch_first=True)
    state = network.state_dict()
    own = {k.removeprefix("lstm1."): v for k, v in state.items() if k.startswith("lstm1.")}
    assert set(theirs.state_dict()) - set(own) == {"bias_hh_l0"}
    theirs.load_state_dict({**own, "bias_hh_l0": torch.zeros(20)})
    second = torch.nn.LSTM(5, 5, batch_first=True)
    own = {k.removeprefix("lstm2."): v for k, v in state.items() if k.startswith("lstm2.")}
    second.load_state_dict({**own, "bias_hh_l0": torch.zeros(20)})
    words = random_words(3)
    x = F.embedding(words, state["lookup.weight"])
    torch.testing.assert_close(network.infer(words), second(theirs(x)[0])[0])


def test_it_starts_as_torchs_layers_do():
    state = nn.build_network("lstm").state_dict()
    for name, tensor in state.items():
        if name == "lookup.weight":
            assert abs(tensor.mean()) < 0.01 and abs(tensor.std() - 1) < 0.01
        else:
            assert tensor.abs().max() <= 1 / 16 and abs(tensor.std() * 16 * 3**0.5 - 1) < 0.05


def test_counts_are_those_of_the_authors_code():
    """dlbench, tools/tensorflow/rnn/lstm/lstm.py: 10,000 vectors of 256, two BasicLSTMCells (one
    kernel of 512 x 1024 and one bias each), softmax_w and softmax_b."""
    graph = nn.build_graph("lstm", classes=10000)
    layer = 512 * 1024 + 1024
    assert graph.count_parameters() == 10000 * 256 + 2 * layer + 256 * 10000 + 10000 == 6_180_624
    assert graph.count_macs() == 32 * (2 * 512 * 1024 + 256 * 10000)
    assert graph.input_shape == [32] and graph.vocabulary == 10000
    assert nn.build_graph("small4").vocabulary == 0


def test_steps_of_training_are_a_hand_written_loop():
    """The loss is the mean over all words; three steps of SGD with momentum."""
    options = timing.StepOptions(network="lstm", batch=4, threads=1, lr=0.5, momentum=0.9)
    bench = timing.StepBench(options, nn.NetworkOptions(**SIZE))
    tensors = {n: t.detach().clone().requires_grad_() for n, t in bench.tensors().items()}
    words, labels = random_words(), random_words(seed=1)
    ours = bench.losses(words, labels, 3)
    optimizer = torch.optim.SGD(tensors.values(), 0.5, 0.9)
    network = {n.removeprefix("network."): t for n, t in tensors.items()}
    wanted = []
    for _ in range(3):
        logits = language_model(words, network) @ tensors["head.weight"].T + tensors["head.bias"]
        loss = sum(F.cross_entropy(logits[:, t], labels[:, t]) for t in range(6)) / 6
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        wanted.append(loss.item())
    np.testing.assert_allclose(ours, wanted, rtol=1e-5)
    assert ours[2] < ours[0]


def test_steps_are_timed():
    result = timing.bench_step(
        "lstm", batches=[4], iterations=2, rounds=1, skip=1, network_options=SIZE, threads=1
    )
    (row,) = result["rows"]
    assert row["status"] == "ok", row["message"]
    assert set(row["phases"]) == {"forward", "backward", "update"}
    predicted = row["predicted_memory"]
    numbers = nn.build_graph("lstm", classes=11, **SIZE).count_parameters()
    assert predicted["gradients"] == 4 * (numbers - 11)  # biases of heads are not counted
    assert predicted["head"] == 2 * 4 * 4 * 6 * 11


def test_onnx_runs_it(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    network = nn.build_network("lstm", words=6, vocabulary=11, embedding=7)
    nn.export_onnx(network, tmp_path / "n.onnx")
    session = onnxruntime.InferenceSession(
        str(tmp_path / "n.onnx"), providers=["CPUExecutionProvider"]
    )
    for count in (1, 3):
        words = random_words(count)
        (found,) = session.run(None, {"words": words.numpy()})
        np.testing.assert_allclose(found, network.infer(words).numpy(), atol=1e-6)


def test_words_are_no_images(tmp_path):
    network = nn.build_network("lstm", **SIZE)
    for wrong, message in (
        (torch.zeros(2, 3, 8, 8), r"takes words of \(N, 6\)"),
        (torch.zeros(2, 6), "numbers in int64"),
        (torch.zeros(2, 5, dtype=torch.int64), r"takes words of \(N, 6\)"),
    ):
        with pytest.raises(ValueError, match=message):
            network.infer(wrong)
    with pytest.raises(ValueError, match="reads images, not words"):
        nn.build_network("small4", words=3)
    with pytest.raises(ValueError, match="reads words: it has no size"):
        nn.build_network("lstm", height=32)
    with pytest.raises(ValueError, match="a model reads images"):
        embedding.make_model("lstm")
    with pytest.raises(ValueError, match="input 'preloaded' has images, the network reads words"):
        timing.StepBench(
            timing.StepOptions(network="lstm", input="preloaded"), nn.NetworkOptions(**SIZE)
        )
    recipe = training.load_recipe("small4.softmax", network="lstm", **{"training.batch": 2})
    images = np.zeros((4, 32, 32, 3), np.uint8), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="'lstm' reads words, a training reads images"):
        training.train(recipe, images, tmp_path / "run")
