# A small image with the daemon and the command-line tool. It has no compiler and no Swift runtime, and does not run as
# root.
#
#   docker build --tag latchkey .
#   docker run --read-only --network host \
#       --volume /etc/latchkey:/etc/latchkey:ro --volume latchkey:/var/lib/latchkey latchkey
#
# The configuration must name the database as "sqlite:/var/lib/latchkey/latchkey.db", because /etc/latchkey is
# read-only.
#
# On addresses that other machines can reach, the daemon refuses plain HTTP, unless the listener has `allowPlaintext`.
# So give the listener a certificate (`tls`), or let a proxy end TLS. The proxy must share the daemon's network
# (`--network host`, or one pod) or a unix socket.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl4-openssl-dev libnghttp2-dev libpq-dev libsqlite3-dev \
        libssl-dev libxml2-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# SwiftPM needs the folder of every target in Package.swift, also those of the tests.
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
# The user is a number, so that an orchestrator can see that it is not root. Secrets are files of this user with mode
# 0400 or 0600, or of its group with mode 0640. The daemon refuses wider permissions.
USER 65532:65532
# The daemon writes only here, and to standard output and error.
VOLUME /var/lib/latchkey
WORKDIR /var/lib/latchkey
# A crash must not start a program that reads the memory with the keys.
ENV SWIFT_BACKTRACE=enable=no
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/latchkeyd"]
CMD ["--config", "/etc/latchkey/latchkey.json5"]
