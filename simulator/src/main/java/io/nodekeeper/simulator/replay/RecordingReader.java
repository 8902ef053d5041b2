package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads a recording, line by line, so that its size has no limit; a line has one. The file of a recorder that was killed
 * ends anywhere: what is complete counts. Not thread-safe.
 */
final class RecordingReader implements AutoCloseable {
    /** The longest line, bytes: twice that of any {@link RecordedNode}; earlier versions kept messages, too. */
    private static final int LONGEST = 1 << 20;
    /** The longest recording. */
    private static final Duration MOST = Duration.ofDays(400);

    private final Path path;
    private final InputStream in;
    private final Instant begin;
    private Duration last = Duration.ZERO;
    private long line;
    private boolean cut;

    /** Opens a recording and reads its head. */
    RecordingReader(Path path) throws IOException {
        this.path = path;
        InputStream file = Files.newInputStream(path);
        try {
            in = new BufferedInputStream(new GZIPInputStream(file, 1 << 16), 1 << 16);
            begin = head();
        } catch (ZipException | EOFException e) {
            file.close();
            throw new RecordingException(
                    path + " is not a recording; expected a file that \"nodekeeper replay record\"" + " wrote (gzip)");
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    private Instant head() throws IOException {
        JsonObject head = object().orElse(JsonObject.EMPTY);
        if (!head.text("kind").equals(Recording.KIND)) {
            throw fault("is not the head of a recording; expected \"kind\":\"" + Recording.KIND + "\"");
        }
        long version = head.number("version").orElse(0L);
        if (version != Recording.VERSION) {
            throw fault("has version " + version + "; expected " + Recording.VERSION);
        }
        return KubeTime.parse(head.text("begin"))
                .orElseThrow(() -> fault("has begin \"" + head.text("begin") + "\"; expected a time (RFC 3339)"));
    }

    /** The wall time of the recorder when it began. */
    Instant begin() {
        return begin;
    }

    /** Whether the file ended within a line. */
    boolean isCut() {
        return cut;
    }

    /** The next change; empty at the end. */
    Optional<RecordedChange> next() throws IOException {
        Optional<JsonObject> object = object();
        if (object.isEmpty()) {
            return Optional.empty();
        }
        RecordedChange change = change(object.get());
        if (change.at().compareTo(last) < 0) {
            throw fault("is of an earlier time than the line before it");
        }
        last = change.at();
        return Optional.of(change);
    }

    private RecordedChange change(JsonObject json) throws RecordingException {
        Duration at = time(json, "at");
        if (json.has("lease")) {
            String name = name(json, "lease");
            String renewTime = json.text("renewTime");
            if (KubeTime.parse(renewTime).isEmpty()) {
                throw fault("has renewTime \"" + renewTime + "\"; expected a time (RFC 3339)");
            }
            return new RecordedChange.Renewed(at, name, renewTime);
        }
        if (json.has("node")) {
            JsonObject node = json.object("node");
            name(node.object("metadata"), "name");
            return new RecordedChange.NodeSeen(at, node);
        }
        if (json.has("gone")) {
            return new RecordedChange.NodeGone(at, name(json, "gone"));
        }
        if (json.has("sightLostSince")) {
            Duration since = time(json, "sightLostSince");
            if (since.compareTo(at) > 0) {
                throw fault("has a sightLostSince after its time");
            }
            return new RecordedChange.SightLost(at, since);
        }
        if (json.has("sightFound")) {
            return new RecordedChange.SightFound(at);
        }
        if (json.has("end")) {
            return new RecordedChange.End(at);
        }
        throw fault("has none of node, gone, lease, sightLostSince, sightFound and end");
    }

    private String name(JsonObject json, String field) throws RecordingException {
        String name = json.text(field);
        Optional<String> wrong = Names.subdomainFault(name);
        if (wrong.isPresent()) {
            throw fault("has " + field + " \"" + name + "\"; expected a node's name (RFC 1123)");
        }
        return name;
    }

    private Duration time(JsonObject json, String field) throws RecordingException {
        JsonValue value = json.get(field).orElse(JsonObject.EMPTY);
        // A number of many digits would be expanded.
        if (value instanceof JsonNumber number && number.literal().matches("[0-9]{1,9}(\\.[0-9]{1,9})?")) {
            Duration time = Duration.ofNanos(
                    new BigDecimal(number.literal()).movePointRight(9).longValueExact());
            if (time.compareTo(MOST) <= 0) {
                return time;
            }
        }
        throw fault("has " + field + " " + value + "; expected seconds, 0 to " + MOST.toSeconds());
    }

    /** The next complete line; empty at the end. */
    private Optional<JsonObject> object() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        line++;
        while (true) {
            int next = read();
            if (next < 0) {
                cut |= bytes.size() > 0;
                return Optional.empty();
            }
            if (next == '\n') {
                break;
            }
            bytes.write(next);
            if (bytes.size() > LONGEST) {
                throw fault("is longer than " + LONGEST + " bytes");
            }
        }
        try {
            return Optional.of(Json.parseObject(bytes.toByteArray()));
        } catch (JsonException e) {
            throw fault("is not JSON: " + e.getMessage());
        }
    }

    private int read() throws IOException {
        try {
            return in.read();
        } catch (EOFException e) {
            cut = true;
            return -1;
        } catch (ZipException e) {
            throw fault("cannot be unpacked: " + e.getMessage());
        }
    }

    private RecordingException fault(String what) {
        return new RecordingException(path + ": line " + line + " " + what);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
