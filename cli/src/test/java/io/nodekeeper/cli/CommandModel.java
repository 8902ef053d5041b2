package io.nodekeeper.cli;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.output.CheckedWriter;
import io.nodekeeper.cri.FakeRuntime;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** All commands of the product for tests, with servers that print a line and end, and a container runtime without faults. */
final class CommandModel {
    private final StringWriter err = new StringWriter();
    private final List<NodekeeperCommand> launched = new ArrayList<>();

    private final CommandRunner silent = silent();

    private CommandRunner silent() {
        CheckedWriter out = new CheckedWriter(OutputStream.nullOutputStream());
        return new CommandRunner(commands(out), out, new PrintWriter(err));
    }

    /** The commands as {@link Main} has them, which print to {@code out}. */
    private List<NodekeeperCommand> commands(PrintWriter out) {
        PrintWriter errors = new PrintWriter(err);
        return Commands.all(
                new Commands.Processes(
                        command -> start(command, out),
                        command -> start(command, out),
                        command -> start(command, out),
                        command -> start(command, out),
                        command -> start(command, out),
                        (socket, loop) -> new FakeRuntime(loop)),
                out,
                errors);
    }

    private int start(NodekeeperCommand command, PrintWriter out) {
        launched.add(command);
        out.println("ready");
        return CommandRunner.OK;
    }

    /** The commands' models by what a user types: {@code apiserver} and {@code apiserver check}, for example. */
    TreeMap<String, CommandSpec> specs() {
        TreeMap<String, CommandSpec> specs = new TreeMap<>();
        for (NodekeeperCommand command : commands(new PrintWriter(new StringWriter()))) {
            CommandSpec spec = new CommandLine(command).getCommandSpec();
            specs.put(spec.name(), spec);
            for (NodekeeperCommand part : command.parts()) {
                CommandSpec below = new CommandLine(part).getCommandSpec();
                specs.put(spec.name() + " " + below.name(), below);
            }
        }
        return specs;
    }

    /** Runs a command line whose answer goes to {@code stream}, and returns the exit code. */
    int run(OutputStream stream, List<String> arguments) {
        CheckedWriter out = new CheckedWriter(stream);
        err.getBuffer().setLength(0);
        launched.clear();
        return new CommandRunner(commands(out), out, new PrintWriter(err)).run(arguments.toArray(String[]::new));
    }

    /** As above, with an answer that goes nowhere; the models are made once. */
    int run(List<String> arguments) {
        err.getBuffer().setLength(0);
        launched.clear();
        return silent.run(arguments.toArray(String[]::new));
    }

    /** What the last command line wrote to standard error. */
    String err() {
        return err.toString();
    }

    /** The servers that the last command line started. */
    List<NodekeeperCommand> launched() {
        return launched;
    }
}
