# The daemon and the command-line tool in a small image: no compiler, no Swift runtime, no root.
#
#   docker build --tag latchkey .
#   docker run --read-only --network host \
#       --volume /etc/latchkey:/etc/latchkey:ro --volume latchkey:/var/lib/latchkey latchkey
#
# The configuration names the database as "sqlite:/var/lib/latchkey/latchkey.db": /etc/latchkey cannot be written.
#
# Beyond loopback the daemon refuses to serve plain HTTP, unless the listener has `allowPlaintext`. So give the listener
# a certificate (`tls`), or let a proxy end TLS that shares its network (`--network host`, or one pod) or a unix socket.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl4-openssl-dev libnghttp2-dev libpq-dev libsqlite3-dev \
        libssl-dev libxml2-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# SwiftPM wants the folder of every target that Package.swift names, those of the tests included.
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product latchkeyd \
    && swift build -c release --static-swift-stdlib --product latchkey \
    && install -D --target-directory /programs .build/release/latchkeyd .build/release/latchkey

FROM debian:12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libcurl4 libnghttp2-14 libpq5 libsqlite3-0 \
        libssl3 libstdc++6 libxml2 \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner 65532 --group 65532 --mode 0700 /var/lib/latchkey
COPY --from=build /programs/ /usr/bin/
# By number, so that an orchestrator can see that it is not root. Secrets are files of this user with mode 0400 or 0600,
# or of its group with mode 0640; the daemon refuses wider ones.
USER 65532:65532
# The only place that is written, beside standard output and error.
VOLUME /var/lib/latchkey
WORKDIR /var/lib/latchkey
# A crash must not start a program that reads the memory with the keys.
ENV SWIFT_BACKTRACE=enable=no
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/latchkeyd"]
CMD ["--config", "/etc/latchkey/latchkey.json5"]
