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

/** What is said to etcd, and how its keys and values become the store's. Immutable. */
final class Requests {
    /** Where Kubernetes' servers agree on who compacts to what. Not below the prefix. */
    static final ByteString COMPACT_KEY = ByteString.copyFromUtf8("compact_rev_key");

    private static final String REGISTRY = "/registry";
    /** What one answer to a list may hold. Chosen: some MB of nodes. */
    private static final int PAGE = 500;

    private final String prefix;
    /** The first key that may be there, and what follows the last one. */
    private final ByteString first;

    private final ByteString end;

    private final ValueTransformer transformer;

    /** Keys that begin with {@code prefix} instead of {@code /registry}, and values stored as {@code transformer} says. */
    Requests(String prefix, ValueTransformer transformer) {
        this.prefix = prefix;
        this.transformer = transformer;
        first = ByteString.copyFromUtf8(prefix + "/");
        end = after(first);
    }

    /** The name in etcd of what the store calls {@code key}. */
    ByteString name(String key) {
        return ByteString.copyFromUtf8(prefix + key.substring(REGISTRY.length()));
    }

    /** Whether the store holds what etcd calls {@code name}. */
    boolean holds(ByteString name) {
        return name.startsWith(first);
    }

    /** What the store calls {@code name}. */
    String key(ByteString name) {
        return REGISTRY + name.toStringUtf8().substring(prefix.length());
    }

    /**
     * The entry that {@code stored} is.
     *
     * @throws io.nodekeeper.store.encryption.EncryptionException if it cannot be decrypted
     */
    Entry entry(KeyValue stored) {
        String key = key(stored.getKey());
        byte[] value = transformer.fromStorage(
                key, stored.getKey().toStringUtf8(), stored.getValue().toByteArray());
        return new Entry(key, trimmed(value), stored.getCreateRevision(), stored.getModRevision());
    }

    /** Kubernetes ends JSON values with a newline, which would end a watch's line too early. */
    private static byte[] trimmed(byte[] value) {
        int end = value.length;
        if (end > 0 && value[0] == '{') {
            while (value[end - 1] == '\n') {
                end--;
            }
        }
        return end == value.length ? value : Arrays.copyOf(value, end);
    }

    /** Reads one key as of now. */
    RangeRequest one(String key) {
        return RangeRequest.newBuilder().setKey(name(key)).build();
    }

    /** Asks for etcd's revision as of now and for nothing else: there is no object at the prefix itself. */
    RangeRequest nothing() {
        return RangeRequest.newBuilder().setKey(first).setKeysOnly(true).build();
    }

    /** Reads a page of all objects from {@code from} on as they were at {@code revision}; 0 for now. */
    RangeRequest page(ByteString from, long revision) {
        return RangeRequest.newBuilder()
                .setKey(from)
                .setRangeEnd(end)
                .setRevision(revision)
                .setLimit(PAGE)
                .build();
    }

    /** Asks what was changed after {@code revision}, one of it, and how many objects there are now. */
    RangeRequest changes(long revision) {
        return RangeRequest.newBuilder()
                .setKey(first)
                .setRangeEnd(end)
                .setMinModRevision(revision + 1)
                .setKeysOnly(true)
                .setLimit(1)
                .build();
    }

    /** The first key that may be there. */
    ByteString first() {
        return first;
    }

    /** The key right after {@code key}. */
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
     * Follows all objects from {@code revision} on. The one range that is followed reaches to the key where compactions are
     * agreed on, so that these do not look like changes that were missed.
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

    /** Writes {@code key} if it is at {@code expected}, else reads it; {@code before} asks for what it replaces. */
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

    /** Removes {@code key} if it is at {@code expected}, else reads it. */
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

    /** Notes {@code revision} as the one to compact to if the note was written {@code times} times, else reads it. */
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
