package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PemTest {
    // Made for this test alone, with openssl ecparam -genkey and openssl genrsa -traditional.
    private static final String SEC1 = """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIHsCPEl2GmtMOCvDZvWRkwwhTrisM2nwv860KYiMjy7VoAoGCCqGSM49
            AwEHoUQDQgAEKJ+jMsffF3oBll0s7eTeZyT2pfYppadKTznEAriRGREoCHrTjdtT
            G0tSoO7xnw0hX1UQZ7dRsqopWlQeAifoHw==
            -----END EC PRIVATE KEY-----
            """;
    private static final String PKCS1 = """
            -----BEGIN RSA PRIVATE KEY-----
            MIICXQIBAAKBgQCrmF0ClHamMuRsxcSU66VXGO0xf6NeR6bP8xGWnAOJtqCyD1/s
            IsZitMpvCbnYOJ5Pfx35owMQ+34uFbNkBC8sJ0sqWXw6u/pTI6SSMLURYFOxlFaU
            XU6uDvF6pCX1iD0OhNB0VCUDrCBXV36wdQp0z09Y6Od91oGM1JNidTBElQIDAQAB
            AoGADTORpEsrvamYrU2hzBs9AzBlvzMkrHIywTjgF4g1NXkZb9mC9bXPMXTbRiOn
            ap0ggNk0wynpaHsQwBbnUECKKGkb9EJ9YxyvkJQo+F6UB+x7MZ0nySvYarOPa73o
            FsBB6eV3NhH29ScjYPphBaYXqZjRx+YxHVzb+pCwli/kWtkCQQDiw9K8v+qGvAg2
            1GWQhMkQuIYJzdTjj8oXWx0VWfLI4YUF3NVjK10uxNO5pa9cw+FtolfMSpILtDqa
            cvhDNHnzAkEAwbe17UfB79o0ZUVVKnms6wSSL/wWuSHE/xh7jF5Oe+WIGxMfvqhB
            JBIW+T1uz4BfKXNKBh6ehCikJDxLtPOhVwJBAMpWKrqqj+xK6RVrbXiHUxUtYMRs
            udGXIp62ePvtN5oQyG4Tvv9u2QV7MORMt22RhpsZqTerLidtWIEppuXodAsCQE5P
            9E4OWkqajd/63Wkkc1E3MdoQMSd6jWcLALdIULYpnpJDcuvinSL15S+xNCDSpqXd
            I6nBqxeGToUPkxN+AlUCQQDCSNQwkpJ2+5M5sJd2WQ2cx4eEGQlqsHNGQVhj6uOO
            Mr4NOvnn/PSDgQEc1rxlqm/D3/7RQLQ0K2kt/bZcaCuk
            -----END RSA PRIVATE KEY-----
            """;

    @Test
    void readsTheEcKeysThatOpensslWrites() {
        PrivateKey key = Pem.privateKey(SEC1);

        assertThat(key).isInstanceOf(ECPrivateKey.class);
        assertThat(((ECPrivateKey) key).getParams().getOrder().bitLength()).isEqualTo(256);
    }

    @Test
    void readsTheRsaKeysThatOlderToolsWrite() {
        PrivateKey key = Pem.privateKey(PKCS1);

        assertThat(key).isInstanceOf(RSAPrivateKey.class);
        assertThat(((RSAPrivateKey) key).getModulus().bitLength()).isEqualTo(1024);
    }

    @Test
    void readsBackWhatItWritesForClientLibraries() throws NoSuchAlgorithmException {
        for (String algorithm : new String[] {"EC", "RSA"}) {
            KeyPair pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair();

            String pem = Pem.encode(pair.getPrivate(), pair.getPublic());

            assertThat(pem).startsWith(algorithm.equals("EC") ? "-----BEGIN EC PRIVATE KEY" : "-----BEGIN PRIVATE KEY");
            PrivateKey read = Pem.privateKey(pem);
            assertThat(read.getAlgorithm()).isEqualTo(algorithm);
            if (read instanceof ECPrivateKey key) {
                assertThat(key.getS()).isEqualTo(((ECPrivateKey) pair.getPrivate()).getS());
                assertThat(Pem.publicPart(pem)).contains(pair.getPublic());
            } else {
                assertThat(Pem.publicPart(pem)).isEmpty();
            }
        }
    }

    @Test
    void readsBackWhatItWrites() throws NoSuchAlgorithmException {
        for (String algorithm : new String[] {"EC", "RSA", "Ed25519"}) {
            PrivateKey key =
                    KeyPairGenerator.getInstance(algorithm).generateKeyPair().getPrivate();

            assertThat(Pem.privateKey(Pem.encode(key))).isEqualTo(key);
        }
    }

    @Test
    void saysWhatItFoundInsteadOfAKey() {
        assertThatThrownBy(() -> Pem.privateKey("nothing"))
                .hasMessage("expected a PEM block \"PRIVATE KEY\", \"EC PRIVATE KEY\" or \"RSA PRIVATE KEY\","
                        + " found no PEM block");
        assertThatThrownBy(() -> Pem.certificates(SEC1))
                .hasMessage("expected a PEM block \"CERTIFICATE\", found \"EC PRIVATE KEY\"");
    }

    @Test
    void refusesEncryptedKeys() {
        String pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";

        assertThatThrownBy(() -> Pem.privateKey(pem))
                .hasMessage("the private key is encrypted; expected one without password");
    }

    @Test
    void refusesAKeyThatIsCutShort() {
        String pem = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n";

        assertThatThrownBy(() -> Pem.privateKey(pem)).hasMessage("the EC private key is truncated");
    }

    @ParameterizedTest
    @ValueSource(strings = {"secp256r1", "secp384r1", "secp521r1"})
    void readsTheKeysOfEachCurveOfTls(String curve) throws GeneralSecurityException {
        KeyPair pair = ec(curve);

        PrivateKey read = Pem.privateKey(Pem.encode(pair.getPrivate(), pair.getPublic()));

        assertThat(((ECPrivateKey) read).getS()).isEqualTo(((ECPrivateKey) pair.getPrivate()).getS());
        assertThat(((ECPrivateKey) read).getParams()).isEqualTo(((ECPrivateKey) pair.getPrivate()).getParams());
        assertThat(Pem.publicPart(Pem.encode(pair.getPrivate(), pair.getPublic())))
                .contains(pair.getPublic());
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY"})
    void givesAnyTruncationOfAKeyAClearError(String label) throws GeneralSecurityException {
        byte[] whole = der(label);

        for (int length = 0; length < whole.length; length++) {
            String pem = pem(label, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> Pem.privateKey(pem))
                    .as("%s, first %d bytes", label, length)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY"})
    void readsAKeyWithAnyByteChangedOrGivesAClearError(String label) throws GeneralSecurityException {
        byte[] whole = der(label);

        for (int place = 0; place < whole.length; place++) {
            for (int value : new int[] {0x00, 0x7f, 0x80, 0x81, 0x84, 0xff}) {
                byte[] changed = whole.clone();
                changed[place] = (byte) value;
                try {
                    Pem.publicPart(pem(label, changed));
                    Pem.privateKey(pem(label, changed));
                } catch (IllegalArgumentException expected) {
                    assertThat(expected).hasMessageContaining("key");
                }
            }
        }
    }

    @Test
    void aLengthOfTwoGigabytesCostsNoMemory() {
        // SEQUENCE { INTEGER 1, OCTET STRING of 1 byte, [0] { a curve of 2 GiB - 1 bytes, of which none is there } }
        byte[] key = HexFormat.of().parseHex("300e020101040100a00606847fffffff");

        assertThatThrownBy(() -> Pem.privateKey(pem("EC PRIVATE KEY", key)))
                .hasMessage("the EC private key is truncated");
    }

    private static KeyPair ec(String curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    private static byte[] der(String label) throws GeneralSecurityException {
        KeyPair pair = ec("secp256r1");
        String pem = switch (label) {
            case "EC PRIVATE KEY" -> Pem.encode(pair.getPrivate(), pair.getPublic());
            case "RSA PRIVATE KEY" -> PKCS1;
            default -> Pem.encode(pair.getPrivate());
        };
        return Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z0-9 ]+-----", ""));
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n" + Base64.getEncoder().encodeToString(der) + "\n-----END " + label
                + "-----\n";
    }
}
