package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.time.Clock;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;
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
 * next, and of several with the same account the one that was opened first. Busy users therefore share the threads equally,
 * however heavy each piece of their work is, and a user with little work waits only for the running pieces. A user gets no credit for
 * idle time: an account without work starts at that of the user served last, unless it has cost more already. Accounts end when
 * nothing runs or waits.
 *
 * <p>After each piece the thread goes back to the executor, so other work of the executor has its turn, too, even if something
 * always waits here.
 *
 * <p>Work also has a weight, the memory that it uses until it is {@linkplain #release released}; work that would exceed
 * the limit does not start unless it is the only one.
 */
public final class FairWorkQueue {
    private static final Logger log = LoggerFactory.getLogger(FairWorkQueue.class);

    /** Requests of one user that wait to begin: as many as the writes that a server has under way by default. */
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
        private final String user;
        private final long number;
        private long cost;
        private int running;
        /** The rest of what has begun, which comes first: it holds what it has read so far. */
        private final ArrayDeque<Work> begun = new ArrayDeque<>();

        private final ArrayDeque<Work> waiting = new ArrayDeque<>();

        private Account(String user, long number) {
            this.user = user;
            this.number = number;
        }

        private boolean waits() {
            return !begun.isEmpty() || !waiting.isEmpty();
        }

        private ArrayDeque<Work> next() {
            return begun.isEmpty() ? waiting : begun;
        }
    }

    private record Started(Account account, Work work) {}

    private final Executor workers;
    private final int atOnce;
    private final Clock clock;
    private final long mostWeight;
    /** By user: those whose work runs or waits, at most one for each request, and {@link #idle}. */
    private final Map<String, Account> accounts = new HashMap<>();
    /** The accounts whose work waits, the lowest first. A cost changes only while its account is not in here. */
    private final TreeSet<Account> poorest = new TreeSet<>(
            Comparator.<Account>comparingLong(account -> account.cost).thenComparingLong(account -> account.number));
    /** The accounts without work, the longest idle first. */
    private final LinkedHashSet<Account> idle = new LinkedHashSet<>();

    private long opened;
    /** Pieces of work that run or for which a thread was asked. */
    private int running;

    private long weight;
    /** The account of the user served last, at that time. */
    private long level;

    /**
     * Runs at most {@code atOnce} tasks at a time, which together weigh at most {@code mostWeight}, on {@code workers}, which have
     * threads of their own: one that ran tasks at once on the caller's thread would nest all that waits.
     */
    FairWorkQueue(Executor workers, int atOnce, Clock clock, long mostWeight) {
        this.workers = workers;
        this.atOnce = atOnce;
        this.clock = clock;
        this.mostWeight = mostWeight;
    }

    /** As above, for tasks without weight. */
    public FairWorkQueue(Executor workers, int atOnce, Clock clock) {
        this(workers, atOnce, clock, 0);
    }

    /**
     * Runs {@code task}, the rest of a request that has begun, when it is the turn of {@code user}, before requests of this user that
     * have not. However much of this user waits, it is not refused: a request has one rest at a time. The task must not throw.
     */
    public void resume(String user, Runnable task) {
        synchronized (this) {
            Account account = active(user);
            account.begun.add(new Work(0, task));
            poorest.add(account);
        }
        startNext();
    }

    /**
     * Runs {@code task}, which must not throw, when it is the turn of {@code user}.
     *
     * @param weight to be {@linkplain #release released} once the work's memory is free; 0 for none
     * @return whether it will run; false if too much of this user waits already
     */
    boolean run(String user, long weight, Runnable task) {
        synchronized (this) {
            Account account = active(user);
            if (account.waiting.size() >= WAITING) {
                return false;
            }
            account.waiting.add(new Work(weight, task));
            poorest.add(account);
        }
        startNext();
        return true;
    }

    /** Releases the memory of work with the weight {@code released}. */
    void release(long released) {
        synchronized (this) {
            weight -= released;
        }
        startNext();
    }

    /** The account of {@code user}, to which work is added. */
    private Account active(String user) {
        Account account = accounts.computeIfAbsent(user, name -> new Account(name, opened++));
        if (account.running == 0 && !account.waits()) {
            account.cost = Math.max(account.cost, level);
            idle.remove(account);
        }
        return account;
    }

    /** Whether something waits that is not too heavy for now. */
    private boolean fits() {
        return !poorest.isEmpty()
                && (weight == 0 || weight + poorest.getFirst().next().element().weight <= mostWeight);
    }

    /** Starts the next piece of work if there is a place for it. */
    private void startNext() {
        synchronized (this) {
            if (running == atOnce || !fits()) {
                return;
            }
            running++;
        }
        start();
    }

    private void start() {
        if (!asksForThread()) {
            // What waits begins with the next work, or its request's time ends.
            synchronized (this) {
                running--;
            }
        }
    }

    /** Asks for a thread for a place that is taken. Returns whether there will be one. */
    private boolean asksForThread() {
        try {
            workers.execute(this::work);
            return true;
        } catch (RejectedExecutionException e) {
            log.debug("the server is closed; work waits", e);
            return false;
        } catch (OutOfMemoryError e) {
            log.warn("work waits, because no thread can be started: {}", e.toString());
            return false;
        }
    }

    private void work() {
        boolean goesOn = true;
        while (goesOn) {
            goesOn = doNext();
        }
    }

    /** Does the next piece of work. Returns whether this thread has to do the one after it, because no other thread can be had. */
    private boolean doNext() {
        Started started = begin();
        if (started == null) {
            return false;
        }
        long began = clock.nanoTime();
        boolean returned = false;
        boolean goesOn = false;
        try {
            started.work.task.run();
            returned = true;
        } finally {
            boolean passes = end(started.account, Math.max(LEAST, clock.nanoTime() - began));
            if (passes && returned) {
                goesOn = !asksForThread();
            } else if (passes) {
                // An Error ends the thread.
                start();
            }
        }
        return goesOn;
    }

    private synchronized @Nullable Started begin() {
        if (!fits()) {
            running--;
            return null;
        }
        Account account = poorest.removeFirst();
        Work work = account.next().remove();
        account.running++;
        level = Math.max(level, account.cost);
        // Until the cost is known, so that another thread takes the next user.
        account.cost += LEAST;
        if (account.waits()) {
            poorest.add(account);
        }
        weight += work.weight;
        return new Started(account, work);
    }

    /** A piece of work has taken {@code cost} nanoseconds. Returns whether its place passes to another one. */
    private synchronized boolean end(Account account, long cost) {
        boolean waits = poorest.remove(account);
        account.running--;
        account.cost += cost - LEAST;
        if (waits) {
            poorest.add(account);
        } else if (account.running == 0) {
            idle.add(account);
        }
        if (idle.size() == accounts.size()) {
            // Accounts are kept only while others use the same threads.
            accounts.clear();
            idle.clear();
        } else if (idle.size() > DEBTORS) {
            accounts.remove(idle.removeFirst().user);
        }
        if (!fits()) {
            running--;
            return false;
        }
        return true;
    }
}
