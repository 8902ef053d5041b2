package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.time.Clock;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs heavy work, such as lists of all objects and large bodies, on a few worker threads outside the event loops,
 * fairly among users by the time that their work took. Thread-safe.
 *
 * <p>Each user has an account of the thread time of their work. The waiting user with the lowest account is always
 * next. Busy users therefore share the threads equally, however heavy each piece of their work is, and a user with
 * little work waits only for the running pieces. A user gets no credit for idle time: an account without work starts at
 * that of the user served last, unless it has cost more already. Accounts end when nothing runs or waits.
 *
 * <p>Work also has a weight, the memory that it uses until it is {@linkplain #release released}; work that would exceed
 * the limit does not start unless it is the only one.
 */
final class FairWorkQueue {
    private static final Logger log = LoggerFactory.getLogger(FairWorkQueue.class);

    /** Pieces of work of one user that wait: as many as the writes that a server has under way by default. */
    private static final int WAITING = 200;

    /**
     * The smallest cost of a piece of work in nanoseconds, so that users take turns even if the clock does not advance.
     */
    private static final long LEAST = 1_000;

    /** The most users without running or waiting work whose accounts are kept: more than ever share the threads. */
    private static final int DEBTORS = 1_000;

    /** Work and what it weighs. */
    private record Work(long weight, Runnable task) {}

    /** The account of a user, with their waiting work. */
    private static final class Account {
        private long cost;
        private int running;
        private final ArrayDeque<Work> waiting = new ArrayDeque<>();

        private Account(long cost) {
            this.cost = cost;
        }

        private boolean isIdle() {
            return running == 0 && waiting.isEmpty();
        }
    }

    private final Executor workers;
    private final int atOnce;
    private final Clock clock;
    private final long mostWeight;
    /** By user: those whose work runs or waits, at most one for each request, and {@link #DEBTORS} more. */
    private final Map<String, Account> accounts = new HashMap<>();

    private int running;
    private long weight;
    /** The account of the user served last, at that time. */
    private long level;

    /** Runs at most {@code atOnce} tasks at a time on {@code workers}, which together weigh at most {@code mostWeight}. */
    FairWorkQueue(Executor workers, int atOnce, Clock clock, long mostWeight) {
        this.workers = workers;
        this.atOnce = atOnce;
        this.clock = clock;
        this.mostWeight = mostWeight;
    }

    /**
     * Runs {@code task}, which must not throw, when it is the turn of {@code user}.
     *
     * @param weight to be {@linkplain #release released} once the work's memory is free; 0 for none
     * @return whether it will run; false if too much of this user waits already
     */
    boolean run(String user, long weight, Runnable task) {
        synchronized (this) {
            Account account = accounts.computeIfAbsent(user, name -> new Account(level));
            if (account.waiting.size() >= WAITING) {
                return false;
            }
            if (account.isIdle()) {
                account.cost = Math.max(account.cost, level);
            }
            account.waiting.add(new Work(weight, task));
            if (running == atOnce || next() == null) {
                return true;
            }
            running++;
        }
        start();
        return true;
    }

    private void start() {
        try {
            workers.execute(this::work);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // No thread can be started. What waits begins with the next work, or its request's time ends.
            log.warn("work waits, because no thread can be started: {}", e.toString());
            synchronized (this) {
                running--;
            }
        }
    }

    /** Releases the memory of work with the weight {@code released}. */
    void release(long released) {
        synchronized (this) {
            weight -= released;
            if (running == atOnce || next() == null) {
                return;
            }
            running++;
        }
        start();
    }

    private void work() {
        // A loop on the same thread: recursion would grow with the waiting work.
        for (Started started = begin(); started != null; started = begin()) {
            long began = clock.nanoTime();
            boolean returned = false;
            try {
                started.work.task.run();
                returned = true;
            } finally {
                end(started, Math.max(LEAST, clock.nanoTime() - began));
                if (!returned) {
                    // An Error ends the thread, but its place must be freed.
                    replace();
                }
            }
        }
    }

    private void replace() {
        synchronized (this) {
            running--;
        }
        release(0);
    }

    private record Started(String user, Work work) {}

    private synchronized @Nullable Started begin() {
        String user = next();
        if (user == null) {
            running--;
            return null;
        }
        Account account = accounts.get(user);
        if (account == null) {
            throw new IllegalStateException("no account of " + user + ", whose turn it is");
        }
        Work work = account.waiting.remove();
        account.running++;
        level = Math.max(level, account.cost);
        // Until the cost is known, so that another thread takes the next user.
        account.cost += LEAST;
        weight += work.weight;
        return new Started(user, work);
    }

    private synchronized void end(Started ended, long cost) {
        Account account = accounts.get(ended.user);
        if (account != null) {
            account.running--;
            account.cost += cost - LEAST;
        }
        // Accounts are kept only while others wait for the same threads.
        boolean quiet = accounts.values().stream().allMatch(Account::isIdle);
        if (quiet || accounts.size() > DEBTORS) {
            accounts.values().removeIf(Account::isIdle);
        }
    }

    /** The user whose turn it is; null if nothing waits, or what waits is too heavy for now. */
    private @Nullable String next() {
        String poorest = null;
        Account least = null;
        for (Map.Entry<String, Account> entry : accounts.entrySet()) {
            Account account = entry.getValue();
            if (!account.waiting.isEmpty() && (least == null || account.cost < least.cost)) {
                poorest = entry.getKey();
                least = account;
            }
        }
        if (least == null) {
            return null;
        }
        boolean fits = weight == 0 || weight + least.waiting.element().weight <= mostWeight;
        return fits ? poorest : null;
    }
}
