package io.nodekeeper.apiserver.authentication;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What a token is looked up by: its SHA-256. How long a comparison of hashes takes tells nothing of the token, and what is
 * kept in memory is not what opens the door.
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
