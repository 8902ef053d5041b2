package io.nodekeeper.client.tls;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import org.bouncycastle.tls.AlertDescription;
import org.bouncycastle.tls.AlertLevel;
import org.bouncycastle.tls.ContentType;
import org.bouncycastle.tls.DefaultTlsClient;
import org.bouncycastle.tls.HandshakeType;
import org.bouncycastle.tls.ProtocolVersion;
import org.bouncycastle.tls.ServerOnlyTlsAuthentication;
import org.bouncycastle.tls.TlsAuthentication;
import org.bouncycastle.tls.TlsClientProtocol;
import org.bouncycastle.tls.TlsServerCertificate;
import org.bouncycastle.tls.crypto.impl.bc.BcTlsCrypto;

/** A client of TLS 1.3 without a certificate that sends records that no library sends. It believes any server. */
public final class KeyUpdateClient implements AutoCloseable {
    /** The most key updates of a record: of five bytes each in 16 KB. */
    public static final int RECORD = (16 << 10) / 5;

    private final Socket socket;
    private final Protocol protocol;

    /**
     * Connects. Each read of the handshake has a deadline of 30 s, because the client waits for its turn behind hostile
     * ones. Later reads have one of 10 s, which is less than the time after which servers close connections without a
     * request.
     */
    public KeyUpdateClient(int port) throws IOException {
        this(port, 0);
    }

    /** The same, with so many key updates in the record that ends the handshake. If there are any, nothing can be sent after them. */
    public KeyUpdateClient(int port, int updatesInHandshake) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            protocol = new Protocol(socket.getInputStream(), socket.getOutputStream(), updatesInHandshake);
            protocol.connect(new AnyServer());
            socket.setSoTimeout(10_000);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends {@code count} key updates in one record, as RFC 8446, 5.1 forbids. Nothing can be sent after them. */
    public void updates(int count) throws IOException {
        protocol.record(ContentType.handshake, messages(count));
    }

    private static byte[] messages(int count) {
        ByteBuffer messages = ByteBuffer.allocate(5 * count);
        for (int i = 0; i < count; i++) {
            messages.putInt(HandshakeType.key_update << 24 | 1).put((byte) 0);
        }
        return messages.array();
    }

    /** Sends one key update, as the standard has it. */
    public void update() throws IOException {
        protocol.update();
    }

    /** Sends a record without any data. */
    public void empty() throws IOException {
        protocol.record(ContentType.application_data, new byte[0]);
    }

    /** Sends that nothing more will follow; the connection stays. */
    public void endTls() throws IOException {
        protocol.record(ContentType.alert, new byte[] {AlertLevel.warning, AlertDescription.close_notify});
    }

    /** Sends {@code bytes} as they are. */
    public void raw(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Sends {@code text} in one record. */
    public void send(String text) throws IOException {
        OutputStream out = protocol.getOutputStream();
        out.write(text.getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    /** Reads {@code length} characters; fewer if the connection ends. */
    public String read(int length) throws IOException {
        return new String(protocol.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
    }

    /** Whether the server closes the connection within the deadline, in whatever way. */
    public boolean ends() {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        if (!socket.isClosed()) {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    private static final class Protocol extends TlsClientProtocol {
        private final int updatesInHandshake;

        Protocol(InputStream in, OutputStream out, int updatesInHandshake) {
            super(in, out);
            this.updatesInHandshake = updatesInHandshake;
        }

        @Override
        protected void safeWriteRecord(short type, byte[] content, int offset, int length) throws IOException {
            if (updatesInHandshake > 0 && type == ContentType.handshake && content[offset] == HandshakeType.finished) {
                byte[] updates = messages(updatesInHandshake);
                byte[] all = Arrays.copyOfRange(content, offset, offset + length + updates.length);
                System.arraycopy(updates, 0, all, length, updates.length);
                super.safeWriteRecord(type, all, 0, all.length);
            } else {
                super.safeWriteRecord(type, content, offset, length);
            }
        }

        void record(short type, byte[] content) throws IOException {
            safeWriteRecord(type, content, 0, content.length);
        }

        void update() throws IOException {
            send13KeyUpdate(false);
        }
    }

    private static final class AnyServer extends DefaultTlsClient {
        AnyServer() {
            super(new BcTlsCrypto(new SecureRandom()));
        }

        @Override
        protected ProtocolVersion[] getSupportedVersions() {
            return ProtocolVersion.TLSv13.only();
        }

        @Override
        public TlsAuthentication getAuthentication() {
            return new ServerOnlyTlsAuthentication() {
                @Override
                public void notifyServerCertificate(TlsServerCertificate certificate) {
                    // Any will do: the tests look at the server's load.
                }
            };
        }
    }
}
