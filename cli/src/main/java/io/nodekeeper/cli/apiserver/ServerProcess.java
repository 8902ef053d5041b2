package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.authentication.ServiceAccountTokens;
import io.nodekeeper.apiserver.controllers.CertificateAuthority;
import io.nodekeeper.apiserver.netty.HttpsOptions;
import io.nodekeeper.apiserver.netty.HttpsServer;
import io.nodekeeper.apiserver.netty.ServerIdentity;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.cli.certs.CertificateReload;
import io.nodekeeper.cli.certs.Certificates;
import io.nodekeeper.cli.certs.KubeconfigFiles;
import io.nodekeeper.cli.metrics.ProcessFigures;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wires an API server: store, core, HTTPS, and kubeconfigs. */
public final class ServerProcess {
    private static final Logger log = LoggerFactory.getLogger(ServerProcess.class);
    /**
     * How long a stop waits for the last group of writes: far more than a healthy disk needs, and well within the 90 s
     * after which systemd kills the process.
     */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** How long the first writes of a cluster may take: some hundred, which a disk of a few writes a second ends in time. */
    private static final Duration START_TIMEOUT = Duration.ofMinutes(1);

    /**
     * The deadline for reading certificate files, which are small: only a file system that hangs takes longer. Well
     * within the minute between two reads.
     */
    private static final Duration FILES_TIMEOUT = Duration.ofSeconds(10);

    /**
     * Threads for lists, delayed requests, compression and the initial objects of watches: enough that one long list
     * does not delay the others, few enough to leave cores to the event loops.
     */
    private static final int WORKERS = 4;

    private final Path data;
    private final KubeconfigFiles kubeconfigs;
    private final URI address;
    private final ThreadLoop loop;
    private final Store store;
    private final ThreadPool workers;
    private final Duration shutdownDelay;
    private final ApiServer core;
    private final HttpsServer https;
    private final Optional<AuditLog> audit;
    private final String rootCertificates;
    private final Path authorityFile;
    private final Workers files;
    private final Optional<CertificateAuthority> signer;
    private final Optional<DataLock> lock;

    private ServerProcess(ApiServerOptions options, Optional<DataLock> lock) throws IOException {
        this.lock = lock;
        data = options.data.dir;
        RandomGenerator random = Randoms.secure();
        loop = new ThreadLoop("store");
        // Opening the store takes most of the start, so most of what does not need it is done meanwhile.
        CompletableFuture<Store> opening = OpenStore.begin(options, loop);
        Certificates certificates = Certificates.open(data, loop.clock().wallTime(), random);
        Set<String> names = names(options);
        Optional<IdentityFiles> given = options.tlsCertFile.map(
                certificate -> new IdentityFiles(certificate, options.tlsPrivateKeyFile.orElseThrow()));
        Identity identity = given.isPresent()
                ? given.get().read("--tls-cert-file", "--tls-private-key-file")
                : certificates.server(names);
        List<X509Certificate> clientAuthorities = new ArrayList<>(List.of(certificates.authority()));
        if (options.clientCaFile.isPresent()) {
            clientAuthorities.addAll(IdentityFiles.authorities("--client-ca-file", options.clientCaFile.get()));
        }
        Map<String, User> tokens = options.tokenAuthFile.isPresent()
                ? Authenticator.readTokens(
                        SmallFiles.text(options.tokenAuthFile.get()).lines().toList())
                : Map.of();
        Optional<IdentityFiles> givenToNodes = options.nodes.identity();
        Identity nodeClient = givenToNodes.isPresent()
                ? givenToNodes.get().read("--kubelet-client-certificate", "--kubelet-client-key")
                : certificates.nodeClient();
        List<X509Certificate> nodeAuthorities = options.nodes.authorities();
        authorityFile = certificates.authorityFile();
        signer = options.signing.authority(certificates.authorityFiles(), loop.clock(), random);
        audit = options.audit.open();
        ServiceAccountTokens serviceAccounts = options.serviceAccounts.tokens(data);
        workers = new ThreadPool("requests", WORKERS);
        shutdownDelay = options.shutdownDelayDuration;
        HttpsServer.Prepared prepared = HttpsServer.prepare(
                new ServerIdentity(identity.key(), identity.chain(), clientAuthorities),
                HttpsOptions.of(new InetSocketAddress(options.bindAddress, options.securePort), loop.clock(), workers)
                        .with(nodeIdentity(nodeClient, nodeAuthorities)));
        ApiServer.prepare();
        store = Futures.join(opening);
        String host = reachable(options.bindAddress);
        core = new ApiServer(
                store,
                loop,
                random,
                new Authenticator(tokens, serviceAccounts),
                host + ":" + options.securePort,
                options.defaultTolerations(),
                options.requests(),
                workers,
                audit);
        ProcessFigures.register(core.metrics().registry());
        https = HttpsServer.start(core, prepared);
        address = URI.create("https://" + host + ":" + https.port());
        kubeconfigs = new KubeconfigFiles(certificates, address);
        rootCertificates = Pem.encode(certificates.authority());
        files = new Workers("files", 1, loop);
        IdentityFiles served = given.orElseGet(certificates::serverFiles);
        new CertificateReload(
                        loop,
                        served,
                        () -> files.call("reading the server's certificate", FILES_TIMEOUT, served::read),
                        identity,
                        fresh -> https.renew(new ServerIdentity(fresh.key(), fresh.chain(), clientAuthorities)))
                .start();
        IdentityFiles shownToNodes = givenToNodes.orElseGet(certificates::nodeClientFiles);
        new CertificateReload(
                        loop,
                        shownToNodes,
                        () -> files.call("reading the certificate for nodes", FILES_TIMEOUT, shownToNodes::read),
                        nodeClient,
                        fresh -> https.renew(nodeIdentity(fresh, nodeAuthorities)))
                .start();
    }

    private static NodeIdentity nodeIdentity(Identity identity, List<X509Certificate> authorities) {
        return new NodeIdentity(identity.key(), identity.chain(), authorities);
    }

    /** Starts a server and writes its kubeconfigs; returns when it serves requests. */
    public static ServerProcess start(ApiServerOptions options) throws Exception {
        OwnerOnly.directory(options.data.dir, OpenStore.PARTS);
        // Servers with one etcd may share the files.
        Optional<DataLock> lock = options.store == ApiServerOptions.Store.etcd
                ? Optional.empty()
                : Optional.of(DataLock.take(options.data.dir));
        ServerProcess server;
        try {
            server = new ServerProcess(options, lock);
        } catch (IOException | RuntimeException e) {
            release(lock);
            throw e;
        }
        server.core.switchGates(options.gates.switches());
        Futures.join(Deadlines.within(
                server.loop,
                START_TIMEOUT,
                "writing the namespaces and roles that each cluster has",
                server.core.start(options.eventTtl, server.rootCertificates)));
        server.core.warmUp();
        server.signer.ifPresent(server.core::signCertificates);
        server.kubeconfigs.admin(server.data);
        server.kubeconfigs.controller(server.data);
        log.info("The API server listens on {}, revision {}", server.address, server.store.revision());
        return server;
    }

    /** The address for clients on this machine. */
    public URI address() {
        return address;
    }

    /** The certificate of the authority that signs this server's certificates, also the one that nodes see. */
    public Path authorityFile() {
        return authorityFile;
    }

    /** The administrator's kubeconfig. */
    public Path adminKubeconfig() throws IOException {
        return kubeconfigs.admin(data);
    }

    /** The controller's kubeconfig. */
    public Path controllerKubeconfig() throws IOException {
        return kubeconfigs.controller(data);
    }

    /** The kubeconfig of that node's agent. */
    public Path agentKubeconfig(String node) throws IOException {
        return kubeconfigs.agent(data, node);
    }

    /**
     * Stops in this order: fails readiness, refuses new requests and finishes current ones, then makes the last writes
     * durable.
     */
    public void stop() {
        core.stopping();
        ThreadLoop timer = new ThreadLoop("close");
        Deadlines.sleep(timer, shutdownDelay).join();
        https.close();
        workers.close();
        try {
            Deadlines.within(timer, CLOSE_TIMEOUT, "closing the store", store.close())
                    .join();
        } catch (RuntimeException e) {
            log.error("the store did not close: {}", e.getMessage());
        }
        try {
            audit.ifPresent(open -> Deadlines.within(timer, CLOSE_TIMEOUT, "closing the audit log", open.close())
                    .join());
        } catch (RuntimeException e) {
            log.error("the audit log did not close: {}", e.getMessage());
        } finally {
            timer.close();
            files.close();
            release(lock);
        }
    }

    private static void release(Optional<DataLock> lock) {
        try {
            if (lock.isPresent()) {
                lock.get().close();
            }
        } catch (IOException e) {
            log.warn("the lock of the data directory was not released: {}", e.getMessage());
        }
    }

    private static Set<String> names(ApiServerOptions options) throws IOException {
        Set<String> names = new LinkedHashSet<>(List.of(
                "localhost",
                "127.0.0.1",
                "kubernetes",
                "kubernetes.default",
                "kubernetes.default.svc",
                "kubernetes.default.svc.cluster.local"));
        try {
            InetAddress self = InetAddress.getLocalHost();
            names.add(self.getHostName());
            names.add(self.getHostAddress());
        } catch (UnknownHostException e) {
            log.info(
                    "This machine's host name has no address ({}); the server certificate does not include it",
                    e.getMessage());
        }
        if (!InetAddress.getByName(options.bindAddress).isAnyLocalAddress()) {
            names.add(options.bindAddress);
        }
        names.addAll(options.tlsSans);
        return names;
    }

    /** The address with which a client on this machine reaches a server that listens on {@code bindAddress}. */
    private static String reachable(String bindAddress) throws UnknownHostException {
        InetAddress address = InetAddress.getByName(bindAddress);
        if (address.isAnyLocalAddress()) {
            return "127.0.0.1";
        }
        return address.getHostAddress().contains(":") ? "[" + address.getHostAddress() + "]" : address.getHostAddress();
    }
}
