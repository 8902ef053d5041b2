package io.nodekeeper.store.encryption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** The stored form of values, and the keys that can decrypt it. */
class EncryptionTest {
    private static final String KEY = "/registry/secrets/default/s1";
    private static final byte[] VALUE = "{\"kind\":\"Secret\"}".getBytes(StandardCharsets.UTF_8);
    private static final byte[] OLD = bytes("0123456789abcdef");
    private static final byte[] NEW = bytes("0123456789abcdef0123456789abcdef");

    private final RandomGenerator random = Randoms.secure();
    private final AesGcmKey old = new AesGcmKey("old", OLD, random);
    private final AesGcmKey fresh = new AesGcmKey("new", NEW, random);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ResourceTransformer secrets(EncryptionProvider... providers) {
        return new ResourceTransformer(
                List.of(new ResourceTransformer.Rule(key -> key.startsWith("/registry/secrets/"), List.of(providers))));
    }

    @Test
    void storedFormIsThatOfAKubeApiserver() throws GeneralSecurityException {
        // given a value in the form of kube-apiserver's aesgcm provider: prefix, nonce, ciphertext and
        // tag
        byte[] nonce = bytes("twelve bytes");
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(OLD, "AES"), new GCMParameterSpec(128, nonce));
        cipher.updateAAD(bytes(KEY));
        byte[] sealed = cipher.doFinal(VALUE);
        byte[] prefix = bytes("k8s:enc:aesgcm:v1:old:");
        byte[] stored = Arrays.copyOf(prefix, prefix.length + nonce.length + sealed.length);
        System.arraycopy(nonce, 0, stored, prefix.length, nonce.length);
        System.arraycopy(sealed, 0, stored, prefix.length + nonce.length, sealed.length);
        // then it can be decrypted, and encryption with the same nonce gives the same bytes
        assertThat(secrets(old).fromStorage(KEY, KEY, stored)).isEqualTo(VALUE);
        RandomGenerator fixed = new RandomGenerator() {
            @Override
            public long nextLong() {
                throw new AssertionError("only bytes are asked for");
            }

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(nonce, 0, bytes, 0, bytes.length);
            }
        };
        assertThat(secrets(new AesGcmKey("old", OLD, fixed)).toStorage(KEY, KEY, VALUE))
                .isEqualTo(stored);
    }

    @Test
    void eachWriteHasItsOwnNonce() {
        assertThat(secrets(old).toStorage(KEY, KEY, VALUE))
                .isNotEqualTo(secrets(old).toStorage(KEY, KEY, VALUE));
    }

    @Test
    void firstKeyEncryptsAndAllKeysDecrypt() {
        byte[] before = secrets(old).toStorage(KEY, KEY, VALUE);
        ResourceTransformer both = secrets(fresh, old, EncryptionProvider.IDENTITY);
        assertThat(both.fromStorage(KEY, KEY, before)).isEqualTo(VALUE);
        assertThat(both.fromStorage(KEY, KEY, VALUE)).isEqualTo(VALUE);
        byte[] after = both.toStorage(KEY, KEY, VALUE);
        assertThat(new String(after, StandardCharsets.ISO_8859_1)).startsWith("k8s:enc:aesgcm:v1:new:");
        assertThat(both.fromStorage(KEY, KEY, after)).isEqualTo(VALUE);
    }

    @Test
    void otherResourcesAreNotEncrypted() {
        String node = "/registry/minions/n1";
        assertThat(secrets(old).toStorage(node, node, VALUE)).isEqualTo(VALUE);
        assertThat(secrets(old).fromStorage(node, node, VALUE)).isEqualTo(VALUE);
    }

    @Test
    void errorNamesTheMissingOrWrongKey() {
        byte[] stored = secrets(old).toStorage(KEY, KEY, VALUE);
        // a missing key
        assertThatThrownBy(() -> secrets(fresh).fromStorage(KEY, KEY, stored))
                .isInstanceOf(EncryptionException.class)
                .hasMessage(KEY + " is encrypted as k8s:enc:aesgcm:v1:old:..., and --encryption-provider-config has no"
                        + " such key; it has [aesgcm key new]");
        assertThatThrownBy(() -> ValueTransformer.IDENTITY.fromStorage(KEY, KEY, stored))
                .hasMessage(KEY + " is encrypted (k8s:enc:aesgcm:v1:old:...), but no key is configured; expected"
                        + " --encryption-provider-config with that key");
        // another key of the same name
        assertThatThrownBy(() -> secrets(new AesGcmKey("old", NEW, random)).fromStorage(KEY, KEY, stored))
                .hasMessageStartingWith(KEY + " cannot be decrypted with key old: this name now has another key");
        // the value of another object
        assertThatThrownBy(() -> secrets(old).fromStorage(KEY + "2", KEY + "2", stored))
                .hasMessageContaining("stored for another object");
        // an unencrypted value without the provider identity
        assertThatThrownBy(() -> secrets(old).fromStorage(KEY, KEY, VALUE))
                .hasMessage(
                        KEY + " is not encrypted, and the providers of --encryption-provider-config do not read such"
                                + " objects; expected \"identity\" at the end of [aesgcm key old]");
    }

    @Test
    void changedByteOfAStoredValueIsDetected() {
        byte[] stored = secrets(old).toStorage(KEY, KEY, VALUE);
        for (int at = 0; at < stored.length; at++) {
            byte[] changed = stored.clone();
            changed[at] ^= 1;
            assertThatThrownBy(() -> secrets(old).fromStorage(KEY, KEY, changed))
                    .as("byte %d", at)
                    .isInstanceOf(EncryptionException.class);
            byte[] cut = Arrays.copyOf(stored, at);
            assertThatThrownBy(() -> secrets(old).fromStorage(KEY, KEY, cut)).isInstanceOf(EncryptionException.class);
        }
    }
}
