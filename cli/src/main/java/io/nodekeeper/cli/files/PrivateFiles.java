package io.nodekeeper.cli.files;

import io.nodekeeper.client.files.OwnerOnly;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/** Writes files atomically, with their final permissions from the first byte on. Replaces only regular files. */
public final class PrivateFiles {
    private PrivateFiles() {}

    /** Writes the content of a file in parts. */
    public interface Text {
        void writeTo(Writer out) throws IOException;
    }

    /** A file for the owner alone (0600). */
    public static void writeSecret(Path file, String text) throws IOException {
        writeSecret(file, out -> out.write(text));
    }

    /** As {@link #writeSecret(Path, String)}, for a text that may be long. */
    public static void writeSecret(Path file, Text text) throws IOException {
        write(file, text, "rw-------");
    }

    /** A file that all users may read (0644). */
    public static void writePublic(Path file, String text) throws IOException {
        write(file, out -> out.write(text), "rw-r--r--");
    }

    private static void write(Path file, Text text, String permissions) throws IOException {
        Optional<String> fault = OwnerOnly.outputFault(file);
        if (fault.isPresent()) {
            throw new IOException(fault.get());
        }
        Path parent = file.toAbsolutePath().getParent();
        Path temporary = Files.createTempFile(
                parent,
                ".",
                ".tmp",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE);
                    Writer out = new BufferedWriter(Channels.newWriter(channel, StandardCharsets.UTF_8))) {
                text.writeTo(out);
                out.flush();
                // Before the former file is replaced: after a power failure one of both must be there.
                channel.force(true);
            }
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString(permissions));
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }
}
