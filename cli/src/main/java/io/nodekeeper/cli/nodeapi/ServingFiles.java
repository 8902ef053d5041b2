package io.nodekeeper.cli.nodeapi;

import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The certificate that an agent makes for its API if none is given, as a kubelet does: {@code ROOT/pki/kubelet.crt}. */
final class ServingFiles {
    private static final Logger log = LoggerFactory.getLogger(ServingFiles.class);
    /** A certificate with less time left is replaced at the start; it is valid for a year. */
    private static final Duration RENEW_BEFORE = Duration.ofDays(30);

    private ServingFiles() {}

    /**
     * The files below {@code root}, with a new certificate unless there is one that is valid for another month.
     *
     * @throws IOException if they cannot be written
     */
    static IdentityFiles ensure(
            Path root, String node, List<InetAddress> addresses, Instant now, RandomGenerator random)
            throws IOException {
        Path directory = OwnerOnly.directory(root.resolve("pki"));
        IdentityFiles files = new IdentityFiles(directory.resolve("kubelet.crt"), directory.resolve("kubelet.key"));
        if (!isGood(files, now)) {
            Set<String> names = new LinkedHashSet<>(List.of(node, "localhost", "127.0.0.1"));
            addresses.forEach(address -> names.add(address.getHostAddress()));
            Identity identity = Issuer.selfMade(node, names, now, random);
            PrivateFiles.writeSecret(files.key(), Pem.encode(identity.key()));
            PrivateFiles.writePublic(files.certificate(), Pem.encode(identity.certificate()));
            log.info("Created the certificate {} of the node's API", files.certificate());
        }
        return files;
    }

    private static boolean isGood(IdentityFiles files, Instant now) {
        if (!Files.exists(files.certificate()) || !Files.exists(files.key())) {
            return false;
        }
        try {
            Instant end = files.read().certificate().getNotAfter().toInstant();
            return end.isAfter(now.plus(RENEW_BEFORE));
        } catch (IOException | IllegalArgumentException e) {
            log.warn("The certificate {} cannot be used and is replaced: {}", files.certificate(), e.getMessage());
            return false;
        }
    }
}
