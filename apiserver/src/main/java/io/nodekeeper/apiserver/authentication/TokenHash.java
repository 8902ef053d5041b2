package io.nodekeeper.apiserver.authentication;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The SHA-256 of a token, as the key for look-ups. The time of comparing hashes reveals nothing about the token, and
 * memory does not contain the token itself.
 *
 * @param hex the hash
 */
record TokenHash(String hex) {
    static TokenHash of(String token) {
        try {
            return new TokenHash(HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8))));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java lacks SHA-256", e);
        }
    }
}
