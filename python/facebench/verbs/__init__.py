"""Functions of the command line that join several floors; `facebench` offers them by name."""
