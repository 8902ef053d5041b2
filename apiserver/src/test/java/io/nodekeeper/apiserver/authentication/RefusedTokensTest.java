package io.nodekeeper.apiserver.authentication;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How often the signature of a repeated token is computed. */
class RefusedTokensTest {
    private static final String ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

    /** A public key that counts how often something is verified with it. */
    private static final class CountingKey implements ECPublicKey {
        private final ECPublicKey key;
        private int uses;

        private CountingKey(ECPublicKey key) {
            this.key = key;
        }

        @Override
        public ECPoint getW() {
            uses++;
            return key.getW();
        }

        @Override
        public ECParameterSpec getParams() {
            return key.getParams();
        }

        @Override
        public String getAlgorithm() {
            return key.getAlgorithm();
        }

        @Override
        public String getFormat() {
            return key.getFormat();
        }

        @Override
        public byte[] getEncoded() {
            return key.getEncoded();
        }
    }

    private final KeyPair keys = keys();
    private final CountingKey key = new CountingKey((ECPublicKey) keys.getPublic());
    private final TestServer server = new TestServer(new Authenticator(
            Map.of(),
            new ServiceAccountTokens(keys.getPrivate(), List.of(key), "https://issuer", List.of("https://issuer"))));
    private String token = "";

    private static KeyPair keys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            return generator.generateKeyPair();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void tokenOfAnAccount() {
        server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"a\"}}");
        token = server.post(ACCOUNTS + "/a/token", "{}").json().object("status").text("token");
    }

    /** With the signature of another one. */
    private String forged(int number) {
        String[] parts = token.split("\\.");
        String other = Character.toString("ABCDEFGH".charAt(number % 8))
                + "ABCDEFGH".charAt(number / 8 % 8)
                + "ABCDEFGH".charAt(number / 64 % 8)
                + "ABCDEFGH".charAt(number / 512 % 8);
        return parts[0] + "." + parts[1] + "." + other + parts[2].substring(4);
    }

    private int status(String sent) {
        return server.ask(User.ANONYMOUS, "GET", "/version", Map.of("authorization", "Bearer " + sent), "")
                .status();
    }

    /** How often the key is used to answer {@code sent} with {@code status}. */
    private int uses(String sent, int status) {
        int before = key.uses;
        assertThat(status(sent)).isEqualTo(status);
        return key.uses - before;
    }

    @Test
    void signatureOfABadTokenIsVerifiedOnce() {
        int once = uses(token, 200);
        assertThat(once).isPositive();
        assertThat(uses(forged(0), 401)).isEqualTo(once);
        assertThat(uses(forged(0), 401)).isZero();
    }

    @Test
    void badTokensDoNotDisplaceGoodOnes() {
        assertThat(status(token)).isEqualTo(200);
        for (int i = 0; i < 1_100; i++) {
            assertThat(status(forged(i))).isEqualTo(401);
        }
        assertThat(uses(token, 200)).isZero();
        // Of the bad ones the last thousand are remembered.
        assertThat(uses(forged(1_099), 401)).isZero();
        assertThat(uses(forged(0), 401)).isPositive();
    }

    @Test
    void tokenThatIsRefusedForItsAccountIsNotRemembered() {
        // given a token whose account is deleted
        server.delete(ACCOUNTS + "/a", "");
        server.time.advance(Duration.ofSeconds(61));
        assertThat(uses(token, 401)).isPositive();
        // then it is refused without another verification, because of the account only
        assertThat(uses(token, 401)).isZero();
    }

    /** As on a machine whose clock is set forward. */
    @Test
    void tokenThatIsRefusedForItsTimeIsNotRemembered() {
        server.loop.skewWallClock(Duration.ofHours(-1));
        assertThat(status(token)).isEqualTo(401);

        server.loop.skewWallClock(Duration.ZERO);
        assertThat(uses(token, 200)).isZero();
    }
}
