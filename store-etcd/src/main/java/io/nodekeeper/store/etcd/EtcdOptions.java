package io.nodekeeper.store.etcd;

import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.WatchCache;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * The endpoints of an etcd cluster and the options of its use.
 *
 * @param servers the endpoints of the members, as {@code https://HOST:PORT} or {@code http://HOST:PORT}; at least one
 * @param tls trusted authorities and client certificate for {@code https}; empty for the system's authorities and no certificate
 * @param prefix the prefix of all keys in etcd, which replaces {@code /registry}; without a trailing slash
 * @param limits the limits of the history in memory
 * @param compaction the interval of compactions, as kube-apiserver's {@code --etcd-compaction-interval}; zero to disable them
 * @param transformer encodes and decodes stored values
 */
public record EtcdOptions(
        List<URI> servers,
        Optional<SSLContext> tls,
        String prefix,
        WatchCache.Limits limits,
        Duration compaction,
        ValueTransformer transformer) {
    /** Options without encryption of values. */
    public EtcdOptions(
            List<URI> servers, Optional<SSLContext> tls, String prefix, WatchCache.Limits limits, Duration compaction) {
        this(servers, tls, prefix, limits, compaction, ValueTransformer.IDENTITY);
    }

    /** The same options with {@code transformer}. */
    public EtcdOptions with(ValueTransformer transformer) {
        return new EtcdOptions(servers, tls, prefix, limits, compaction, transformer);
    }

    /** Options with kube-apiserver's default compaction interval of 5 minutes. */
    public static EtcdOptions of(List<URI> servers, Optional<SSLContext> tls, String prefix) {
        return new EtcdOptions(servers, tls, prefix, WatchCache.Limits.DEFAULT, Duration.ofMinutes(5));
    }
}
