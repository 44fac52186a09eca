"""The text of a small protocol of one's own, for tests, hostile cases and seeds."""


def small_protocol(reader='name = "lfw_pairs"', metrics='[[metrics]]\nname = "auc"\n'):
    """TOML with the lines ``reader`` of its section, and ``metrics``, whole sections."""
    return f"""id = "mine"
version = 1
title = "Mine"
[data]
images = ["."]
lists = ["."]
match = "exact"
[reader]
{reader}
[evaluation]
convention = "exact"
interval = "none"
failed_enrolments = "lowest_score"
{metrics}"""
