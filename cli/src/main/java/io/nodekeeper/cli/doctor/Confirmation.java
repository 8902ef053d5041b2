package io.nodekeeper.cli.doctor;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;

/** Asks the operator. */
@FunctionalInterface
interface Confirmation {

    /** Whether the operator agrees; empty if there is no terminal to ask on. Blocks until the answer. */
    Optional<Boolean> ask(String question);

    /** Asks on this process's terminal, if both standard input and standard output are one. */
    static Confirmation terminal(PrintWriter err) {
        return question -> {
            Console console = System.console();
            if (console == null || !console.isTerminal()) {
                return Optional.empty();
            }
            err.print(question);
            err.flush();
            String answer = console.readLine();
            return Optional.of(answer != null
                    && (answer.strip().toLowerCase(Locale.ROOT).equals("y")
                            || answer.strip().toLowerCase(Locale.ROOT).equals("yes")));
        };
    }
}
