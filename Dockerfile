# The arena for hosts of a competition. What a container has to be allowed for the sandboxes, and how to run it, is in
# docs/hosting.md ("In a container"). To build it: docker build -t stratego-arena .

FROM debian:trixie-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY docs/arena.1 docs/arena.1
COPY arena arena
COPY protocol protocol
COPY bots bots
RUN python3 -m venv /opt/arena \
    && /opt/arena/bin/python -m pip install --no-cache-dir '.[host]'

FROM debian:trixie-slim
# bubblewrap: the sandboxes; less: games that are longer than the terminal
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap less python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 arena \
    && install --directory --owner=arena /league
COPY --from=build /opt/arena /opt/arena
# First the environment of the arena, in which bots in Python find the kit.
ENV PATH=/opt/arena/bin:/usr/local/bin:/usr/bin:/bin
USER arena
WORKDIR /league
ENTRYPOINT ["arena"]
CMD ["--help"]
