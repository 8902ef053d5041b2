package io.nodekeeper.client.tls;

/** A client of a server with TLS, as far as {@link TlsTurns} must know it. Its methods are called on its event loop. */
public interface TlsClient {
    /** Whether it needs no turns, because it has proven who it is. */
    boolean isTrusted();

    /** Whether what it sends may wait for its turn. If not, it is disconnected instead: nothing limits the memory that it would take. */
    boolean mayWait();

    /** It was trusted, and sent too much that costs the server work and says nothing. Its connection is closed. */
    void offended();
}
