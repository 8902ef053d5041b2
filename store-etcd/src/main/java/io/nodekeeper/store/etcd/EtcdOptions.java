package io.nodekeeper.store.etcd;

import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.WatchCache;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Where an etcd cluster is and how it is used.
 *
 * @param servers its members, as {@code https://HOST:PORT} or {@code http://HOST:PORT}; at least one
 * @param tls what to trust and to show for {@code https}; empty for the machine's own authorities and no certificate
 * @param prefix what all keys there begin with instead of {@code /registry}, without a slash at its end
 * @param limits how much history is kept in memory
 * @param compaction how often history older than that is dropped; zero for never
 * @param transformer the form in which values are stored
 */
public record EtcdOptions(
        List<URI> servers,
        Optional<SSLContext> tls,
        String prefix,
        WatchCache.Limits limits,
        Duration compaction,
        ValueTransformer transformer) {
    /** Values are stored as they are. */
    public EtcdOptions(
            List<URI> servers, Optional<SSLContext> tls, String prefix, WatchCache.Limits limits, Duration compaction) {
        this(servers, tls, prefix, limits, compaction, ValueTransformer.IDENTITY);
    }

    /** The same with values stored as {@code transformer} says. */
    public EtcdOptions with(ValueTransformer transformer) {
        return new EtcdOptions(servers, tls, prefix, limits, compaction, transformer);
    }

    /** The prefix and the interval of compaction that a kube-apiserver has. */
    public static EtcdOptions of(List<URI> servers, Optional<SSLContext> tls, String prefix) {
        return new EtcdOptions(servers, tls, prefix, WatchCache.Limits.DEFAULT, Duration.ofMinutes(5));
    }
}
