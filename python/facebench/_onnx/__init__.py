"""ONNX files, of networks and of detectors: as plain values (`file`), what they may ask (`bounds`),
tried in a process of their own (`trial`), and run (`sessions`). Imports no torch."""
