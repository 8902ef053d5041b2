package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import io.nodekeeper.agent.culprit.scan.proc.ScanBudget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The mutexes in memory that processes share, and who holds them. The kernel shows that a thread waits on a futex, at which
 * address, but not who holds what the futex stands for. The memory shows it:
 *
 * <ul>
 *   <li>A mutex that is robust or inherits priorities, and every mutex of musl, has the holder's thread in the futex itself,
 *       with the bit {@code FUTEX_WAITERS} (futex(2)).
 *   <li>An ordinary mutex of glibc has 2 in the futex while others wait, and the holder's thread 8 bytes behind it.
 * </ul>
 *
 * <p>Other futexes, such as semaphores, have no holder. So a number counts only if it is a thread whose process maps the
 * same memory. A mutex of one process alone is no concern: its threads hang together. Not thread-safe.
 */
final class SharedMutexes {
    /** The bit of a futex that says that threads wait. */
    private static final int WAITERS = 0x8000_0000;
    /** The bits of a futex that are a thread id; thread ids are below 2^22. */
    private static final int THREAD = 0x3fff_ffff;
    /** The bit of an operation on a futex that only one process uses. */
    private static final int PRIVATE = 128;
    /** What glibc writes into a locked mutex for which others wait. */
    private static final int CONTENDED = 2;
    /** Where glibc's mutex has its holder, in bytes from the futex. */
    private static final int OWNER = 8;

    /** A part of a process's memory that others can map, too. */
    private record Shared(String file, String path, long start, long end, long offset) {}

    private final ProcFiles files;
    private final Set<Integer> pids;
    private final ScanBudget budget;

    SharedMutexes(ProcFiles files, Set<Integer> pids, ScanBudget budget) {
        this.files = files;
        this.pids = pids;
        this.budget = budget;
    }

    /** Whether a thread waits on a futex, by the kernel's function, as Linux 4.19 to 6.18 name them. */
    static boolean isFutex(String where) {
        return where.startsWith("futex_") || where.contains("rt_mutex");
    }

    /** The mutex for which a thread waits that does so on a futex; empty if it is no shared one, or its holder is unknown. */
    Optional<Wait.ForLock> of(int pid, int thread) {
        String[] call = files.read(files.thread(pid, thread).resolve("syscall"))
                .orElse("")
                .strip()
                .split(" ");
        // futex(address, operation, ...) on x86-64 and aarch64.
        if (call.length < 4
                || !call[0].equals("202") && !call[0].equals("98")
                || !call[1].matches("0x[0-9a-f]{1,15}")
                || !call[2].matches("0x[0-9a-f]{1,4}")
                || (Integer.parseInt(call[2].substring(2), 16) & PRIVATE) != 0
                || !budget.spend()) {
            return Optional.empty();
        }
        long address = Long.parseLong(call[1].substring(2), 16);
        return at(pid, address)
                .flatMap(memory -> holder(pid, address)
                        .filter(holder -> holder != pid && maps(holder, memory))
                        .map(holder -> new Wait.ForLock(
                                memory.path() + " at " + (address - memory.start() + memory.offset()),
                                "mutex",
                                List.of(holder))));
    }

    /** The process of the thread that holds the mutex at an address of another process's memory. */
    private Optional<Integer> holder(int pid, long address) {
        return files.memory(pid, address, OWNER + Integer.BYTES).flatMap(bytes -> {
            ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            int futex = words.getInt(0);
            if ((futex & WAITERS) != 0) {
                return process(futex & THREAD);
            }
            return futex == CONTENDED ? process(words.getInt(OWNER)) : Optional.empty();
        });
    }

    private Optional<Integer> process(int thread) {
        if (thread <= 0) {
            return Optional.empty();
        }
        // The kernel shows a thread like a process, but does not list it.
        return files.read(files.process(thread).resolve("status"))
                .map(text -> ProcFiles.field(text, "Tgid:"))
                .filter(text -> text.matches("[1-9]\\d{0,8}"))
                .map(Integer::parseInt)
                .filter(pids::contains);
    }

    private boolean maps(int pid, Shared memory) {
        return budget.spend()
                && maps(pid)
                        .lines()
                        .flatMap(line -> parse(line).stream())
                        .anyMatch(other -> other.file().equals(memory.file()));
    }

    private Optional<Shared> at(int pid, long address) {
        return maps(pid)
                .lines()
                .flatMap(line -> parse(line).stream())
                .filter(memory -> address >= memory.start() && address < memory.end())
                .findFirst();
    }

    private String maps(int pid) {
        return files.read(files.process(pid).resolve("maps")).orElse("");
    }

    /** A line: {@code START-END PERMISSIONS OFFSET DEVICE INODE PATH}; empty if this memory is not shared. */
    private static Optional<Shared> parse(String line) {
        String[] words = line.split("\\s+", 6);
        if (words.length < 5
                || !words[1].endsWith("s")
                || !words[0].matches("[0-9a-f]{1,15}-[0-9a-f]{1,15}")
                || !words[2].matches("[0-9a-f]{1,15}")) {
            return Optional.empty();
        }
        int dash = words[0].indexOf('-');
        String file = words[3] + ":" + words[4];
        return Optional.of(new Shared(
                file,
                words.length == 6 && !words[5].isBlank() ? words[5].strip() : "shared memory " + file,
                Long.parseLong(words[0].substring(0, dash), 16),
                Long.parseLong(words[0].substring(dash + 1), 16),
                Long.parseLong(words[2], 16)));
    }
}
