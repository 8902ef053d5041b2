package io.nodekeeper.it;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** The API server that is attacked, and the clients to attack it. Thread-safe. */
final class Prey {
    /** Stands for a failed renewal, seconds. */
    static final double FAILED = 60;

    /** The token of a user who may do all that a cluster's administrators may, but is not in system:masters. */
    static final String HEAVY = "heavy";

    /** The token of a node. */
    static final String NODE = "hostile-node";

    /** The token of a user who may do nothing. */
    static final String NOBODY = "nobody";

    private final URI address;
    private final SSLContext tls;

    Prey(String address) throws Exception {
        this.address = URI.create(address);
        tls = SSLContext.getInstance("TLS");
        tls.init(null, new TrustManager[] {new Trusting()}, new SecureRandom());
    }

    /** Its port on the loopback. */
    int port() {
        return address.getPort();
    }

    /** Accepts every certificate. */
    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {
            // Accepted.
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            // Accepted.
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    /** A client with connections of its own. */
    HttpClient client(HttpClient.Version version) {
        return HttpClient.newBuilder()
                .sslContext(tls)
                .version(version)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** Sends a request and returns the answer's status. The body is read and dropped: kept, it would fill this process. */
    int send(HttpClient client, String method, String path, String token, String type, String body)
            throws IOException, InterruptedException {
        return status(
                client,
                request(path, token)
                        .header(method.equals("GET") ? "Accept" : "Content-Type", type)
                        .method(method, HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Gets something in a form and an encoding, as {@link #HEAVY}, and returns the answer's status. The body is dropped. */
    int get(HttpClient client, String path, String type, String encoding) throws IOException, InterruptedException {
        return status(client, request(path, HEAVY).header("Accept", type).header("Accept-Encoding", encoding));
    }

    private HttpRequest.Builder request(String path, String token) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(address.resolve(path)).timeout(Duration.ofSeconds(20));
        return token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private static int status(HttpClient client, HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    /** A TCP connection. */
    Socket plain() throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", address.getPort()), 5_000);
        socket.setSoTimeout(5_000);
        return socket;
    }

    /** A TLS connection that offers that protocol only. */
    SSLSocket socket(String protocol) throws IOException {
        SSLSocket socket =
                (SSLSocket) tls.getSocketFactory().createSocket(plain(), "127.0.0.1", address.getPort(), true);
        var parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** What is done again and again, and returns the answer in a word. */
    interface Step {
        String next(int thread) throws Exception;
    }

    /** Has so many threads do {@code step} until a time, at most so often in all, and counts the answers. */
    static Map<String, Integer> repeat(int threads, int most, long until, Step step) throws InterruptedException {
        Map<String, Integer> answers = new ConcurrentHashMap<>();
        AtomicInteger left = new AtomicInteger(most);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int i = 0; i < threads; i++) {
            int thread = i;
            pool.execute(() -> {
                while (System.nanoTime() < until
                        && left.getAndDecrement() > 0
                        && !Thread.currentThread().isInterrupted()) {
                    String answer;
                    try {
                        answer = step.next(thread);
                    } catch (Exception e) {
                        answer = switch (e) {
                            case IOException gone -> "cut off";
                            case InterruptedException late -> "not done in time";
                            default -> e.getClass().getSimpleName();
                        };
                    }
                    answers.merge(answer, 1, Integer::sum);
                }
            });
        }
        pool.shutdown();
        if (!pool.awaitTermination(Math.max(1, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            pool.shutdownNow();
            pool.awaitTermination(5, TimeUnit.SECONDS);
        }
        return new TreeMap<>(answers);
    }
}
