package io.nodekeeper.store.encryption;

import java.util.List;
import java.util.function.Predicate;

/**
 * Stores the objects of each resource as its rule says, as Kubernetes' EncryptionConfiguration does: the first provider of
 * the first rule that covers an object writes it, and each of that rule's providers reads it. Objects that no rule covers are
 * stored as they are. Immutable.
 */
public final class ResourceTransformer implements ValueTransformer {

    /**
     * How some resources are stored.
     *
     * @param covers whether the object at a key, {@code /registry/RESOURCE/...}, is one of them
     * @param providers at least one
     */
    public record Rule(Predicate<String> covers, List<EncryptionProvider> providers) {
        /** Copies the list. */
        public Rule {
            providers = List.copyOf(providers);
        }
    }

    private final List<Rule> rules;

    /** The first rule that covers an object counts. */
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
                                : key + " is not encrypted, and the providers of --encryption-provider-config read no"
                                        + " such object; expected \"identity\" at the end of " + rule.providers,
                        null);
            }
        }
        return IDENTITY.fromStorage(key, storageKey, stored);
    }
}
