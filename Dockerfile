# syntax=docker/dockerfile:1
# Two images: protocols, metrics and reports (light), or all of it (full, the default).
#   docker build --target light --tag facebench-eval .
#   docker build --tag facebench .
#   docker run --rm -v "$PWD:/work" facebench run lfw --model m.safetensors --root lfw --out run
FROM debian:12-slim AS sources
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /facebench
COPY scripts scripts
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && scripts/system_packages.sh \
 && rm -rf /var/lib/apt/lists/*
COPY . .

FROM sources AS build-light
RUN python3 -m venv /opt/facebench \
 && /opt/facebench/bin/python -m pip install --no-cache-dir scikit-build-core==1.1.2 pybind11==3.0.1 \
 && FACEBENCH_LIGHT=1 PATH=/opt/facebench/bin:$PATH \
    /opt/facebench/bin/python -m pip install --no-cache-dir --no-build-isolation .

FROM sources AS build-full
RUN python3 -m venv /opt/facebench \
 && /opt/facebench/bin/python -m pip install --no-cache-dir --no-deps --require-hashes \
    --requirement requirements.lock \
 && PATH=/opt/facebench/bin:$PATH \
    /opt/facebench/bin/python -m pip install --no-cache-dir --no-build-isolation .

# What runs: the environment, and the libraries that it links.
FROM debian:12-slim AS run
ENV DEBIAN_FRONTEND=noninteractive PATH=/opt/facebench/bin:$PATH
RUN useradd --create-home --uid 1000 facebench
WORKDIR /work
RUN chown facebench:facebench /work

FROM run AS light
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 libhdf5-103-1 libfmt9 libtomlplusplus3 zlib1g liblzma5 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build-light /opt/facebench /opt/facebench
USER facebench
ENTRYPOINT ["facebench"]
CMD ["--help"]

FROM run AS full
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 libhdf5-103-1 libfmt9 libtomlplusplus3 zlib1g liblzma5 \
    libopencv-imgproc406 libdlib19.1 libjpeg62-turbo libpng16-16 libwebp7 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build-full /opt/facebench /opt/facebench
USER facebench
ENTRYPOINT ["facebench"]
CMD ["--help"]
