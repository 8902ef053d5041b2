package io.nodekeeper.it.faults;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Small programs that take part in faults, in Perl, which each Debian has. Each writes the file that is its last argument
 * once it is in effect.
 */
final class Programs {
    private static final String READY = "sub ready { open my $f, '>', $ARGV[-1] or die; close $f; } ";

    private Programs() {}

    /** Holds a lock on {@code file} for ever: with flock(2), or a record lock of fcntl(2). */
    static List<String> lock(Path file, boolean record, Path ready) {
        String take = record
                ? "my $l = pack('s s x4 q q i x4', 1, 0, 0, 0, 0); fcntl(F, 7, $l) or die $!; "
                : "flock(F, 2) or die $!; ";
        return perl(
                READY + "$| = 1; open F, '+>>', $ARGV[0] or die $!; " + take + "ready(); sleep 1000 while 1;",
                file,
                ready);
    }

    /** Waits for the lock that {@link #lock} holds; shell. */
    static String takeLock(Path file, boolean record) {
        return record
                ? "perl -e 'open F, \"+>>\", $ARGV[0] or die $!;"
                        + " my $l = pack(\"s s x4 q q i x4\", 1, 0, 0, 0, 0); fcntl(F, 7, $l) or die $!' " + file
                : "flock " + file + " true";
    }

    /** Maps the file in the first argument as shared memory at {@code $at}; the numbers are those of x86-64 and aarch64. */
    private static final String MAP =
            "use POSIX; my $arm = (POSIX::uname())[4] eq \"aarch64\"; open F, \"+>>\", $ARGV[0];"
                    + " my $at = syscall($arm ? 222 : 9, 0, 4096, 3, 1, fileno F, 0); ";

    /** Holds a mutex in the shared memory {@code file} for ever, as glibc's has it: 2, a count, the holder's thread. */
    static List<String> mutex(Path file, Path ready) {
        return perl(
                READY + "open W, '>', $ARGV[0] or die $!; syswrite W, pack 'l l l', 2, 1, $$; " + MAP
                        + "ready(); sleep 1000 while 1;",
                file,
                ready);
    }

    /** Waits for the mutex that {@link #mutex} holds, until its holder ends; shell. */
    static String takeMutex(Path file, long holder) {
        return "perl -e '" + MAP + "while (kill 0, $ARGV[1]) { my $t = pack \"q q\", 5, 0;"
                + " syscall($arm ? 98 : 202, $at, 0, 2, $t, 0, 0); }' " + file + " " + holder;
    }

    /** Traces all threads of a process and lets none of them run, as a forgotten debugger does. */
    static List<String> tracer(long pid, Path ready) {
        return perl(READY + """
                        my $call = (POSIX::uname())[4] eq 'aarch64' ? 117 : 101;
                        my %done;
                        for my $round (1 .. 3) {
                          for my $task (glob "/proc/$ARGV[0]/task/*") {
                            $task =~ /(\\d+)$/; my $tid = $1 + 0; next if $done{$tid}++;
                            my ($seize, $interrupt) = (0x4206, 0x4207);
                            next if syscall($call, $seize, $tid, 0, 0) != 0;
                            syscall($call, $interrupt, $tid, 0, 0);
                          }
                        }
                        ready(); sleep 1000 while 1;
                        """, "-MPOSIX", pid, ready);
    }

    /** Listens at a socket of the file system, takes connections and answers none. */
    static List<String> listener(Path socket, String answer, Path ready) {
        String serve = switch (answer) {
            case "silent" -> "push @c, $c;";
            case "close" -> "close $c;";
            default -> "syswrite $c, \"no HTTP/2 here\\n\" x 5; sysread $c, my $b, 4096; close $c;";
        };
        return perl(
                READY + "use Socket; my @c; unlink $ARGV[0]; socket(S, PF_UNIX, SOCK_STREAM, 0) or die $!;"
                        + " bind(S, sockaddr_un($ARGV[0])) or die $!; listen(S, 64); $SIG{PIPE} = 'IGNORE'; ready();"
                        + " while (accept(my $c, S)) { " + serve + " }",
                socket,
                ready);
    }

    /** Asks at the socket and waits for the answer; shell. */
    static String ask(Path socket) {
        return "perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0])) or exit 1;"
                + " syswrite S, \"request\\n\"; sysread S, my $b, 10' " + socket;
    }

    /** Keeps the writing end of a FIFO open and writes nothing. */
    static List<String> writer(Path fifo, Path ready) {
        return perl(READY + "open F, '+<', $ARGV[0] or die $!; ready(); sleep 1000 while 1;", fifo, ready);
    }

    /**
     * Serves an empty FUSE file system at {@code mountPoint}; from when {@code silent} exists on it takes requests and
     * answers none, or each after as many seconds as the file says. With {@code heir} a child has the connection open, too,
     * and does nothing; its pid is in that file.
     */
    static List<String> fuse(Path mountPoint, Path silent, Optional<Path> heir, Path ready) {
        return perl(READY + """
                        $^F = 1000; open(my $dev, '+<', '/dev/fuse') or die $!; my $fd = fileno $dev;
                        system('mount', '-i', '-t', 'fuse', '-o', "fd=$fd,rootmode=40000,user_id=0,group_id=0",
                            'nodekeeper-fuse', $ARGV[0]) == 0 or die 'mount';
                        if ($ARGV[2]) {
                          my $heir = fork // die $!;
                          sleep 1000 while !$heir;
                          open my $h, '>', $ARGV[2] or die $!; print $h $heir; close $h;
                        }
                        my $ok = 0;
                        while (sysread $dev, my $in, 200000) {
                          my ($len, $op, $unique, $node) = unpack 'L L Q Q', $in;
                          my $begin = time;
                          while (-e $ARGV[1] && $op != 26) {
                            if (-s $ARGV[1]) { open my $s, '<', $ARGV[1]; my $late = <$s>; last if time - $begin > $late; }
                            select undef, undef, undef, 0.1;
                          }
                          my ($error, $out) = (-38, '');
                          if ($op == 26) {
                            ($error, $out) = (0, pack 'L L L L S S L L S S L7 L', 7, 31, 65536, 0, 12, 9, 65536, 1, 32, 0,
                                0, 0, 0, 0, 0, 0, 0, 0);
                            $out = substr $out, 0, 64;
                          } elsif ($op == 3) {
                            ($error, $out) = (0, pack 'Q L L Q6 L3 L7', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                                040755, 2, 0, 0, 0, 4096, 0);
                          } elsif ($op == 17) {
                            ($error, $out) = (0, pack 'Q5 L10', 1000, 500, 400, 100, 60, 4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0);
                          } elsif ($op == 1) { $error = -2; }
                          elsif ($op == 2 || $op == 42 || $op == 36) { next; }
                          syswrite $dev, pack('L l Q', 16 + length $out, $error, $unique) . $out;
                          ready() if !$ok++;
                        }
                        """, mountPoint, silent, heir.map(Path::toString).orElse(""), ready);
    }

    private static List<String> perl(String program, Object... arguments) {
        List<String> command = new ArrayList<>(List.of("perl"));
        int first = 0;
        while (first < arguments.length && arguments[first].toString().startsWith("-")) {
            command.add(arguments[first++].toString());
        }
        // One line: command lines are shown in messages.
        command.addAll(List.of("-e", program.replaceAll("\\s*\n\\s*", " ").strip()));
        for (int i = first; i < arguments.length; i++) {
            command.add(arguments[i].toString());
        }
        return command;
    }
}
