package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The requests of {@code size} nodes, ready to send: registration with a full status, creation of the lease, and its
 * renewal as a kubelet does it: the whole Lease with the version from the last response. Confined to the event loop.
 */
final class Fleet {
    private static final byte[] VERSION = Bytes.ascii("\"resourceVersion\":\"");
    private static final String OPENING = "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",";
    private static final String ROOT = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final int TIME_DIGITS = 27;

    private final String host;
    private final byte[][] heads;
    private final byte[][] beforeVersion;
    private final byte[][] afterVersion;
    private final byte[] end = Bytes.ascii("\"}}");
    private final long[] versions;
    private final SendTime times = new SendTime();

    Fleet(int size, String host) {
        this.host = host;
        versions = new long[size];
        heads = new byte[size][];
        beforeVersion = new byte[size][];
        afterVersion = new byte[size][];
        for (int i = 0; i < size; i++) {
            heads[i] = Bytes.ascii(
                    "PUT " + ROOT + "/" + name(i) + " HTTP/1.1\r\nHost: " + host
                            + "\r\nUser-Agent: bench\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: ");
        }
    }

    int size() {
        return versions.length;
    }

    static String name(int node) {
        return "bench-node-" + (100_000 + node);
    }

    byte[] registration(int node) {
        return post("/api/v1/nodes", NodeBody.of(name(node), node));
    }

    byte[] creation(int node) {
        return post(
                ROOT,
                OPENING + "\"metadata\":{\"name\":\"" + name(node) + "\",\"namespace\":\"kube-node-lease\""
                        + owner(node)
                        + "},\"spec\":{\"holderIdentity\":\"" + name(node)
                        + "\",\"leaseDurationSeconds\":40,\"renewTime\":\"2026-01-01T00:00:00.000000Z\"}}");
    }

    /** Handles the response to a lease's creation or renewal. */
    void stored(int node, ByteBuf body) {
        if (beforeVersion[node] == null) {
            String uid = text(body, "\"uid\":\"", true);
            String created = text(body, "\"creationTimestamp\":\"", false);
            beforeVersion[node] = Bytes.ascii("\r\n\r\n" + OPENING + "\"metadata\":{\"name\":\"" + name(node)
                    + "\",\"namespace\":\"kube-node-lease\",\"uid\":\"" + uid + "\",\"resourceVersion\":\"");
            afterVersion[node] = Bytes.ascii("\",\"creationTimestamp\":\"" + created + "\"" + owner(node)
                    + "},\"spec\":{\"holderIdentity\":\"" + name(node)
                    + "\",\"leaseDurationSeconds\":40,\"renewTime\":\"");
        }
        versions[node] = version(body, body.readerIndex());
    }

    long version(int node) {
        return versions[node];
    }

    /** The first resource version in {@code body}. */
    static long version(ByteBuf body, int from) {
        int at = Bytes.indexOf(body, VERSION, from);
        if (at < 0) {
            throw new IllegalStateException("an object without resourceVersion");
        }
        return Bytes.number(body, at + VERSION.length);
    }

    /** Writes the renewal that is due at {@code due}. */
    ByteBuf renewal(KeepAliveConnection exchange, int node, long due) {
        byte[] version = Bytes.ascii(Long.toString(versions[node]));
        int length =
                beforeVersion[node].length - 4 + version.length + afterVersion[node].length + TIME_DIGITS + end.length;
        ByteBuf request = exchange.buffer(heads[node].length + length + 16);
        request.writeBytes(heads[node]);
        request.writeBytes(Bytes.ascii(Integer.toString(length)));
        request.writeBytes(beforeVersion[node]);
        request.writeBytes(version);
        request.writeBytes(afterVersion[node]);
        times.write(request, due);
        request.writeBytes(end);
        return request;
    }

    private byte[] post(String path, String body) {
        return Bytes.ascii("POST " + path + " HTTP/1.1\r\nHost: " + host
                + "\r\nUser-Agent: bench\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body);
    }

    /** A patch of the node itself. */
    byte[] label(int node) {
        String body = "{\"metadata\":{\"labels\":{\"bench\":\"changed\"}}}";
        return Bytes.ascii("PATCH /api/v1/nodes/" + name(node) + " HTTP/1.1\r\nHost: " + host
                + "\r\nUser-Agent: bench\r\nContent-Type: application/merge-patch+json\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body);
    }

    private static String owner(int node) {
        return ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"" + name(node)
                + "\",\"uid\":\"" + NodeBody.uid(node) + "\"}]";
    }

    /** The text after the first or the last occurrence of {@code field}. */
    private static String text(ByteBuf body, String field, boolean last) {
        String all = body.toString(StandardCharsets.UTF_8);
        int at = last ? all.lastIndexOf(field) : all.indexOf(field);
        int from = at + field.length();
        return all.substring(from, all.indexOf('"', from));
    }
}
