# The command as one static program in an image that has nothing else.
#
#     docker build --build-arg COMMIT=$(git rev-parse HEAD) --tag bbrlab .
#     docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" bbrlab run examples.dumbbell
#
# Results are written to /work, as the user that `--user` names. Without it, the user 65532 must be able to write there.

FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /source
COPY . .
# Every record names the commit, and the context is no clone.
ARG COMMIT=unknown
# Flags hold for the target only, because the build names it: procedural macros cannot be static.
ENV BBRLAB_COMMIT=$COMMIT \
    CARGO_PROFILE_RELEASE_STRIP=symbols \
    RUSTFLAGS="-C target-feature=+crt-static"
RUN target=$(rustc -vV | sed -n 's/^host: //p') \
    && cargo build --locked --release --target "$target" --package bbrlab-cli --bin bbrlab \
    && mkdir -p /image/work /image/licences \
    && cp "target/$target/release/bbrlab" /image/ \
    && cp LICENSE-APACHE LICENSE-MIT /image/licences/

FROM scratch
LABEL org.opencontainers.image.title="bbrlab" \
      org.opencontainers.image.description="A deterministic simulator of TCP congestion control that follows Linux" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /image/bbrlab /bbrlab
COPY --from=build /image/licences /licences
COPY --from=build --chown=65532:65532 /image/work /work
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/bbrlab"]
CMD ["--help"]
