package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import org.junit.jupiter.api.Test;

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
                        + " found no PEM at all");
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

        assertThatThrownBy(() -> Pem.privateKey(pem)).hasMessage("the EC private key is cut short");
    }
}
