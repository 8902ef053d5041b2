package io.nodekeeper.cli;

import io.nodekeeper.cli.agent.AgentCommand;
import io.nodekeeper.cli.apiserver.ApiServerCommand;
import io.nodekeeper.cli.certs.CertsCommand;
import io.nodekeeper.cli.command.Launcher;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.completion.CompletionCommand;
import io.nodekeeper.cli.controller.ControllerCommand;
import io.nodekeeper.cli.doctor.DoctorCommand;
import io.nodekeeper.cli.doctor.DoctorProcess;
import io.nodekeeper.cli.guard.GuardCommand;
import io.nodekeeper.cli.hollow.HollowNodesCommand;
import io.nodekeeper.cli.observe.ObserveReportCommand;
import io.nodekeeper.cli.observe.ObserveReportProcess;
import io.nodekeeper.cli.replay.RecordCommand;
import io.nodekeeper.cli.replay.RecordProcess;
import io.nodekeeper.cli.replay.ReplayCommand;
import io.nodekeeper.cli.replay.ReplayProcess;
import io.nodekeeper.cli.simulate.SimulateCommand;
import io.nodekeeper.cli.simulate.SimulateProcess;
import io.nodekeeper.cli.status.StatusCommand;
import io.nodekeeper.cli.status.StatusProcess;
import io.nodekeeper.cli.store.CheckCommand;
import io.nodekeeper.cli.store.RepairCommand;
import io.nodekeeper.cli.store.RestoreCommand;
import io.nodekeeper.cli.store.RewriteCommand;
import io.nodekeeper.cli.store.SnapshotCommand;
import io.nodekeeper.cli.tune.TuneCommand;
import io.nodekeeper.cli.tune.TuneProcess;
import io.nodekeeper.cli.up.UpCommand;
import io.nodekeeper.cli.why.WhyCommand;
import io.nodekeeper.cli.why.WhyProcess;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import picocli.CommandLine.Command;

/** Lists all commands in the order of the help. Tests of every command use the same list. */
final class Commands {
    private Commands() {}

    /**
     * The processes that commands start, and the clients that they use.
     *
     * @param runtime creates a client of the container runtime at a socket, which completes its results on a loop
     */
    record Processes(
            Launcher<UpCommand> up,
            Launcher<ApiServerCommand> apiServer,
            Launcher<ControllerCommand> controller,
            Launcher<AgentCommand> agent,
            Launcher<HollowNodesCommand> hollowNodes,
            BiFunction<Path, Loop, ContainerRuntime> runtime) {}

    /** All commands. They write results to {@code out}, progress and errors to {@code err}. */
    static List<NodekeeperCommand> all(Processes processes, PrintWriter out, PrintWriter err) {
        SystemClock clock = new SystemClock();
        return List.of(
                new UpCommand(processes.up),
                new ApiServerCommand(
                        processes.apiServer,
                        new SnapshotCommand(err),
                        new RestoreCommand(clock.wallTime(), err),
                        new CheckCommand(out),
                        new RepairCommand(out),
                        new RewriteCommand(out)),
                new ControllerCommand(processes.controller),
                new AgentCommand(processes.agent),
                new HollowNodesCommand(processes.hollowNodes),
                new SimulateCommand(command -> SimulateProcess.run(command, out, err)),
                new TuneCommand(command -> TuneProcess.run(command, out, err)),
                new ReplayCommand(
                        command -> ReplayProcess.run(command, out, err),
                        new RecordCommand(command -> RecordProcess.run(command, out, err))),
                new GuardCommand(out),
                new StatusCommand(command -> StatusProcess.run(command, out, err)),
                new WhyCommand(command -> WhyProcess.run(command, clock, out, err)),
                new ObserveReportCommand(command -> ObserveReportProcess.run(command, clock, out, err)),
                new DoctorCommand(command -> DoctorProcess.run(command, processes.runtime, out, err)),
                new CertsCommand(clock.wallTime(), Randoms.secure(), out),
                new CompletionCommand(out));
    }

    /**
     * Those of {@code all} that a command line with {@code arguments} may need: the one that it names, or all, as completion
     * does. The models of all commands take 0.2 s to build, which each start of a server would wait for.
     */
    static List<NodekeeperCommand> needed(List<NodekeeperCommand> all, String... arguments) {
        List<NodekeeperCommand> named = all.stream()
                .filter(command -> arguments.length > 0 && name(command).equals(arguments[0]))
                .filter(command -> !(command instanceof CompletionCommand))
                .toList();
        return named.isEmpty() ? all : named;
    }

    private static String name(NodekeeperCommand command) {
        return command.getClass().getAnnotation(Command.class).name();
    }
}
