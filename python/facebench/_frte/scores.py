"""A library of FRTE 1:1 under a protocol: photographs to templates to scores to a result."""

from collections import Counter

import numpy as np

from facebench import _eval
from facebench._eval import EvaluationOptions
from facebench._frte.library import FrteLibrary
from facebench._frte.pool import Pool
from facebench._frte.process import code_text
from facebench._frte.templates import (
    ENROLMENT,
    VERIFICATION,
    Photographs,
    Templates,
    take_or_make,
)
from facebench._library import full
from facebench.core import Error, _log
from facebench.core._progress import stage
from facebench.protocols import Result
from facebench.protocols._evaluate import BACKEND_OPTIONS
from facebench.protocols._load import load_protocol, protocol_place, read_trials
from facebench.protocols._pairs import unit_names
from facebench.protocols._shards import limited

_AT_ONCE = 1000  # comparisons of one question
_BLOCK = 200_000  # scores that are asked for together
_FAILED = -1.0  # the interface's score of a comparison that failed
# Fields of RunRequest that say something here; all others are of detectors, crops and networks.
_TAKEN = {
    *("root", "images", "lists", "exclude", "only", "limit", "overwrite", "cache", "discard"),
    *("max_pixels", "exif_orientation", *(f["name"] for f in EvaluationOptions.fields())),
} - {"fusion", *BACKEND_OPTIONS}  # of embeddings


def check_request(library: FrteLibrary, request) -> None:
    """ValueError for what a library decides by itself."""
    usual = type(request)().to_dict()
    asked = {name for name, value in request.to_dict().items() if value and value != usual[name]}
    library.refuse_settings(sorted(asked - _TAKEN))


def run_library(protocol, library: FrteLibrary, request, threads=0, progress=None) -> Result:
    """The result of a library under a protocol, with what decided it in ``content``. ``request``: a
    `RunRequest`."""
    check_request(library, request)
    asked = request.to_dict()
    options = EvaluationOptions(**{f["name"]: asked[f["name"]] for f in EvaluationOptions.fields()})
    spec = load_protocol(protocol)
    trials = read_trials(spec, request.root, request.lists, options.strict)
    trials = limited(trials, request.exclude, request.only, request.limit)
    places = [asked[name] or "" for name in ("root", "images", "lists")]
    dataset = full.protocol_dataset(protocol_place(protocol), *places)
    decoding = {name: asked[name] for name in ("max_pixels", "exif_orientation")}
    photographs = Photographs(dataset, trials.names, decoding)
    _log.warn(library.warning(), stacklevel=3)

    with Pool(library, threads) as pool:
        templates = Templates(_roles_of_units(trials), _samples_of(trials), photographs)

        def make():
            with stage(progress, "templates", len(templates.keys), "templates") as moved:
                templates.make(pool, moved)

        identity = templates.identity(library, pool.interface, decoding)
        taken = take_or_make(templates, request.cache, identity, make)
        not_made = templates.mark_failed()
        scores, failed, compared = _scores(trials, templates, pool, progress)
        refused = pool.refused()
    raw = _eval.evaluate_scores(
        spec, trials, scores, templates.status.tolist(), options, threads, progress
    )
    raw.add_input("model", library.path)
    for note in _notes(library, pool, not_made, failed, compared):
        raw.add_note(note)
    if refused:
        tried = ", ".join(f"{what} ({count})" for what, count in refused.items())
        _log.warn(f"{library.path.name}: tried what it may not do, and was refused: {tried}")
    result = Result(raw, request.root or "", threads)
    result.reused = ["templates"] if taken else []
    images = dict(zip(trials.names, photographs.hashes, strict=True))
    result.content = {
        "matcher": {
            "kind": "NIST FRTE 1:1",
            "name": library.name,
            "sha256": library.sha256,
            "interface": pool.interface,
            "structures": pool.structures,
            "config_sha256": library.config_sha256,
            "decode": decoding,
            "images_sha256": _eval.sha256_hex(_eval.canonical_json(images).encode()),
        }
    }
    return result


def _roles(track) -> tuple[int, int]:
    """The roles of the two sides of a comparison: probes are verified, galleries enrolled; of other
    pairs the first is the enrolment."""
    is_search = track.kind == "identification"
    return (VERIFICATION, ENROLMENT) if is_search else (ENROLMENT, VERIFICATION)


def _blocks(trials, track: int):
    """(first score, units of so many scores) of a track, part after part."""
    count = trials.slots(track)
    for begin in range(0, count, _BLOCK):
        yield begin, trials.units_of_scores(track, begin, min(begin + _BLOCK, count))


def _roles_of_units(trials) -> list[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for number, track in enumerate(trials.tracks):
        for _, units in _blocks(trials, number):
            for side, role in enumerate(_roles(track)):
                found |= {(role, unit) for unit in np.unique(units[:, side]).tolist() if unit >= 0}
    return sorted(found)


def _samples_of(trials):
    """The samples of a unit, by its number."""
    if not len(trials.templates):
        return lambda unit: [unit]
    begin, sample = trials.templates.begin, trials.templates.sample
    return lambda unit: sample[begin[unit] : begin[unit + 1]].tolist()


def _scores(trials, templates, pool, progress):
    """A score for each place of all tracks, 0 where nothing is compared; the comparisons that
    failed, by their return codes; and how many there were."""
    names = unit_names(trials)
    counts = [trials.slots(number) for number in range(len(trials.tracks))]
    scores, compared = np.zeros(sum(counts)), 0
    failed: Counter[str] = Counter()
    usable = np.array([templates.usable(unit) for unit in range(len(names))])
    first = 0
    with stage(progress, "compare", len(scores), "comparisons") as moved:
        for number, track in enumerate(trials.tracks):
            roles = _roles(track)
            for begin, units in _blocks(trials, number):
                there = np.flatnonzero((units >= 0).all(1) & usable[units].all(1))
                tasks = [units[there[k : k + _AT_ONCE]] for k in range(0, len(there), _AT_ONCE)]
                answers = pool.map(
                    lambda process, pairs, roles=roles: _compared(
                        process, pairs, roles, templates, names
                    ),
                    tasks,
                    lambda done, at=first + begin: moved(at + done * _AT_ONCE),
                )
                for codes, similarities in answers:
                    failed.update(code_text(code) for code in codes.tolist() if code)
                    similarities[codes != 0] = _FAILED
                compared += len(there)
                if answers:
                    scores[first + begin + there] = np.concatenate([s for _, s in answers])
            first += counts[number]
            moved(first)
    return scores, failed, compared


def _compared(process, pairs, roles, templates, names):
    """(return codes, similarities) of pairs of units; facebench.Error for what is not a number."""
    columns = list(zip((roles[0], roles[1]), (0, 1), strict=True))
    enrolled_first = sorted(columns)  # by role: enrolment, then verification
    keys = [[(role, unit) for unit in pairs[:, side].tolist()] for role, side in enrolled_first]
    known = {key: k for k, key in enumerate(dict.fromkeys(keys[0] + keys[1]))}
    places = np.array([[known[key] for key in side] for side in keys]).T

    def words(k):
        return " with ".join(names[unit] for unit in pairs[k].tolist())

    codes, similarities = process.compare([templates.data[key] for key in known], places, words)
    for k in np.flatnonzero((codes == 0) & ~np.isfinite(similarities)):
        raise Error(
            f"the library gives the similarity {similarities[k]} of {words(k)}, and success. A "
            "score is a number: ask its developer"
        )
    return codes, similarities.copy()


def _notes(library, pool, not_made: Counter, failed: Counter, count: int):
    yield (
        f"Scores are similarities of {library.name}, a library of NIST's FRTE 1:1 (interface "
        f"{pool.interface}), which finds and compares faces by itself; the first of a pair is the "
        "enrolment, and of a search the gallery."
    )
    if not_made:
        yield f"Templates that were not made: {not_made.total()} ({_listed(not_made)})."
    if failed:
        yield (
            f"{failed.total()} of {count} comparisons failed in the library ({_listed(failed)}): "
            "the interface gives them the score -1."
        )


def _listed(counts: Counter) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def scores_again(result, library, dataset, count: int, draw, threads: int):
    """So many comparisons of a loaded run once more, by ``draw(population, number)``, which may
    also draw places that are not compared: how many there were, and a text for each whose score is
    another. ``library``: the one that made them."""
    trials = result._raw.trials
    names = unit_names(trials)
    decoding = result.content["matcher"]["decode"]
    photographs = Photographs(dataset, trials.names, decoding)
    wrong, done = [], 0
    with Pool(library, threads or 1) as pool:
        for number, place, then in _drawn(result, 20 * count, draw):
            if done == count:
                break
            units = trials.units_of_scores(number, place, place + 1)
            sides = units[0].tolist()
            failed = {name for name, _ in result._raw.tracks[number].failed}
            if min(sides) < 0 or not failed.isdisjoint(names[unit] for unit in sides):
                continue
            roles = _roles(trials.tracks[number])
            keys = sorted(zip(roles, sides, strict=True))
            templates = Templates(keys, _samples_of(trials), photographs)
            templates.make(pool, lambda n: None)
            codes, scores = _compared(pool.first, units, roles, templates, names)
            now = _FAILED if codes[0] else float(scores[0])
            done += 1
            if abs(now - then) > 1e-6 * max(1.0, abs(then)):
                pair = " with ".join(names[unit] for unit in sides)
                wrong.append(f"{pair} ({then:.6g}, now {now:.6g})")
    return done, wrong


def _drawn(result, count: int, draw):
    """(track, place, score) of some of the scores that a run keeps one by one."""
    kept = [(k, np.asarray(track.scores).ravel()) for k, track in enumerate(result.tracks.values())
            if isinstance(getattr(track, "scores", None), np.ndarray)]  # fmt: skip
    total = sum(len(scores) for _, scores in kept)
    for place in draw(range(total), min(count, total)):
        for number, scores in kept:
            if place < len(scores):
                yield number, place, float(scores[place])
                break
            place -= len(scores)
