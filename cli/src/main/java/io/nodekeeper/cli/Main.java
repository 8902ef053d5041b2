package io.nodekeeper.cli;

import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Where every process begins. */
public final class Main {
    private Main() {}

    /** Runs the command that {@code arguments} name and ends the process with its exit code. */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        List<NodekeeperCommand> commands =
                List.of(new CertsCommand(new SystemClock().wallTime(), Randoms.secure(), out));
        System.exit(new CommandRunner(commands, out, err).run(arguments));
    }
}
