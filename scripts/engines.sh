#!/usr/bin/env bash
# Makes .venv-engines with the frameworks that bench-paper compares with and that need no place in
# .venv: Keras 3, TensorFlow, JAX. Nothing outside it is touched.
source "$(dirname "$0")/common.sh"
wanted=$(printf '%s\n' "$("$venv/bin/python" --version)" "keras>=3.3" jax tensorflow-cpu safetensors)
engines=$root/.venv-engines
stamp=$engines/facebench-environment
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  say "environment .venv-engines: up to date"
  exit 0
fi
rm -rf "$engines"
advice="Is the network there, and 3 GB on the disk? Then run the same command again."
step "Environment .venv-engines" "$venv/bin/python" -m venv "$engines"
step "Installing Keras, JAX, TensorFlow" "$engines/bin/python" -m pip install \
  --disable-pip-version-check --no-input "keras>=3.3" jax tensorflow-cpu safetensors
printf '%s\n' "$wanted" >"$stamp"
