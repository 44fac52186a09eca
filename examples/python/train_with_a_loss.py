"""Train a network with a loss of your choice, and test it on people it has never seen.

python train_with_a_loss.py [LOSS]      # softmax, cosface, arcface, ...; default cosface
"""

import shutil
import sys
from pathlib import Path

import facebench
from facebench import datasets, training


def pack_faces(folder, people, first_person):
    """Synthetic faces, detected and cut out; other numbers are other people."""
    if not folder.exists():
        options = datasets.SyntheticOptions(
            people=people, images=4, pairs_per_fold=2, first_person=first_person
        )
        datasets.write_synthetic_dataset(options, folder)
    pack = folder.with_suffix(".h5")
    facebench.pack("lfw", folder, pack, crop_size=64)
    return pack


def main(loss="cosface"):
    work = Path("train-with-a-loss-example")
    work.mkdir(exist_ok=True)
    train_pack = pack_faces(work / "train", people=24, first_person=0)
    test_pack = pack_faces(work / "lfw", people=20, first_person=24)

    out = work / loss
    shutil.rmtree(out, ignore_errors=True)  # an earlier training would be refused
    recipe = training.load_recipe("demo", loss=loss, epochs=2, channel_multiplier=0.25)
    trained = facebench.train(
        recipe,
        train_pack,
        out,
        threads=1,  # the same bits on machines of any size
        on_epoch=lambda report, model: print(f"epoch {report['epoch']}: loss {report['loss']:.3f}"),
    )
    embeddings = facebench.embed(trained["model"], test_pack)
    result = facebench.evaluate("lfw", embeddings, root=work / "lfw", replicates=200)
    print(f"{loss}, unseen people: {result.auc}")


if __name__ == "__main__":
    main(*sys.argv[1:])
