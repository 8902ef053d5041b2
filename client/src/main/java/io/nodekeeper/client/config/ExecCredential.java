package io.nodekeeper.client.config;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * What a credential plugin has provided. Immutable.
 *
 * @param token the bearer token; empty for none
 * @param identity the client certificate
 * @param expiry when it expires; without one it is used until the server refuses it
 */
public record ExecCredential(String token, Optional<Identity> identity, Optional<Instant> expiry) {

    /**
     * Reads a plugin's output, an {@code ExecCredential}.
     *
     * @param apiVersion the version that the kubeconfig names; the output must have the same
     * @throws IllegalArgumentException saying what is wrong, in one line that quotes nothing that may be secret
     */
    static ExecCredential parse(byte[] output, String apiVersion) {
        JsonObject object;
        try {
            object = Json.parseObject(output);
        } catch (JsonException e) {
            // The parser's message may quote the output.
            throw new IllegalArgumentException(
                    "printed " + output.length + " bytes that are not a JSON object; expected an ExecCredential");
        }
        if (!object.text("kind").equals("ExecCredential")) {
            throw new IllegalArgumentException("printed JSON of another kind than ExecCredential");
        }
        if (!object.text("apiVersion").equals(apiVersion)) {
            throw new IllegalArgumentException("printed an ExecCredential of another apiVersion than " + apiVersion
                    + ", which the kubeconfig has");
        }
        JsonObject status = object.object("status");
        String token = status.text("token");
        Optional<Identity> identity = identity(status.text("clientCertificateData"), status.text("clientKeyData"));
        if (token.isEmpty() && identity.isEmpty()) {
            throw new IllegalArgumentException("printed an ExecCredential with neither a token nor a certificate");
        }
        TokenSource.fault(token).ifPresent(fault -> {
            throw new IllegalArgumentException("printed a token with " + fault);
        });
        return new ExecCredential(token, identity, expiry(status.text("expirationTimestamp")));
    }

    private static Optional<Identity> identity(String certificate, String key) {
        if (certificate.isEmpty() != key.isEmpty()) {
            throw new IllegalArgumentException("printed a certificate or a key without the other");
        }
        if (certificate.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Identity(Pem.privateKey(key), Pem.certificates(certificate)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("printed a certificate or a key that cannot be read", e);
        }
    }

    private static Optional<Instant> expiry(String text) {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    "printed an expirationTimestamp that is no time; expected a form like 2026-11-21T16:13:52Z");
        }
    }

    /** Whether it has expired at {@code time}. */
    boolean hasExpired(Instant time) {
        return expiry.isPresent() && !time.isBefore(expiry.get());
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "a credential" + expiry.map(time -> " until " + time).orElse("");
    }
}
