package io.nodekeeper.store.encryption;

import java.util.List;
import java.util.function.Predicate;

/**
 * Applies the rules of an EncryptionConfiguration. For each object the first matching rule counts: its first provider
 * encrypts, and all its providers can decrypt. Objects without a matching rule are not encrypted. Immutable.
 */
public final class ResourceTransformer implements ValueTransformer {

    /**
     * The encryption of some resources.
     *
     * @param covers whether the rule matches the object at a key {@code /registry/RESOURCE/...}
     * @param providers the providers, at least one
     */
    public record Rule(Predicate<String> covers, List<EncryptionProvider> providers) {
        /** Copies the list. */
        public Rule {
            providers = List.copyOf(providers);
        }
    }

    private final List<Rule> rules;

    /** For each object the first matching rule counts. */
    public ResourceTransformer(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    @Override
    public byte[] toStorage(String key, String storageKey, byte[] value) {
        for (Rule rule : rules) {
            if (rule.covers.test(key)) {
                return rule.providers.getFirst().encrypt(storageKey, value);
            }
        }
        return IDENTITY.toStorage(key, storageKey, value);
    }

    @Override
    public byte[] fromStorage(String key, String storageKey, byte[] stored) {
        for (Rule rule : rules) {
            if (rule.covers.test(key)) {
                for (EncryptionProvider provider : rule.providers) {
                    if (provider.handles(stored)) {
                        return provider.decrypt(storageKey, stored);
                    }
                }
                throw new EncryptionException(
                        ValueTransformer.isEncrypted(stored)
                                ? key + " is encrypted as " + ValueTransformer.prefix(stored)
                                        + "..., and --encryption-provider-config has no such key; it has "
                                        + rule.providers
                                : key
                                        + " is not encrypted, and the providers of --encryption-provider-config do not read"
                                        + " such objects; expected \"identity\" at the end of " + rule.providers,
                        null);
            }
        }
        return IDENTITY.fromStorage(key, storageKey, stored);
    }
}
