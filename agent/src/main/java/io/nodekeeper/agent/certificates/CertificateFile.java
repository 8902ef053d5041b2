package io.nodekeeper.agent.certificates;

import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;

/**
 * Where a certificate is kept, as a kubelet keeps it: {@code kubelet-server-TIME.pem} holds certificate and key, and
 * {@code kubelet-server-current.pem} is a link to the current one; {@code client} instead of {@code server} for that of
 * a client. All calls block on the disk.
 */
final class CertificateFile {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd-HH-mm-ss").withZone(ZoneOffset.UTC);

    private final Path directory;
    private final String name;
    private final Path link;

    /** In {@code directory}, which is made when it is needed. */
    CertificateFile(Path directory, Purpose purpose) {
        this.directory = directory;
        name = "kubelet-" + purpose.file() + "-";
        link = directory.resolve(name + "current.pem");
    }

    /** The name under which the current one is found. */
    Path link() {
        return link;
    }

    /** The current one; empty if there is none. IOException and IllegalArgumentException if it cannot be used. */
    Optional<Identity> load() throws IOException {
        if (!Files.exists(link)) {
            return Optional.empty();
        }
        String pem = SmallFiles.text(link);
        return Optional.of(new Identity(Pem.privateKey(pem), Pem.certificates(pem)));
    }

    /** Makes {@code identity} the current one and removes the one before. */
    void store(Identity identity, Instant now) throws IOException {
        // A user may have named a directory that others need.
        OwnerOnly.directory(directory, List.of());
        Path file = directory.resolve(name + TIME.format(now) + ".pem");
        Optional<Path> before = Files.isSymbolicLink(link)
                ? Optional.of(directory.resolve(Files.readSymbolicLink(link)))
                : Optional.empty();
        StringBuilder pem = new StringBuilder();
        identity.chain().forEach(certificate -> pem.append(Pem.encode(certificate)));
        pem.append(Pem.encode(identity.key(), identity.certificate().getPublicKey()));
        Files.deleteIfExists(file);
        Files.createFile(file, OwnerOnly.FILE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = StandardCharsets.US_ASCII.encode(CharBuffer.wrap(pem));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            // Before the former file is removed: after a power failure one of both must be there.
            channel.force(true);
        }
        Path next = directory.resolve(name + "updated.pem");
        Files.deleteIfExists(next);
        Files.createSymbolicLink(next, file.getFileName());
        Files.move(next, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        if (before.isPresent() && !before.get().equals(file)) {
            Files.deleteIfExists(before.get());
        }
    }

    @Override
    public String toString() {
        return link.toString();
    }
}
