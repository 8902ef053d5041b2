package io.nodekeeper.apiserver.eventratelimit;

import io.nodekeeper.time.TokenBucket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Applies the rate limits for writes of Events. Thread-safe. */
public final class EventRateLimit {
    /** The longest key that is stored as it is. Longer ones are stored as a hash, because clients choose their length. */
    private static final int KEY = 256;

    /** Users whose bytes are counted. The least recently active one is removed, and starts with a full burst again. */
    private static final int USERS = Limit.CACHE_SIZE;

    /** The token buckets of one limit by key, in the order of use. Bound: {@code size} buckets. */
    private static final class Buckets extends LinkedHashMap<String, TokenBucket> {
        private static final long serialVersionUID = 1;
        private final int size;

        private Buckets(int size) {
            super(16, 0.75f, true);
            this.size = size;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, TokenBucket> eldest) {
            return size() > size;
        }
    }

    private final EventLimits limits;
    private final List<Buckets> buckets;
    private final Buckets bytes = new Buckets(USERS);

    /** Starts with full buckets. */
    public EventRateLimit(EventLimits limits) {
        this.limits = limits;
        buckets = limits.limits().stream()
                .map(limit -> new Buckets(limit.cacheSize()))
                .toList();
    }

    /**
     * Counts a write. A refused write counts, too, as in Kubernetes.
     *
     * @param now nanoseconds of a monotonic clock
     * @return the reason for the refusal; empty if the write is allowed
     */
    public synchronized Optional<String> check(EventWrite write, long now) {
        List<String> reached = new ArrayList<>();
        for (int i = 0; i < buckets.size(); i++) {
            Limit limit = limits.limits().get(i);
            String key = bounded(write.key(limit.type()));
            TokenBucket bucket =
                    buckets.get(i).computeIfAbsent(key, absent -> new TokenBucket(limit.qps(), limit.burst(), now));
            if (!bucket.tryTake(1, now)) {
                reached.add("limit reached on type " + limit.type().text() + " for key " + key);
            }
        }
        String user = bounded(write.user());
        TokenBucket bucket =
                bytes.computeIfAbsent(user, absent -> new TokenBucket(limits.userBytes(), limits.userBurst(), now));
        if (reached.isEmpty() && !bucket.tryTake(write.bytes(), now)) {
            reached.add("limit of " + limits.userBytes() + " bytes per second reached for user " + user);
        }
        return reached.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", reached));
    }

    private static String bounded(String key) {
        if (key.length() <= KEY) {
            return key;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return "sha256:" + HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java lacks SHA-256", e);
        }
    }
}
