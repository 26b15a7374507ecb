# The service. Build: docker build -t textodds .
# Run: docker run -p 8790:8790 -v mail:/data -e TEXTODDS_READ_TOKEN=… -e TEXTODDS_WRITE_TOKEN=… textodds
# /data holds the model, mail.textodds, and beside it the journal of corrections: keep it on a volume.
FROM rust:1-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /build && /build/bin/pip install --no-cache-dir 'maturin>=1.9,<2'
COPY . /source
WORKDIR /source
RUN /build/bin/maturin build --release --compatibility linux --out /wheels

FROM python:3.13-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[serve]" \
    && rm -r /wheels \
    && useradd --system --uid 1000 textodds \
    && install --directory --owner textodds /data
USER 1000
WORKDIR /data
VOLUME /data
EXPOSE 8790
HEALTHCHECK --start-period=10s --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8790/healthz', timeout=4)"]
ENTRYPOINT ["textodds", "serve"]
CMD ["mail.textodds", "--host", "0.0.0.0"]
