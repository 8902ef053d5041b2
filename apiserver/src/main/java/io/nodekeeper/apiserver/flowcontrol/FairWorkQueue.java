package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.time.Clock;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Heavy work, such as lists of everything and large bodies: a few pieces at a time beside the threads that serve heartbeats,
 * the users by what they have cost. Thread-safe.
 *
 * <p>Each user has an account of the thread time that their work took. Next is always the work of the waiting user with the
 * lowest account, so users who keep the threads busy share them equally, however heavy the pieces of one of them are, and
 * work of a user who comes with little waits for the pieces that run and for no others. A user who was away gets no credit
 * for that: their account begins at that of the user served last. Accounts end when nothing runs or waits any more.
 *
 * <p>Work also has a weight, the memory that it holds until it is {@linkplain #release released}; no work begins that would
 * exceed the limit, unless it is the only one.
 */
final class FairWorkQueue {
    /** Pieces of work of one user that wait: as many as the writes that a server has under way by default. */
    private static final int WAITING = 200;

    /** The least that a piece of work counts, nanoseconds, so that users take turns where the clock does not move. */
    private static final long LEAST = 1_000;

    /** Users whose debts are kept though nothing of theirs runs or waits: more than ever share the threads at a time. */
    private static final int DEBTORS = 1_000;

    /** Work and what it weighs. */
    private record Work(long weight, Runnable task) {}

    /** What a user has cost, and what of theirs waits. */
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
     * Runs {@code task}, which throws nothing, when it is the turn of {@code user}.
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
            account.waiting.add(new Work(weight, task));
            if (running == atOnce || next() == null) {
                return true;
            }
            running++;
        }
        workers.execute(this::work);
        return true;
    }

    /** The memory of work that weighed {@code released} is free. */
    void release(long released) {
        synchronized (this) {
            weight -= released;
            if (running == atOnce || next() == null) {
                return;
            }
            running++;
        }
        workers.execute(this::work);
    }

    private void work() {
        // One piece after another on the same thread: a chain of calls would grow with what waits.
        for (Started started = begin(); started != null; started = begin()) {
            long began = clock.nanoTime();
            boolean returned = false;
            try {
                started.work.task.run();
                returned = true;
            } finally {
                end(started, Math.max(LEAST, clock.nanoTime() - began));
                if (!returned) {
                    // The thread is lost to an error of the machine, its place is not.
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
        // Debts are kept while others wait for the same threads, and no longer.
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
