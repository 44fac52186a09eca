"""Miniature releases of IJB-B and IJB-C, in both packagings, and the scripts' computations.

The transcriptions follow insightface recognition/_evaluation_/ijb/ijb_evals.py and ijb_1n.py
wherever a line decides a number.
"""

import numpy as np
from sklearn.metrics import roc_curve
from sklearn.preprocessing import normalize

FARS = [10**-k for k in range(6, 0, -1)]


class Release:
    """People with one gallery template each and some probe templates; embeddings for all faces."""

    def __init__(self, people=30, seed=0, dim=16, spread=1.2):
        random = np.random.default_rng(seed)
        self.template, self.medium, self.subject, self.gallery = [], [], {}, {}
        number = 0
        for role in ("gallery", "probe"):
            for person in range(people):
                for _ in range(1 if role == "gallery" else int(random.integers(1, 4))):
                    number += 1
                    self.subject[number] = 100 + person
                    self.gallery[number] = ("G1", "G2")[person % 2] if role == "gallery" else None
                    for medium in range(int(random.integers(1, 4))):
                        for _ in range(int(random.integers(1, 4))):
                            self.template.append(number)
                            self.medium.append(7 * number + medium)
        n = len(self.template)
        order = random.permutation(n)  # rows of a template need not lie together
        self.template = np.array(self.template)[order]
        self.medium = np.array(self.medium)[order]
        self.name = [f"{i + 1}.jpg" for i in range(n)]
        self.score = np.round(random.uniform(0.1, 1, n), 3)
        self.points = np.round(random.uniform(20, 90, (n, 10)), 3)
        centre = random.normal(size=(people, dim))
        mirrored = random.normal(size=(2, n, dim)) * spread
        person = np.array([self.subject[t] - 100 for t in self.template])
        length = random.uniform(0.3, 3, (n, 1))
        self.plain = ((centre[person] + mirrored[0]) * length).astype(np.float32)
        self.flipped = ((centre[person] + mirrored[1]) * length).astype(np.float32)
        galleries = [t for t, g in self.gallery.items() if g]
        probes = [t for t, g in self.gallery.items() if not g]
        self.pairs = np.array([(a, b) for a in galleries for b in probes])
        self.label = np.array([int(self.subject[a] == self.subject[b]) for a, b in self.pairs])

    def rows(self, templates):
        """One row an image of these templates, as the CSV files of 1:N have them."""
        return [(t, self.subject[t], i) for i, t in enumerate(self.template) if t in templates]

    def of(self, gallery):
        return [t for t, g in self.gallery.items() if g == gallery]

    def write_packed(self, root, prefix="ijbc"):
        """As InsightFace packs it."""
        meta = root / prefix.upper() / "meta"
        meta.mkdir(parents=True)
        rows = zip(self.name, self.template, self.medium, strict=True)
        (meta / f"{prefix}_face_tid_mid.txt").write_text(
            "".join(f"{n} {t} {m}\n" for n, t, m in rows)
        )
        (meta / f"{prefix}_name_5pts_score.txt").write_text(
            "".join(
                f"{n} {' '.join(f'{v:.3f}' for v in p)} {s:.3f}\n"
                for n, p, s in zip(self.name, self.points, self.score, strict=True)
            )
        )
        (meta / f"{prefix}_template_pair_label.txt").write_text(
            "".join(f"{a} {b} {k}\n" for (a, b), k in zip(self.pairs, self.label, strict=True))
        )
        self._write_csv(meta, prefix, lambda i: f"img/{i}.jpg")
        return root

    def write_official(self, root, prefix="ijbc"):
        """As NIST gave it out."""
        folder = root / "protocols"
        folder.mkdir(parents=True)
        g = "S1_S2" if prefix == "ijbb" else "G1_G2"
        (folder / f"{prefix}_11_{g}_matches.csv").write_text(
            "".join(f"{a},{b}\n" for a, b in self.pairs)
        )
        self._write_csv(folder, prefix, lambda i: f"img/{i + 1}.jpg")
        return root

    def _write_csv(self, folder, prefix, file):
        head = "TEMPLATE_ID,SUBJECT_ID,FILENAME,SIGHTING_ID,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT\n"
        names = {"G1": "gallery_G1", "G2": "gallery_G2", None: "probe_mixed"}
        for gallery, name in names.items():
            name = name.replace("G", "S") if prefix == "ijbb" else name
            rows = self.rows(self.of(gallery))
            (folder / f"{prefix}_1N_{name}.csv").write_text(
                head + "".join(f"{t},{s},{file(i)},{self.medium[i]},1,2,3,4\n" for t, s, i in rows)
            )


def process_embeddings(release, use_norm_score, use_detector_score, use_flip_test):
    """ijb_evals.py process_embeddings: use_norm_score takes the norms away."""
    embs = release.plain
    if use_flip_test:
        embs = embs + release.flipped
    if use_norm_score:
        embs = normalize(embs)
    if use_detector_score:
        embs = embs * np.expand_dims(release.score.astype("float32"), -1)
    return embs


def image2template_feature(img_feats, templates, medias):
    unique_templates = np.unique(templates)
    template_feats = np.zeros((len(unique_templates), img_feats.shape[1]))
    for count_template, uqt in enumerate(unique_templates):
        (ind_t,) = np.where(templates == uqt)
        face_norm_feats = img_feats[ind_t]
        face_medias = medias[ind_t]
        unique_medias, unique_media_counts = np.unique(face_medias, return_counts=True)
        media_norm_feats = []
        for u, ct in zip(unique_medias, unique_media_counts, strict=True):
            (ind_m,) = np.where(face_medias == u)
            if ct == 1:
                media_norm_feats += [face_norm_feats[ind_m]]
            else:
                media_norm_feats += [np.mean(face_norm_feats[ind_m], 0, keepdims=True)]
        template_feats[count_template] = np.sum(np.array(media_norm_feats), 0)
    return normalize(template_feats), unique_templates


def verification_11(feats, unique_templates, pairs):
    template2id = np.zeros(max(unique_templates) + 1, dtype=int)
    template2id[unique_templates] = np.arange(len(unique_templates))
    return np.sum(feats[template2id[pairs[:, 0]]] * feats[template2id[pairs[:, 1]]], -1)


def tar_at_fars(label, score, fars=FARS):
    fpr, tpr, _ = roc_curve(label, score)
    fpr, tpr = np.flipud(fpr), np.flipud(tpr)
    result = []
    for far in fars:
        _, index = min(list(zip(abs(fpr - far), range(len(fpr)), strict=True)))
        result.append(tpr[index])
    return result


def ijb_evals_1n(similarity, query_ids, reg_ids, fars=(0.01, 0.1)):
    """ijb_evals.py evaluation_1N."""
    top = [0, 0, 0]
    pos_sims, neg_sims, non_gallery_sims = [], [], []
    for index, query_id in enumerate(query_ids):
        if query_id in reg_ids:
            gallery_label = np.argwhere(reg_ids == query_id)[0, 0]
            index_sorted = np.argsort(similarity[index])[::-1]
            for k, rank in enumerate((1, 5, 10)):
                top[k] += gallery_label in index_sorted[:rank]
            pos_sims.append(similarity[index][reg_ids == query_id][0])
            neg_sims.append(similarity[index][reg_ids != query_id])
        else:
            non_gallery_sims.append(similarity[index])
    total_pos = len(pos_sims)
    pos_sims, neg_sims = np.array(pos_sims), np.array(neg_sims)
    correct_pos_cond = pos_sims > neg_sims.max(1)
    non_gallery_sims_sorted = np.sort(np.array(non_gallery_sims).max(1))[::-1]
    recalls = []
    for far in fars:
        thresh = non_gallery_sims_sorted[max(int(len(non_gallery_sims_sorted) * far) - 1, 0)]
        recalls.append(np.logical_and(correct_pos_cond, pos_sims > thresh).sum() / total_pos)
    return [c / total_pos for c in top], recalls


def ijb_1n(similarity, query_ids, reg_ids, fars=(0.01, 0.1)):
    """ijb_1n.py evaluation: all probes have a mate; the threshold is a rank among all scores."""
    query_num = len(query_ids)
    mask = np.array([np.where(reg_ids == q)[0][0] for q in query_ids])
    ranks = np.argsort(-similarity, 1)
    top = [np.mean([mask[q] in ranks[q, :k] for q in range(query_num)]) for k in (1, 5, 10)]
    neg = np.array([np.delete(similarity[q], mask[q]) for q in range(query_num)]).reshape(-1)
    neg_sorted = np.sort(neg)[::-1]
    pos = similarity[np.arange(query_num), mask]
    recalls = []
    for far in fars:
        th = neg_sorted[int(np.ceil(query_num * far)) - 1]
        recalls.append(np.sum(pos > th) / query_num)
    return top, recalls
