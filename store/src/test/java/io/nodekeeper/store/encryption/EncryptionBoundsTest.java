package io.nodekeeper.store.encryption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The smallest values, encrypted and unencrypted. */
class EncryptionBoundsTest {
    private static final String PREFIX = "k8s:enc:aesgcm:v1:k:";

    private final AesGcmKey key = new AesGcmKey("k", new byte[32], Randoms.seeded(1));

    @Test
    void emptyValueIsEncryptedAndDecrypted() {
        byte[] stored = key.encrypt("/registry/secrets/a", new byte[0]);

        assertThat(stored).as("20 bytes of prefix, a nonce and a tag").hasSize(48);
        assertThat(key.decrypt("/registry/secrets/a", stored)).isEmpty();
        assertThatThrownBy(() -> key.decrypt("/registry/secrets/a", Arrays.copyOf(stored, 47)))
                .hasMessage("/registry/secrets/a is truncated: it has 47 bytes; expected 48 or more");
    }

    @Test
    void prefixAloneCountsAsEncrypted() {
        assertThat(key.handles(bytes(PREFIX))).isTrue();
        assertThat(key.handles(bytes("k8s:enc:aesgcm:v1:k"))).isFalse();
        assertThat(ValueTransformer.isEncrypted(bytes("k8s:enc:"))).isTrue();
        assertThat(ValueTransformer.isEncrypted(bytes("k8s:enc"))).isFalse();
    }

    @Test
    void identityDoesNotChangeUnencryptedValues() {
        byte[] value = bytes("{}");

        assertThat(EncryptionProvider.IDENTITY.handles(value)).isTrue();
        assertThat(EncryptionProvider.IDENTITY.handles(bytes(PREFIX))).isFalse();
        assertThat(EncryptionProvider.IDENTITY.encrypt("a", value)).isSameAs(value);
        assertThat(EncryptionProvider.IDENTITY.decrypt("a", value)).isSameAs(value);
        assertThat(EncryptionProvider.IDENTITY).hasToString("identity");
    }

    @Test
    void rawTransformerDoesNotChangeEncryptedValues() {
        byte[] stored = bytes(PREFIX);

        assertThat(ValueTransformer.RAW.fromStorage("a", "a", stored)).isSameAs(stored);
        assertThat(ValueTransformer.RAW.toStorage("a", "a", stored)).isSameAs(stored);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
