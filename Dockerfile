# One image for every service: node services/<name>/main.ts
ARG BASE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${BASE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No production package needs an install script: sharp and its libvips come as built packages. Node and PostgreSQL are not taken
# from packages here (peer dependencies): the base image and the cluster have them.
RUN npm ci --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund \
 && npm cache clean --force

FROM ${BASE_IMAGE}
# How ffmpeg comes in, which the media service cuts recordings with: `apt` from the distribution of a Debian base, `none` when
# the base has it (or FFMPEG_PATH names one that is mounted).
ARG FFMPEG=apt
RUN case "$FFMPEG" in \
      apt) apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/* ;; \
      none) ;; \
      *) echo "FFMPEG is \"$FFMPEG\"; it must be apt or none" >&2; exit 1 ;; \
    esac
# Webhooks wait in the spool while the broker is away, recordings are cut in the scratch folder: any uid may write there. Mount
# volumes over them; the rest of the file system may be read-only, with a writable /tmp.
RUN mkdir -p /var/spool/coherence /scratch && chmod 1777 /var/spool/coherence /scratch
# What a service listens on is reached from outside its container alone; a service by itself is reached by its machine alone. Large pieces
# of memory go back to the system at once, as in libs/product/servers/process-environment.ts.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache \
    MALLOC_MMAP_THRESHOLD_=262144 \
    HOST=:: \
    METRICS_HOST=:: \
    WEBHOOK_SPOOL_DIR=/var/spool/coherence \
    MEDIA_SCRATCH_DIR=/scratch
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY libs ./libs
COPY services ./services
COPY cli ./cli
COPY clients ./clients
COPY tools/audit.ts tools/migrate.ts tools/streams.ts ./tools/
ARG BASE_IMAGE
# Of the release; the commit and the time of the build are known outside alone.
ARG VERSION=0.2.0
ARG REVISION=
ARG CREATED=
ENV COHERENCE_COMMIT=${REVISION}
LABEL org.opencontainers.image.title="coherence" \
      org.opencontainers.image.description="Facilitated conversations and the network of people around them" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="https://github.com/coherence/coherence" \
      org.opencontainers.image.documentation="https://github.com/coherence/coherence/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${BASE_IMAGE}"
USER 1000:1000
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
CMD ["node", "services/api-gateway/main.ts"]
