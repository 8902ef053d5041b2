package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.reads.ListOptions;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Deletes collections in batches, so that a large one needs no more memory than a small one. Thread-safe. */
public final class CollectionDeleter {
    /** The most objects in a batch: one or two groups of writes, without occupying all seats of other writers. */
    private static final int OBJECTS = 32;

    /** The most bytes in a batch of at least one object: a parsed object needs about ten times its bytes. */
    private static final long BYTES = 1 << 20;

    /** The most bytes of objects that are parsed for a batch: some 200 ms of work, after which other work has its turn. */
    private static final long EXAMINED = 16 << 20;

    private final Store store;
    private final ObjectDeleter deleter;

    CollectionDeleter(Store store, ObjectDeleter deleter) {
        this.store = store;
        this.deleter = deleter;
    }

    /**
     * Deletes the objects that a list with the same options has; {@code all} is the request for the collection, in
     * whose turn all batches but the first are deleted.
     *
     * @throws ApiException if there is no such list: its revision is yet to come or too old
     */
    CompletableFuture<Void> delete(
            Resource resource, String namespace, WriteRequest all, ListOptions selected, DeleteOptions options) {
        String prefix = resource.prefix(namespace);
        ListOptions.Part part = selected.part(resource, namespace, store.revision());
        CompletableFuture<Void> done = new CompletableFuture<>();
        next(new Job(resource, entries(prefix, selected, part), all, selected, options, done), part.limit());
        return done;
    }

    private Iterator<Entry> entries(String prefix, ListOptions selected, ListOptions.Part part) {
        if (part.at() > store.revision()) {
            throw ListOptions.tooNew(part.at(), store.revision());
        }
        try {
            return store.list(prefix, part.after(), 0, part.at()).entries().iterator();
        } catch (StoreException.Compacted e) {
            throw selected.tooOld();
        }
    }

    private record Job(
            Resource resource,
            Iterator<Entry> entries,
            WriteRequest all,
            ListOptions selected,
            DeleteOptions options,
            CompletableFuture<Void> done) {}

    /** Deletes the next objects, {@code left} at most; 0 for all. */
    private void next(Job job, int left) {
        try {
            List<CompletableFuture<?>> some = new ArrayList<>();
            long bytes = 0;
            long examined = 0;
            int most = left == 0 ? OBJECTS : Math.min(OBJECTS, left);
            while (job.entries.hasNext() && some.size() < most && bytes < BYTES && examined < EXAMINED) {
                Entry entry = job.entries.next();
                examined += entry.length();
                if (job.selected.isAll() || job.selected.matches(job.resource, entry)) {
                    bytes += entry.length();
                    some.add(delete(job, entry));
                }
            }
            CompletableFuture.allOf(some.toArray(CompletableFuture[]::new))
                    .whenCompleteAsync(
                            (deleted, error) -> {
                                if (error != null) {
                                    job.done.completeExceptionally(Failures.cause(error));
                                } else if (job.entries.hasNext() && (left == 0 || left > some.size())) {
                                    next(job, left == 0 ? 0 : left - some.size());
                                } else {
                                    job.done.complete(null);
                                }
                            },
                            job.all.turn());
        } catch (RuntimeException e) {
            job.done.completeExceptionally(e);
        }
    }

    private CompletableFuture<?> delete(Job job, Entry entry) {
        Resource resource = job.resource;
        String place = entry.key().substring(resource.prefix("").length());
        int slash = place.indexOf('/');
        WriteRequest one = resource.type().namespaced()
                ? job.all.about(place.substring(0, slash), place.substring(slash + 1))
                : job.all.about("", place);
        return deleter.delete(one, job.options).handle((deleted, error) -> {
            if (error != null && !(Failures.cause(error) instanceof ApiException refused && refused.code() == 404)) {
                throw new CompletionException(Failures.cause(error));
            }
            // Deleted objects are not kept; an object that another client has deleted counts as deleted.
            return JsonObject.EMPTY;
        });
    }
}
