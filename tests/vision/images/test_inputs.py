"""Pre-processing of Wang & Guo 2019, table 11, against torchvision, Pillow and plain numpy."""

import colorsys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import embedding, training  # noqa: E402


def photos(n, height=256, width=256, seed=0):
    """Smooth pictures with some noise, so that resizing has something to get wrong."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / 40
    waves = [np.sin(a * x + b * y + c) for a, b, c in rng.uniform(-2, 2, (3 * n, 3))]
    images = 127 + 90 * np.stack(waves).reshape(n, 3, height, width).transpose(0, 2, 3, 1)
    return (images + rng.uniform(-30, 30, images.shape)).clip(0, 255).astype(np.uint8)


def drawn_view(image, drawn, resize):
    """The part of the image that was drawn, at 224x224 (or its own size where it has that)."""
    if drawn["resized"]:
        image = resize(image, *drawn["resized"])
    x0, y0, x1, y1 = drawn["window"]
    return image[y0:y1, x0:x1]


def bilinear(image, width, height):
    """Half-pixel positions, edges repeated, no antialiasing, rounded."""
    rows, columns = image.shape[:2]

    def taps(out, size):
        at = np.clip((np.arange(out) + 0.5) * size / out - 0.5, 0, size - 1)
        low = np.minimum(at.astype(int), size - 2) if size > 1 else np.zeros(out, int)
        return low, at - low

    y, fy = taps(height, rows)
    x, fx = taps(width, columns)
    image = image.astype(np.float64)
    top = image[y][:, x] * (1 - fx)[:, None] + image[y][:, x + 1] * fx[:, None]
    bottom = image[y + 1][:, x] * (1 - fx)[:, None] + image[y + 1][:, x + 1] * fx[:, None]
    return np.rint(top * (1 - fy)[:, None, None] + bottom * fy[:, None, None])


def planar(image, mirrored):
    return (image[:, ::-1] if mirrored else image).transpose(2, 0, 1)


def test_pytorch_training_equals_torchvision():
    torchvision = pytest.importorskip("torchvision")
    from PIL import Image
    from torchvision.transforms import functional

    images = photos(6)
    inputs, drawn = training.training_inputs("resnet50.pytorch", images, epoch=2)
    assert inputs.shape == (6, 3, 224, 224) and inputs.dtype == np.float32
    assert {d["mirror"] for d in drawn} == {False, True}
    for image, got, d in zip(images, inputs, drawn, strict=True):
        x0, y0, x1, y1 = d["window"]
        x = functional.resized_crop(
            Image.fromarray(image), y0, x0, y1 - y0, x1 - x0, [224, 224],
            torchvision.transforms.InterpolationMode.BILINEAR,
        )  # fmt: skip
        x = functional.hflip(x) if d["mirror"] else x
        expected = functional.normalize(
            functional.to_tensor(x), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        )
        # Pillow rounds between its two passes: one step of 255 here and there.
        error = np.abs(expected.numpy() - got)
        assert error.max() < 1.01 / 255 / 0.224 and error.mean() < 0.2 / 255 / 0.224


def test_random_resized_crop_is_distributed_as_torchvisions():
    torchvision = pytest.importorskip("torchvision")
    stats = pytest.importorskip("scipy.stats")
    recipe = training.load_recipe(
        "resnet50.pytorch", height=8, width=8, image_height=60, image_width=80
    )
    _, drawn = training.training_inputs(recipe, np.zeros((3000, 60, 80, 3), np.uint8))
    ours = np.array([d["window"] for d in drawn], float)
    torch.manual_seed(1)
    image = torch.zeros(3, 60, 80)
    get = torchvision.transforms.RandomResizedCrop.get_params
    theirs = np.array([get(image, (0.08, 1), (3 / 4, 4 / 3)) for _ in range(3000)], float)
    top, left, height, width = theirs.T
    for a, b in [
        (ours[:, 0], left),
        (ours[:, 1], top),
        (ours[:, 2] - ours[:, 0], width),
        (ours[:, 3] - ours[:, 1], height),
        ((ours[:, 2] - ours[:, 0]) / (ours[:, 3] - ours[:, 1]), width / height),
    ]:
        assert stats.ks_2samp(a, b).pvalue > 1e-3


def test_tensorflow_vgg_preprocessing():
    images = photos(5)
    inputs, drawn = training.training_inputs("vgg16.tensorflow", images)
    for image, got, d in zip(images, inputs, drawn, strict=True):
        assert d["resized"] and 256 <= min(d["resized"]) <= 512
        view = drawn_view(image, d, bilinear)
        assert view.shape == (224, 224, 3)
        expected = planar(view - [123.68, 116.779, 103.939], d["mirror"])
        assert np.abs(expected - got).max() <= 1.001
        assert np.abs(expected - got).mean() < 0.2  # OpenCV's weights have 11 bits


def test_caffe_crops_and_swaps_channels():
    images = photos(5)
    inputs, drawn = training.training_inputs("vgg16.caffe", images)
    for image, got, d in zip(images, inputs, drawn, strict=True):
        view = drawn_view(image, d, None)[..., ::-1] - np.array([87.1, 102.7, 134.6])
        np.testing.assert_allclose(got, planar(view / 255, d["mirror"]), atol=1e-6)
    assert len({d["window"] for d in drawn}) == 5
    light, _ = training.training_inputs("lightcnn29.caffe", photos(2, 144, 144))
    assert light.shape == (2, 3, 128, 128)
    assert -1 <= light.min() < -0.5 and 0.5 < light.max() <= 1


def distort(rgb, steps):
    """By the formulas, one pixel at a time for what is done in HSV."""
    x = rgb / 255
    for name, amount in steps:
        if name == "brightness":
            x = x + amount
        elif name == "contrast":
            mean = x.mean((0, 1))
            x = (x - mean) * amount + mean
        else:
            # colorsys divides by zero where the largest value is zero, and knows no negative ones.
            flat = x.reshape(-1, 3).copy()
            for i, pixel in enumerate(flat):
                h, s, v = colorsys.rgb_to_hsv(*pixel)
                if name == "hue":
                    h = (h + amount) % 1
                else:
                    s = min(max(s * amount, 0), 1)
                flat[i] = colorsys.hsv_to_rgb(h, s, v)
            x = flat.reshape(x.shape)
    return 255 * x.clip(0, 1)


# A step of 255 in the resized bytes, which contrast and saturation enlarge; nothing where none are.
@pytest.mark.parametrize(
    ("view", "mean", "largest"), [("random_crop", 1e-4, 1e-3), ("distorted_box", 0.6, 8)]
)
def test_tensorflow_inception_preprocessing(view, mean, largest):
    images = photos(6, 40, 40, seed=3) // 2 + 64  # never black: see distort
    recipe = training.load_recipe(
        "googlenet.tensorflow", height=32, width=32, image_height=40, image_width=40
    )
    assert recipe.to_dict()["augmentation"]["view"] == "distorted_box"
    recipe.set("augmentation.view", view)
    inputs, drawn = training.training_inputs(recipe, images)
    orders = set()
    for image, got, d in zip(images, inputs, drawn, strict=True):
        view = bilinear(drawn_view(image, d, None), 32, 32)
        names = [name for name, _ in d["color"]]
        assert sorted(names) == ["brightness", "contrast", "hue", "saturation"]
        orders.add(tuple(names))
        amounts = dict(d["color"])
        assert abs(amounts["brightness"]) <= 32 / 255 and abs(amounts["hue"]) <= 0.2
        assert 0.5 <= amounts["contrast"] <= 1.5 and 0.5 <= amounts["saturation"] <= 1.5
        expected = planar(distort(view, d["color"]) / 127.5 - 1, d["mirror"])
        error = 127.5 * np.abs(expected - got)
        assert error.mean() < mean and error.max() < largest
        assert got.min() >= -1 and got.max() <= 1
    assert len(orders) > 1


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("center_crop", lambda x: x[4:36, 4:36]),
        # 40 - 2 floor((40 - 40 * .875) / 2) = 36
        ("center_fraction", lambda x: bilinear(x[2:38, 2:38], 32, 32)),
    ],
)
def test_embedding_sees_the_middle(view, expected, tmp_path):
    images = photos(4, 40, 40)
    model = embedding.make_model(
        "small4", height=32, width=32, image_height=40, image_width=40,
        view=view, color="bgr", mean=[10, 20, 30], std=[50, 60, 70],
    )  # fmt: skip
    x = np.stack([expected(image)[..., ::-1] for image in images])
    x = torch.from_numpy(((x - [10, 20, 30]) / [50, 60, 70]).transpose(0, 3, 1, 2).copy())
    want = torch.nn.functional.normalize(model.weights.infer(x.float())).numpy()
    got = embedding.extract(model, images, threads=1).values
    np.testing.assert_allclose(got, want, atol=1e-6 if view == "center_crop" else 5e-3)
    model.save(tmp_path / "m.safetensors")
    again = embedding.load_model(tmp_path / "m.safetensors")
    assert embedding.extract(again, images, threads=1).values.tobytes() == got.tobytes()
    with pytest.raises(ValueError, match="32 x 32"):
        embedding.extract(model, images[:, :32, :32])


def test_trained_model_knows_its_input(tmp_path):
    """What was trained on random parts embeds their middle, from crops of the trained size."""
    images = photos(16, 24, 20)
    recipe = training.load_recipe("small4.softmax")
    for key, value in {
        "height": "16", "width": "16", "augmentation.view": "random_resized_crop",
        "input.color": "bgr", "input.view": "center_crop", "epochs": "1", "batch": "8",
        "network.embedding": "8", "channel_multiplier": "0.1",
    }.items():  # fmt: skip
        recipe.set(key, value)
    result = training.train(recipe, (images, [0, 1] * 8), tmp_path / "run", threads=1)
    model = embedding.load_model(result["model"])
    options = model.options
    assert (options.view, options.color) == ("center_crop", "bgr")
    assert (options.image_height, options.image_width) == (24, 20)
    middle = images[:, 4:20, 2:18]
    plain = embedding.make_model(
        "small4", height=16, width=16, embedding=8, channel_multiplier=0.1,
        color="bgr", flip=options.flip,
    )  # fmt: skip
    plain.weights.load_state_dict(model.weights.state_dict())
    np.testing.assert_array_equal(
        embedding.extract(model, images, threads=1).values,
        embedding.extract(plain, middle, threads=1).values,
    )
    recipe.set("input.image_height", "32")
    with pytest.raises(ValueError, match="images of 32x20"):
        training.train(recipe, (images, [0, 1] * 8), tmp_path / "other", threads=1)
