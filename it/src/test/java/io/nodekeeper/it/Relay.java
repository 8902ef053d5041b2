package io.nodekeeper.it;

import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * A faulty network between one client and the API server. It ends the client's TLS with the server's own certificate, speaks
 * to the server as that client, and reads what is asked for (HTTP/1.1, one request at a time on a connection), so that it
 * can hold back some answers and let others pass. Thread-safe.
 */
final class Relay implements AutoCloseable {
    /** The faults of the network. */
    enum Fault {
        /** Nothing. */
        NONE,
        /** No byte of a watch of leases arrives; connections stay open, everything else passes. */
        LEASE_WATCH_STALLED,
        /** All connections are reset, new ones refused. */
        REFUSED,
        /** Nothing passes in either direction, and no connection is closed. What was sent arrives after the fault. */
        DROPPED
    }

    private static final char[] NO_PASSWORD = {};
    /** The most bytes of a request's head; our clients send far fewer. */
    private static final int HEAD_LIMIT = 64 * 1024;

    private final Path data;
    private final URI server;
    private final SSLContext towardsClient;
    private final SSLContext towardsServer;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger leaseWatches = new AtomicInteger();
    private final int port;
    private ServerSocket listener;
    private Fault fault = Fault.NONE;

    /** Starts a relay for the client of {@code DATA/controller.kubeconfig}. */
    Relay(Path data) throws IOException, GeneralSecurityException {
        this.data = data;
        ServerAccess access = Kubeconfig.load(data.resolve("controller.kubeconfig"));
        server = access.server();
        Path pki = data.resolve("pki");
        towardsClient = context(
                Pem.privateKey(Files.readString(pki.resolve("apiserver.key"))),
                Pem.certificates(Files.readString(pki.resolve("apiserver.crt"))),
                access.authorities());
        towardsServer = context(
                access.identity().orElseThrow().key(),
                access.identity().orElseThrow().chain(),
                access.authorities());
        listener = listen(0);
        port = listener.getLocalPort();
    }

    /** A copy of the client's kubeconfig that leads here. */
    Path kubeconfig() throws IOException {
        String direct = Files.readString(data.resolve("controller.kubeconfig"));
        Path relayed = data.resolve("controller-relayed.kubeconfig");
        return Files.writeString(relayed, direct.replace(server.toString(), "https://127.0.0.1:" + port));
    }

    /** How often leases were watched so far. */
    int leaseWatches() {
        return leaseWatches.get();
    }

    /** Sets the fault, in place of the present one. */
    synchronized void set(Fault next) throws IOException {
        Fault before = fault;
        fault = next;
        notifyAll();
        if (next == Fault.REFUSED) {
            listener.close();
            connections.forEach(Connection::reset);
        } else if (before == Fault.REFUSED) {
            listener = listen(port);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        fault = Fault.NONE;
        notifyAll();
        listener.close();
        connections.forEach(Connection::close);
    }

    private ServerSocket listen(int on) throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), on));
        Thread.ofVirtual().name("relay").start(() -> accept(socket));
        return socket;
    }

    private void accept(ServerSocket socket) {
        try {
            while (true) {
                Connection connection = new Connection(socket.accept());
                connections.add(connection);
                Thread.ofVirtual().name("relay-requests").start(connection::serve);
            }
        } catch (IOException e) {
            // The listener was closed.
        }
    }

    private synchronized boolean holds(String target) {
        return switch (fault) {
            case NONE, REFUSED -> false;
            case DROPPED -> true;
            case LEASE_WATCH_STALLED -> isLeaseWatch(target);
        };
    }

    private synchronized void awaitPassage(String target) throws InterruptedException {
        while (holds(target)) {
            wait();
        }
    }

    private static boolean isLeaseWatch(String target) {
        return target.contains("/leases?") && target.contains("watch=true");
    }

    private static SSLContext context(PrivateKey key, List<X509Certificate> chain, List<X509Certificate> authorities)
            throws IOException, GeneralSecurityException {
        KeyStore keys = empty();
        keys.setKeyEntry("own", key, NO_PASSWORD, chain.toArray(Certificate[]::new));
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, NO_PASSWORD);
        KeyStore trusted = empty();
        for (int i = 0; i < authorities.size(); i++) {
            trusted.setCertificateEntry("ca-" + i, authorities.get(i));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** One connection of the client, and the one to the server that belongs to it. */
    private final class Connection {
        private final Socket client;
        private volatile Socket upstream = new Socket();
        /** What was asked for last: what the server sends is the answer to it. */
        private volatile String target = "";

        private Connection(Socket client) {
            this.client = client;
        }

        private void serve() {
            try {
                awaitPassage("");
                SSLSocket near = (SSLSocket)
                        towardsClient.getSocketFactory().createSocket(client, InputStream.nullInputStream(), true);
                SSLSocket far =
                        (SSLSocket) towardsServer.getSocketFactory().createSocket(server.getHost(), server.getPort());
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                upstream = far;
                Thread.ofVirtual().name("relay-answers").start(() -> answers(far, near));
                requests(near, far);
            } catch (IOException e) {
                // Either side may leave at any time: the other one is told by the end of its connection.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                close();
            }
        }

        private void requests(SSLSocket from, SSLSocket to) throws IOException, InterruptedException {
            InputStream in = new BufferedInputStream(from.getInputStream());
            OutputStream out = to.getOutputStream();
            while (true) {
                byte[] head = head(in);
                if (head.length == 0) {
                    return;
                }
                String text = new String(head, StandardCharsets.ISO_8859_1);
                byte[] body = in.readNBytes(contentLength(text));
                awaitPassage("");
                target = text.split(" ", 3)[1];
                if (isLeaseWatch(target)) {
                    leaseWatches.incrementAndGet();
                }
                out.write(head);
                out.write(body);
                out.flush();
            }
        }

        private void answers(SSLSocket from, SSLSocket to) {
            byte[] buffer = new byte[16 * 1024];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    awaitPassage(target);
                    out.write(buffer, 0, count);
                    out.flush();
                }
            } catch (IOException e) {
                // As above.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                close();
            }
        }

        /** The end that a peer sees when a cable is pulled and a router says so. */
        private void reset() {
            try {
                client.setSoLinger(true, 0);
            } catch (IOException e) {
                // It is closed already.
            }
            close();
        }

        private void close() {
            connections.remove(this);
            for (Socket socket : List.of(client, upstream)) {
                try {
                    socket.close();
                } catch (IOException e) {
                    // Closed is all that it shall be.
                }
            }
        }
    }

    /** The request line and the headers with the empty line after them; empty at the end of the connection. */
    static byte[] head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int matched = 0;
        while (matched < 4) {
            int next = in.read();
            if (next < 0) {
                if (head.size() == 0) {
                    return new byte[0];
                }
                throw new EOFException("the connection ended in the middle of a request");
            }
            head.write(next);
            if (head.size() > HEAD_LIMIT) {
                throw new IOException("a request's head is longer than " + HEAD_LIMIT + " bytes");
            }
            matched = next == "\r\n\r\n".charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
        }
        return head.toByteArray();
    }

    static int contentLength(String head) throws IOException {
        for (String line : head.split("\r\n")) {
            String[] header = line.split(":", 2);
            if (header[0].equalsIgnoreCase("Transfer-Encoding")) {
                throw new IOException("the relay expects requests with a Content-Length, got: " + line);
            }
            if (header[0].equalsIgnoreCase("Content-Length")) {
                return Integer.parseInt(header[1].strip());
            }
        }
        return 0;
    }
}
