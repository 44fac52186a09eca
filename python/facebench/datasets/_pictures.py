"""Names, people and pictures of a pack, of a folder of people or of an archive."""

import os

import numpy as np

from facebench import _library, images


class Pictures:
    """``names``, ``labels`` and ``statuses`` of the images, ``people`` by their labels; ``pack`` is
    None for a folder or archive. facebench.Error where the path is none of these."""

    def __init__(self, path):
        full = _library.full
        self.path = os.fspath(path)
        self.pack = None
        archive = full.find_image_archive(self.path) is not None
        if archive or os.path.isdir(self.path):
            dataset = full.read_archive(self.path) if archive else full.read_image_folder(self.path)
            self._samples, self.people = dataset.samples, dataset.label_names
            self.names = [s.id for s in self._samples]
            self.labels = np.array([s.label for s in self._samples])
            self.statuses = np.zeros(len(self._samples), int)
        else:
            self.pack = full.Pack(self.path)
            self.names, self.people = self.pack.names, self.pack.label_names
            self.labels = np.asarray(self.pack.labels)
            self.statuses = np.asarray(self.pack.statuses)

    def pixels(self, index):
        """Those of an image. facebench.Error where it cannot be read."""
        if self.pack is not None:
            return self.pack.images[index]
        sample = self._samples[index]
        return images.decode(sample.read(), sample.where)
