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

/** Decides which writes of Events are made. Thread-safe. */
public final class EventRateLimit {
    /** Longer keys are kept as a hash: clients decide what stands in them. */
    private static final int KEY = 256;

    /** Users whose bytes are counted; who writes least recently is forgotten, and begins with a full burst again. */
    private static final int USERS = Limit.CACHE_SIZE;

    /** The buckets of one limit by what shares it, in the order of use. Bound: {@code size} of them. */
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

    /** Limits from now on. */
    public EventRateLimit(EventLimits limits) {
        this.limits = limits;
        buckets = limits.limits().stream()
                .map(limit -> new Buckets(limit.cacheSize()))
                .toList();
    }

    /**
     * Counts a write; a refused one counts, too, as in Kubernetes.
     *
     * @param now nanoseconds of any clock that does not go back
     * @return why the write is refused; empty if it may be made
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
            reached.add("limit of " + limits.userBytes() + " bytes a second reached for user " + user);
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
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
