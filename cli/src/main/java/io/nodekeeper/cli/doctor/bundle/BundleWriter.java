package io.nodekeeper.cli.doctor.bundle;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.cli.doctor.node.ApiServerReads;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Writes the evidence for a ticket about this machine. */
public final class BundleWriter {
    /** One reads; a file system that hangs keeps its thread. */
    private static final int THREADS = 4;

    private final Path file;
    private final int port;
    private final Loop loop;

    /** A writer of {@code file}, which must not exist; {@code port} is that of the health check of kubelet or agent. */
    public BundleWriter(Path file, int port, Loop loop) {
        this.file = file;
        this.port = port;
        this.loop = loop;
    }

    /**
     * Collects and writes the evidence; blocks for a minute at most.
     *
     * @param text doctor's report for people
     * @param json doctor's report for programs
     * @return what was written, for people
     * @throws IOException if the file exists or cannot be written
     */
    public String write(String text, String json, Findings findings, Optional<ApiServerReads> reads)
            throws IOException {
        try (Workers workers = new Workers("doctor-bundle", THREADS, loop)) {
            Bundle bundle = new Bundle(workers, loop.clock(), Bundle.Limits.USUAL);
            bundle.collect(new NodeEvidence(Path.of("/")).of(text, json, findings, reads, port));
            byte[] archive = bundle.archive();
            Bundle.write(file, archive);
            return "wrote " + bundle.size() + " files (" + (archive.length + 1_023) / 1_024 + " KiB) to " + file + "; "
                    + bundle.leftOut() + " are left out, see " + Bundle.MANIFEST
                    + "; look through it before you share it";
        }
    }
}
