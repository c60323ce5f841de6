# Copyback in a container: built from this folder, tried on the main example, ready to run.
#
#     docker build -t copyback .
#     docker run --rm -v "$PWD:/work" copyback run my.toml --out out/mine
#
# tests/test_packaging.py carries out the steps below without Docker.

FROM rust:1.88-bookworm AS rust

FROM python:3.12-bookworm AS build
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH
WORKDIR /src
COPY . .
RUN pip wheel --no-deps --wheel-dir wheels .

FROM python:3.12-slim-bookworm
WORKDIR /work
COPY --from=build /src/wheels wheels
RUN pip install --no-cache-dir wheels/*.whl && rm -r wheels
COPY examples examples
RUN copyback run examples/mysql.toml --no-cache --quiet
ENTRYPOINT ["copyback"]
CMD ["--help"]
