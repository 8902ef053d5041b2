package io.nodekeeper.store;

/** The form of the store's keys: {@code /registry/RESOURCE/...}, as in a kube-apiserver's etcd. */
public final class StoreKeys {
    private StoreKeys() {}

    /**
     * The resource prefix {@code /registry/RESOURCE/} of a key or of a longer prefix. History is kept for each of these.
     * Returns {@code key} itself if it has no third slash.
     */
    public static String resource(String key) {
        int second = key.indexOf('/', 1);
        int third = second < 0 ? -1 : key.indexOf('/', second + 1);
        return third < 0 ? key : key.substring(0, third + 1);
    }
}
