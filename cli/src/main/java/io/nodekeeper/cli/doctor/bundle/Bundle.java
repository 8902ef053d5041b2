package io.nodekeeper.cli.doctor.bundle;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;

/**
 * Collects evidence into an archive: each file redacted, bounded in bytes and time, and a manifest that says what was left out and
 * why. Used once, by one thread, which it blocks.
 */
final class Bundle {
    /**
     * The most bytes, before they are compressed.
     *
     * @param file of one file
     * @param all of all files together
     * @param room with less room than this, no further file is added: what would be kept of it is of no use
     */
    record Limits(int file, int all, int room) {
        /** Metrics of a large node have 500 KB; the other files are small. */
        static final Limits USUAL = new Limits(Evidence.LIMIT, 8 << 20, 32 << 10);
    }

    /** The longest time to redact one file, which takes 1 s on a slow machine. */
    private static final Duration REDACTION = Duration.ofSeconds(20);
    /** The longest time for all files together. */
    static final Duration DEADLINE = Duration.ofSeconds(40);
    /** The file that lists the others. */
    static final String MANIFEST = "MANIFEST.json";

    private final Workers workers;
    private final Clock clock;
    private final Limits limits;
    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private final List<JsonValue> kept = new ArrayList<>();
    private final List<JsonValue> leftOut = new ArrayList<>();
    private long bytes;

    Bundle(Workers workers, Clock clock, Limits limits) {
        this.limits = limits;
        this.workers = workers;
        this.clock = clock;
    }

    /** Collects all evidence, in this order; what comes later is left out first. */
    void collect(List<Evidence> all) {
        long begin = clock.nanoTime();
        for (Evidence evidence : all) {
            if (clock.nanoTime() - begin > DEADLINE.toNanos()) {
                leaveOut(evidence.name(), "the bundle took longer than " + DEADLINE.toSeconds() + " s");
            } else if (bytes > limits.all - limits.room) {
                leaveOut(evidence.name(), "the bundle has " + limits.all + " bytes, which is the limit");
            } else {
                collect(evidence);
            }
        }
    }

    private void collect(Evidence evidence) {
        Part part;
        try {
            String text = workers.call(evidence.name(), Evidence.DEADLINE, evidence.read()::call)
                    .join();
            part = workers.call("the redaction of " + evidence.name(), REDACTION, () -> Part.of(text, limits.file))
                    .join();
        } catch (CompletionException e) {
            leaveOut(evidence.name(), Failures.text(e));
            return;
        }
        boolean cut = part.cut();
        String redacted = part.redacted();
        byte[] content = redacted.getBytes(StandardCharsets.UTF_8);
        int room = (int) Math.min(limits.file, limits.all - bytes);
        if (content.length > room) {
            // At the end of a line, so that no character is cut in two.
            int end = room;
            while (end > 0 && content[end - 1] != '\n') {
                end--;
            }
            content = Arrays.copyOf(content, end);
            cut = true;
        }
        files.put(evidence.name(), content);
        bytes += content.length;
        JsonObject.Builder entry = JsonObject.builder()
                .put("file", evidence.name())
                .put("bytes", content.length)
                .put("redacted", occurrences(redacted));
        kept.add(cut ? entry.put("cutOff", "only its beginning is here").build() : entry.build());
    }

    /** A text without secrets; {@code cut} is whether the original was longer than what is read. */
    private record Part(String redacted, boolean cut) {
        static Part of(String text, int limit) {
            int read = limit + Evidence.MARGIN;
            boolean cut = text.length() > read;
            return new Part(Redaction.of(cut ? text.substring(0, read) : text), cut);
        }
    }

    private void leaveOut(String name, String why) {
        leftOut.add(JsonObject.builder()
                .put("file", name)
                .put("why", Redaction.of(why))
                .build());
    }

    private static long occurrences(String text) {
        long count = 0;
        for (int at = text.indexOf(Redaction.MARK); at >= 0; at = text.indexOf(Redaction.MARK, at + 1)) {
            count++;
        }
        return count;
    }

    /** The number of files, besides the manifest. */
    int size() {
        return files.size();
    }

    /** The number of files that are left out. */
    int leftOut() {
        return leftOut.size();
    }

    /** The archive. */
    byte[] archive() throws IOException {
        JsonObject manifest = JsonObject.builder()
                .put("made", KubeTime.format(clock.wallTime()))
                .put("by", "nodekeeper doctor --bundle")
                .put(
                        "redaction",
                        "secrets are replaced by " + Redaction.MARK
                                + "; please look through the files before you share them")
                .put("files", new JsonArray(kept))
                .put("leftOut", new JsonArray(leftOut))
                .build();
        Map<String, byte[]> all = new LinkedHashMap<>();
        all.put(MANIFEST, (Json.writePretty(manifest) + "\n").getBytes(StandardCharsets.UTF_8));
        all.putAll(files);
        return TarGz.of(all, clock.wallTime());
    }

    /** Writes {@code archive} as a new file for its owner alone. */
    static void write(Path file, byte[] archive) throws IOException {
        try (WritableByteChannel channel = Files.newByteChannel(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OwnerOnly.FILE)) {
            ByteBuffer buffer = ByteBuffer.wrap(archive);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } catch (FileAlreadyExistsException e) {
            throw new IOException(file + " exists; it is not overwritten", e);
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }
}
