# A small image with the daemon and the command-line tool. It has no compiler, and of Swift only the libraries that the
# two programs need. It does not run as root.
#
#   docker build --tag latchkey .
#   docker run --read-only --stop-timeout 40 --network host --env LATCHKEY_LISTEN=0.0.0.0:8443 \
#       --volume /etc/latchkey:/etc/latchkey:ro --volume latchkey:/var/lib/latchkey latchkey
#
# `latchkey init --production --group 65532 /etc/latchkey` makes the configuration. The volume keeps the database, and
# with it the node's id: a container that takes the place of another goes on as the same node.
#
# On addresses that other machines can reach, the daemon refuses plain HTTP, unless the listener has `allowPlaintext`.
# So give the listener a certificate (`tls`), or let a proxy end TLS. The proxy must share the daemon's network
# (`--network host`, or one pod) or a unix socket.
#
# Other images in place of these, such as those of an inner registry; and an image that has in /programs what
# Scripts/bundle-programs makes, in place of the stage that compiles the programs. Scripts/test-image builds and runs
# all of this.
#
# The buildah and podman of Debian 12 look for the default of PROGRAMS in a registry. Give them
# `--build-arg PROGRAMS=build`.
ARG BUILD_IMAGE=swift:6.3-bookworm
ARG BASE_IMAGE=debian:12-slim
ARG PROGRAMS=build

FROM ${BUILD_IMAGE} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends binutils libcurl4-openssl-dev libnghttp2-dev libpq-dev \
        libsqlite3-dev libssl-dev libxml2-dev patchelf pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# SwiftPM needs the folder of every target in Package.swift, also those of the tests.
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY Scripts/bundle-programs Scripts/
RUN swift build -c release --product latchkeyd \
    && swift build -c release --product latchkey \
    && Scripts/bundle-programs --bin .build/release /programs

FROM ${PROGRAMS} AS programs

FROM ${BASE_IMAGE}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libcurl4 libnghttp2-14 libpq5 libsqlite3-0 \
        libssl3 libstdc++6 libxml2 \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner 65532 --group 65532 --mode 0700 /var/lib/latchkey
COPY --from=programs /programs/ /
# The user is a number, so that an orchestrator can see that it is not root. Secrets are files of this user with mode
# 0400 or 0600, or of its group with mode 0640. The daemon refuses wider permissions.
USER 65532:65532
# The daemon writes only here, and to standard output and error.
VOLUME /var/lib/latchkey
WORKDIR /var/lib/latchkey
# A crash must not start a program that reads the memory with the keys.
ENV SWIFT_BACKTRACE=enable=no
# The daemon finishes requests in flight for at most 30 seconds (`--stop-timeout 40`; of Kubernetes
# terminationGracePeriodSeconds), and is not ready for drain.delay before that.
STOPSIGNAL SIGTERM
# Whether it lives, at the admin listener. `--probe=ready` says whether it wants requests.
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 \
    CMD ["/usr/bin/latchkeyd", "--config", "/etc/latchkey/latchkey.json5", "--probe"]
ENTRYPOINT ["/usr/bin/latchkeyd"]
CMD ["--config", "/etc/latchkey/latchkey.json5"]
