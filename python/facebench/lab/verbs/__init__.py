"""The verbs of the laboratory; the table of `facebench.cli.verbs` names them."""
