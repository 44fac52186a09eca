"""How PyTorch is usually fed: torchvision decodes files, a DataLoader makes batches of them."""

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

from facebench import datasets


class LabelledFiles(Dataset):
    """As torchvision's ImageFolder: PIL decodes; Resize (where ``size`` is given), ToTensor and
    Normalize to -1..1 follow. Gives (pixels, label)."""

    def __init__(self, paths, labels, size=None):
        from torchvision import transforms

        self.paths, self.labels = paths, labels
        resize = [transforms.Resize(size)] if size else []
        scale = [transforms.ToTensor(), transforms.Normalize([0.5] * 3, [128 / 255] * 3)]
        self.transform = transforms.Compose([*resize, *scale])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        from PIL import Image

        with Image.open(self.paths[index]) as picture:
            return self.transform(picture.convert("RGB")), self.labels[index]


def batches_of_files(spec: dict):
    """Batches (images, labels) without end, of the folder ``spec["path"]``, in random order."""
    _, height, width = spec["graph"]["input"]
    samples = datasets.read_image_folder(spec["path"]).samples
    dataset = LabelledFiles(
        [s.path for s in samples], [s.label % spec["classes"] for s in samples], (height, width)
    )
    generator = torch.Generator().manual_seed(spec["seed"])
    return iter(
        DataLoader(
            dataset,
            batch_size=spec["batch"],
            sampler=RandomSampler(
                dataset, replacement=True, num_samples=1 << 40, generator=generator
            ),
            num_workers=spec["data_threads"],
        )
    )
