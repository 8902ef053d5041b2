package io.nodekeeper.cli.store;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Journal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes and reads all objects of a store as a text file. The first line is {@code nodekeeper-snapshot 1 revision N};
 * then there is a line of JSON for each object: {@code key}, {@code created} and {@code modified} (revisions), and its
 * bytes as {@code value} if they are text or else as {@code base64}; the last line is {@code sha256 HEX}, of all bytes
 * before it.
 */
public final class SnapshotFile {
    private static final Pattern HEAD = Pattern.compile("nodekeeper-snapshot ([0-9]{1,9}) revision ([0-9]{1,18})");
    private static final String VERSION = "1";
    private static final String SUM = "sha256 ";

    private SnapshotFile() {}

    /**
     * The content of a snapshot.
     *
     * @param revision the store's revision when it was taken
     * @param objects the number of objects at that revision
     */
    record Content(long revision, int objects) {}

    /** Writes {@code kept} to {@code file}, which appears only when it is complete; only its owner may read it. */
    public static void write(Path file, Journal.Recovered kept) throws IOException {
        MessageDigest sum = sha256();
        PrivateFiles.writeSecret(file, out -> {
            line(out, sum, "nodekeeper-snapshot " + VERSION + " revision " + kept.revision());
            for (Entry entry : kept.entries()) {
                line(out, sum, Json.write(json(entry)));
            }
            out.write(SUM + HexFormat.of().formatHex(sum.digest()) + "\n");
        });
    }

    /**
     * Reads {@code file} and passes each object to {@code taker}, also those before a damage.
     *
     * @throws IOException if it cannot be read, is damaged, incomplete or of an unknown version
     */
    static Content read(Path file, Consumer<Entry> taker) throws IOException {
        MessageDigest sum = sha256();
        int objects = 0;
        try (BufferedReader in = Files.newBufferedReader(file)) {
            String first = Optional.ofNullable(in.readLine()).orElse("");
            Matcher head = HEAD.matcher(first);
            if (!head.matches()) {
                throw new IOException(file + " is not a snapshot: it does not begin with \"nodekeeper-snapshot\"");
            }
            if (!head.group(1).equals(VERSION)) {
                throw new IOException(
                        file + " is a snapshot of version " + head.group(1) + "; expected version " + VERSION);
            }
            digest(sum, first);
            String line = next(in, file);
            while (!line.startsWith(SUM)) {
                digest(sum, line);
                taker.accept(entry(line, file, objects + 2));
                objects++;
                line = next(in, file);
            }
            String actual = HexFormat.of().formatHex(sum.digest());
            if (!line.equals(SUM + actual)) {
                throw new IOException(file + " is damaged: its content has the SHA-256 " + actual
                        + ", but its last line is \"" + line + "\"");
            }
            if (in.readLine() != null) {
                throw new IOException(file + " is damaged: there is text after its last line");
            }
            return new Content(Long.parseLong(head.group(2)), objects);
        } catch (CharacterCodingException e) {
            throw new IOException(file + " is damaged: it is not text", e);
        }
    }

    private static String next(BufferedReader in, Path file) throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new IOException(file + " is damaged: it ends before its last line, \"" + SUM + "...\"");
        }
        return line;
    }

    private static void line(Writer out, MessageDigest sum, String line) throws IOException {
        digest(sum, line);
        out.write(line);
        out.write('\n');
    }

    private static void digest(MessageDigest sum, String line) {
        sum.update(line.getBytes(StandardCharsets.UTF_8));
        sum.update((byte) '\n');
    }

    private static JsonObject json(Entry entry) {
        JsonObject.Builder json = JsonObject.builder()
                .put("key", entry.key())
                .put("created", entry.createRevision())
                .put("modified", entry.modRevision());
        byte[] value = entry.value();
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(value))
                    .toString();
            json.put("value", text);
        } catch (CharacterCodingException e) {
            // Other API servers may have stored protobuf in etcd.
            json.put("base64", Base64.getEncoder().encodeToString(value));
        }
        return json.build();
    }

    private static Entry entry(String line, Path file, int number) throws IOException {
        try {
            JsonObject json = Json.parseObject(line.getBytes(StandardCharsets.UTF_8));
            byte[] value = json.has("base64")
                    ? Base64.getDecoder().decode(json.text("base64"))
                    : json.text("value").getBytes(StandardCharsets.UTF_8);
            return new Entry(
                    json.text("key"),
                    value,
                    json.number("created").orElseThrow(),
                    json.number("modified").orElseThrow());
        } catch (JsonException | IllegalArgumentException | NoSuchElementException e) {
            throw new IOException(file + " is damaged at line " + number + ": " + e.getMessage(), e);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new UncheckedIOException(new IOException("this Java has no SHA-256", e));
        }
    }
}
