"""Outputs of foreign networks that are not embeddings."""

from facebench.core._arguments import brief, cut


def one_number(file, output, outputs, shown) -> str:
    """Why an output that nobody named is not taken as the embedding. ``shown``: how a list of
    others is named."""
    others = [name for name in outputs if name != output]
    choice = (
        f"others: {cut(shown(others))}. Name the embedding: output= (--set output=NAME)"
        if others
        else "that is not an embedding, and there is no other output. To take it all the same, "
        f"name it: output= (--set output={brief(output)})"
    )
    return f"{file}: its output '{brief(output)}' has one number for each image; {choice}"
