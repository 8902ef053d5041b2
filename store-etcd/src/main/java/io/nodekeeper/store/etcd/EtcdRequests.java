package io.nodekeeper.store.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds requests to etcd, and converts between etcd's keys and values and the store's. Immutable. */
final class EtcdRequests {
    /** The key with which kube-apiservers coordinate compactions. It is not below the prefix. */
    static final ByteString COMPACT_KEY = ByteString.copyFromUtf8("compact_rev_key");

    private static final String REGISTRY = "/registry";
    /** The most objects in one page of a list: 5 MB of nodes of 10 KB. kube-apiserver lists etcd in pages of 500, too. */
    static final int PAGE = 500;

    private final String prefix;
    /** The range of keys below the prefix: the first key, and the key after the last one. */
    private final ByteString first;

    private final ByteString end;

    private final ValueTransformer transformer;

    /** Keys that begin with {@code prefix} instead of {@code /registry}, and values stored as {@code transformer} says. */
    EtcdRequests(String prefix, ValueTransformer transformer) {
        this.prefix = prefix;
        this.transformer = transformer;
        first = ByteString.copyFromUtf8(prefix + "/");
        end = after(first);
    }

    /** The key in etcd of the store's {@code key}. */
    ByteString name(String key) {
        return ByteString.copyFromUtf8(prefix + key.substring(REGISTRY.length()));
    }

    /** Whether etcd's key {@code name} is below the prefix. */
    boolean holds(ByteString name) {
        return name.startsWith(first);
    }

    /** The store's key of etcd's key {@code name}. */
    String key(ByteString name) {
        return REGISTRY + name.toStringUtf8().substring(prefix.length());
    }

    /**
     * The entry of {@code stored}.
     *
     * @throws io.nodekeeper.store.encryption.EncryptionException if it cannot be decrypted
     */
    Entry entry(KeyValue stored) {
        String key = key(stored.getKey());
        byte[] value = transformer.fromStorage(
                key, stored.getKey().toStringUtf8(), stored.getValue().toByteArray());
        return new Entry(key, trimmed(value), stored.getCreateRevision(), stored.getModRevision());
    }

    /** Removes newlines at the end of JSON, which kube-apiserver writes and which would end the line of a watch event. */
    private static byte[] trimmed(byte[] value) {
        int end = value.length;
        if (end > 0 && value[0] == '{') {
            while (value[end - 1] == '\n') {
                end--;
            }
        }
        return end == value.length ? value : Arrays.copyOf(value, end);
    }

    /** A linearizable read of one key. */
    RangeRequest one(String key) {
        return RangeRequest.newBuilder().setKey(name(key)).build();
    }

    /** A linearizable read that returns etcd's revision only, because no object has the prefix itself as its key. */
    RangeRequest nothing() {
        return RangeRequest.newBuilder().setKey(first).setKeysOnly(true).build();
    }

    /** Lists {@code limit} of all objects from key {@code from} on at {@code revision}; 0 for the latest. */
    RangeRequest page(ByteString from, int limit, long revision) {
        return RangeRequest.newBuilder()
                .setKey(from)
                .setRangeEnd(end)
                .setRevision(revision)
                .setLimit(limit)
                .build();
    }

    /** Asks for one key that was changed after {@code revision}, and for the number of all keys. */
    RangeRequest changes(long revision) {
        return RangeRequest.newBuilder()
                .setKey(first)
                .setRangeEnd(end)
                .setMinModRevision(revision + 1)
                .setKeysOnly(true)
                .setLimit(1)
                .build();
    }

    /** The first key of the range. */
    ByteString first() {
        return first;
    }

    /** The next key after {@code key}. */
    static ByteString next(ByteString key) {
        return key.concat(ByteString.copyFrom(new byte[1]));
    }

    /** The end of the range of all keys that begin with {@code start}, whose last byte is not 255. */
    private static ByteString after(ByteString start) {
        byte[] end = start.toByteArray();
        end[end.length - 1]++;
        return ByteString.copyFrom(end);
    }

    /**
     * Watches all objects from {@code revision} on. The range includes the key of compactions, so that its changes do not look
     * like missed events.
     */
    WatchCreateRequest watch(long revision) {
        ByteString low = first;
        ByteString high = end;
        if (ByteString.unsignedLexicographicalComparator().compare(COMPACT_KEY, low) < 0) {
            low = COMPACT_KEY;
        } else if (ByteString.unsignedLexicographicalComparator().compare(COMPACT_KEY, high) >= 0) {
            high = next(COMPACT_KEY);
        }
        return WatchCreateRequest.newBuilder()
                .setKey(low)
                .setRangeEnd(high)
                .setStartRevision(revision)
                .build();
    }

    /** Writes {@code key} if it is at {@code expected}, otherwise reads it; {@code before} asks for the replaced version. */
    TxnRequest put(String key, byte[] value, long expected, boolean before) {
        ByteString name = name(key);
        return guarded(name, expected)
                .addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(name)
                                .setValue(ByteString.copyFrom(transformer.toStorage(key, name.toStringUtf8(), value)))
                                .setPrevKv(before)))
                .build();
    }

    /** Deletes {@code key} if it is at {@code expected}, otherwise reads it. */
    TxnRequest delete(String key, long expected) {
        ByteString name = name(key);
        return guarded(name, expected)
                .addSuccess(RequestOp.newBuilder()
                        .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(name)))
                .build();
    }

    private static TxnRequest.Builder guarded(ByteString name, long expected) {
        return TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(name)
                        .setTarget(Compare.CompareTarget.MOD)
                        .setResult(Compare.CompareResult.EQUAL)
                        .setModRevision(expected))
                .addFailure(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(name)));
    }

    /** Writes {@code revision} to the key of compactions if the key has version {@code times}, otherwise reads the key. */
    static TxnRequest agree(long times, long revision) {
        return TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(COMPACT_KEY)
                        .setTarget(Compare.CompareTarget.VERSION)
                        .setResult(Compare.CompareResult.EQUAL)
                        .setVersion(times))
                .addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(COMPACT_KEY)
                                .setValue(ByteString.copyFrom(Long.toString(revision), StandardCharsets.US_ASCII))))
                .addFailure(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(COMPACT_KEY)))
                .build();
    }
}
