package io.nodekeeper.client.tls;

import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * A client that is trusted once it has shown a certificate, which the handshake verifies, unless it is suspect. Confined to its event
 * loop.
 */
final class CertifiedClient implements TlsClient {
    private final BooleanSupplier suspect;
    private boolean certified;

    CertifiedClient(BooleanSupplier suspect) {
        this.suspect = suspect;
    }

    /** The handshake has ended, well or not. */
    void established(SSLSession session) {
        try {
            certified = session.getPeerCertificates().length > 0;
        } catch (SSLPeerUnverifiedException e) {
            // It may do without, and is not trusted then.
            certified = false;
        }
    }

    @Override
    public boolean isTrusted() {
        return certified && !suspect.getAsBoolean();
    }

    @Override
    public boolean mayWait() {
        return true;
    }

    @Override
    public void offended() {
        // It is suspect now.
    }
}
