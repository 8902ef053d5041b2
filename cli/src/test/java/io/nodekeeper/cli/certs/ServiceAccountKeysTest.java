package io.nodekeeper.cli.certs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.config.Pem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceAccountKeysTest {
    @TempDir
    Path data;

    private static KeyPair pair(String algorithm, int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(bits);
        return generator.generateKeyPair();
    }

    @Test
    void aKeyIsMadeOnceAndKeptToTheOwner() throws Exception {
        ServiceAccountKeys first = ServiceAccountKeys.open(data);
        assertThat(ServiceAccountKeys.open(data)).isEqualTo(first);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("pki/sa.key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void theOtherHalfIsComputed() throws Exception {
        for (KeyPair pair : List.of(pair("EC", 256), pair("RSA", 2048))) {
            Path file = data.resolve("key.pem");
            Files.writeString(file, Pem.encode(pair.getPrivate()));
            assertThat(ServiceAccountKeys.read("--flag", file).publicKey()).isEqualTo(pair.getPublic());
            assertThat(ServiceAccountKeys.publicKeys("--flag", file)).containsExactly(pair.getPublic());
            Files.writeString(file, encoded(pair.getPublic()));
            assertThat(ServiceAccountKeys.publicKeys("--flag", file)).containsExactly(pair.getPublic());
        }
    }

    private static String encoded(PublicKey key) {
        return Pem.encode("PUBLIC KEY", key.getEncoded());
    }

    @Test
    void everyKeyInAFileVerifiesTokens() throws Exception {
        KeyPair first = pair("EC", 256);
        KeyPair second = pair("RSA", 2048);
        KeyPair third = pair("EC", 256);
        KeyPair fourth = pair("EC", 256);
        Path file = data.resolve("keys.pem");
        Files.writeString(
                file,
                "# the PRIVATE KEY of the last year\n" + Pem.encode(first.getPrivate(), first.getPublic())
                        + encoded(second.getPublic())
                        + Pem.encode(third.getPrivate())
                        + encoded(fourth.getPublic()));

        assertThat(ServiceAccountKeys.publicKeys("--flag", file))
                .containsExactly(first.getPublic(), second.getPublic(), third.getPublic(), fourth.getPublic());
    }

    @Test
    void thePublicKeyInTheFileMustBelongToThePrivateOne() throws Exception {
        KeyPair mine = pair("EC", 256);
        KeyPair other = pair("EC", 256);
        Path file = data.resolve("key.pem");

        Files.writeString(file, Pem.encode(mine.getPrivate(), mine.getPublic()));
        assertThat(ServiceAccountKeys.read("--flag", file).publicKey()).isEqualTo(mine.getPublic());

        Files.writeString(file, Pem.encode(mine.getPrivate(), other.getPublic()));
        assertThatThrownBy(() -> ServiceAccountKeys.read("--flag", file))
                .hasMessage("--flag " + file + ": the public key in the block does not belong to the private key");
    }

    @Test
    void aFileWithoutAKeyIsNamed() throws Exception {
        Path file = data.resolve("key.pem");
        Files.writeString(file, "nothing");
        assertThatThrownBy(() -> ServiceAccountKeys.publicKeys("--service-account-key-file", file))
                .hasMessageStartingWith("--service-account-key-file " + file + ": expected a PEM block");
    }
}
