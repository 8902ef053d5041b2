package io.nodekeeper.cli.certs;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.cli.files.FileErrors;
import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificates of an API server, stored in {@code DATA/pki} and reused at each start: {@code ca.crt}, {@code
 * ca.key}, {@code apiserver.crt}, {@code apiserver.key}. Renews certificates that are about to expire. A renewed
 * authority keeps its key, so that everything it signed stays valid. Not thread-safe.
 */
public final class Certificates {
    private static final Logger log = LoggerFactory.getLogger(Certificates.class);
    /**
     * A certificate with less time left is renewed. A month is enough for a planned restart, which is when the server
     * renews; certificates of a year are then renewed once a year.
     */
    static final Duration RENEW_BEFORE = Duration.ofDays(30);

    private static final String NODE_CLIENT = "apiserver-kubelet-client";

    private final Path directory;
    private final Instant now;
    private final Issuer issuer;

    private Certificates(Path directory, Instant now, Issuer issuer) {
        this.directory = directory;
        this.now = now;
        this.issuer = issuer;
    }

    /**
     * Opens {@code DATA/pki}, and creates the authority if there is none.
     *
     * @param data the data directory; created if it does not exist
     * @param now the wall time
     * @param random for serial numbers
     * @throws IOException if files cannot be read or written, or have the wrong content; the message names them
     */
    public static Certificates open(Path data, Instant now, RandomGenerator random) throws IOException {
        Path directory = OwnerOnly.directory(data.resolve("pki"));
        Optional<Identity> stored = load(directory, "ca");
        Identity authority;
        if (stored.isPresent() && !expires(stored.get(), now)) {
            authority = stored.get();
            warnOfTheFuture(authority, now);
        } else {
            KeyPair key = stored.map(old -> new KeyPair(old.certificate().getPublicKey(), old.key()))
                    .orElseGet(EcKeys::newKey);
            authority = Issuer.authority(key, now, random);
            store(directory, "ca", authority);
            log.info("{} the certificate authority in {}", stored.isPresent() ? "Renewed" : "Created", directory);
        }
        return new Certificates(directory, now, new Issuer(authority, random));
    }

    /**
     * Opens {@code DATA/pki} as it is. Writes nothing there: what another user than the server's writes, the server could not read.
     *
     * @throws IOException as {@link #open}, and if the authority has expired
     */
    public static Certificates existing(Path data, Instant now, RandomGenerator random) throws IOException {
        Path directory = data.resolve("pki");
        Identity authority = load(directory, "ca")
                .orElseThrow(() -> new IOException("there is no " + directory.resolve("ca.crt")
                        + "; expected the authority of an API server that has been started once"));
        Instant end = authority.certificate().getNotAfter().toInstant();
        if (end.isBefore(now)) {
            throw new IOException("the certificate authority " + directory.resolve("ca.crt") + " expired at " + end
                    + "; start the API server again, which renews it");
        }
        if (expires(authority, now)) {
            log.warn(
                    "{} expires at {}: a kubeconfig that is issued now works until then. Start the API server again, which renews"
                            + " it, and issue the kubeconfig again",
                    directory.resolve("ca.crt"),
                    end);
        }
        warnOfTheFuture(authority, now);
        return new Certificates(directory, now, new Issuer(authority, random));
    }

    /** The certificate of the authority that signs the server's and all clients' certificates. */
    public X509Certificate authority() {
        return issuer.certificate();
    }

    /** The server's identity, valid for at least {@code names}; the stored one as long as it is. */
    public Identity server(Collection<String> names) throws IOException {
        Optional<Identity> stored = load(directory, "apiserver");
        if (stored.isPresent() && isGood(stored.get()) && bears(stored.get().certificate(), names)) {
            return stored.get();
        }
        Identity fresh = issuer.server("kube-apiserver", names, now);
        store(directory, "apiserver", fresh);
        log.info("Created a server certificate for {}", names);
        return fresh;
    }

    /** Where the identity of {@link #server} is kept. */
    public IdentityFiles serverFiles() {
        return new IdentityFiles(directory.resolve("apiserver.crt"), directory.resolve("apiserver.key"));
    }

    /** Where the authority is kept. */
    public IdentityFiles authorityFiles() {
        return new IdentityFiles(directory.resolve("ca.crt"), directory.resolve("ca.key"));
    }

    /** Where the certificate of the authority is kept. */
    public Path authorityFile() {
        return directory.resolve("ca.crt");
    }

    /**
     * The identity with which the server is a client of nodes, as kubeadm makes it: all rights, which nodes review. The
     * stored one as long as it is good.
     */
    public Identity nodeClient() throws IOException {
        Optional<Identity> stored = load(directory, NODE_CLIENT);
        if (stored.isPresent() && isGood(stored.get())) {
            return stored.get();
        }
        Identity fresh = client("kube-apiserver-kubelet-client", List.of("system:masters"));
        store(directory, NODE_CLIENT, fresh);
        return fresh;
    }

    /** Where the identity of {@link #nodeClient} is kept. */
    public IdentityFiles nodeClientFiles() {
        return new IdentityFiles(directory.resolve(NODE_CLIENT + ".crt"), directory.resolve(NODE_CLIENT + ".key"));
    }

    /** A new identity for a client: user {@code commonName} in {@code groups}. */
    Identity client(String commonName, List<String> groups) {
        return issuer.client(commonName, groups, now);
    }

    /** Whether this authority signed {@code identity} and {@code identity} is not about to expire. */
    boolean isGood(Identity identity) {
        if (expires(identity, now)) {
            return false;
        }
        try {
            identity.certificate().verify(authority().getPublicKey());
            warnOfTheFuture(identity, now);
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static boolean expires(Identity identity, Instant now) {
        return identity.certificate().getNotAfter().toInstant().isBefore(now.plus(RENEW_BEFORE));
    }

    /**
     * Says that clients refuse a certificate that was made while the clock was ahead. It is not replaced: a machine without a
     * battery for its clock starts in the past, where a new certificate would have ended before the clock is set.
     */
    private static void warnOfTheFuture(Identity identity, Instant now) {
        Instant from = identity.certificate().getNotBefore().toInstant();
        if (from.isAfter(now)) {
            log.warn(
                    "The certificate {} is valid only from {} on, and it is {}: everybody refuses it, and what it signed, until"
                            + " then. If the clock is right now, it was ahead when the certificate was made: remove its files"
                            + " and start the server, which makes it again. If it is that of the authority (ca.crt), all"
                            + " certificates and kubeconfigs that it signed are invalid then",
                    identity,
                    from,
                    now);
        }
    }

    private static boolean bears(X509Certificate certificate, Collection<String> names) throws IOException {
        try {
            Set<String> has = new HashSet<>();
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            for (List<?> entry : alternatives == null ? List.<List<?>>of() : alternatives) {
                has.add(canonical(String.valueOf(entry.get(1))));
            }
            for (String name : names) {
                if (!has.contains(canonical(name))) {
                    return false;
                }
            }
            return true;
        } catch (CertificateParsingException e) {
            return false;
        }
    }

    /** The canonical form, as an IPv6 address can be written in many ways. */
    private static String canonical(String name) throws UnknownHostException {
        return IpLiteral.is(name) ? InetAddress.getByName(name).getHostAddress() : name;
    }

    private static Optional<Identity> load(Path directory, String name) throws IOException {
        Path certificate = directory.resolve(name + ".crt");
        Path key = directory.resolve(name + ".key");
        if (!Files.exists(certificate) && (!Files.exists(key) || isAlone(directory, name))) {
            // Without its certificate a key is what an interrupted store has left.
            return Optional.empty();
        }
        try {
            OwnerOnly.tighten(key);
            return Optional.of(new IdentityFiles(certificate, key).read());
        } catch (IOException e) {
            // The files may be right though unreadable, so the message must not say to remove them.
            throw new IOException("cannot read " + certificate + " and " + key + ": " + FileErrors.text(e), e);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    certificate + " and " + key + " must hold a certificate and its key: " + e.getMessage()
                            + (name.equals("ca")
                                    ? "; restore both from a backup. Without a backup, remove both to create a new"
                                            + " authority: every certificate and kubeconfig that the old one signed"
                                            + " becomes invalid"
                                    : "; remove both to create them again"),
                    e);
        }
    }

    /** Whether a key without a certificate may be replaced: any but the authority's, and that one only if there is nothing else yet. */
    private static boolean isAlone(Path directory, String name) throws IOException {
        if (!name.equals("ca")) {
            return true;
        }
        try (Stream<Path> files = Files.list(directory)) {
            // The other one may be ca.crt as it was written, or the lock.
            return files.allMatch(file -> file.equals(directory.resolve("ca.key"))
                    || file.getFileName().toString().startsWith("."));
        }
    }

    private static void store(Path directory, String name, Identity identity) throws IOException {
        // An interruption at any moment leaves a pair, or a key alone, which the next start replaces. Only the
        // authority keeps its key.
        if (!name.equals("ca")) {
            Files.deleteIfExists(directory.resolve(name + ".crt"));
        }
        PrivateFiles.writeSecret(directory.resolve(name + ".key"), Pem.encode(identity.key()));
        PrivateFiles.writePublic(directory.resolve(name + ".crt"), Pem.encode(identity.certificate()));
    }
}
