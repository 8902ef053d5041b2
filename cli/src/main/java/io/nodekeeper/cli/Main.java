package io.nodekeeper.cli;

import io.nodekeeper.cli.agent.AgentCommand;
import io.nodekeeper.cli.agent.AgentProcess;
import io.nodekeeper.cli.agent.CompanionProcess;
import io.nodekeeper.cli.apiserver.ApiServerCommand;
import io.nodekeeper.cli.apiserver.ServerProcess;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.controller.ControllerCommand;
import io.nodekeeper.cli.controller.ControllerOptions;
import io.nodekeeper.cli.controller.ControllerProcess;
import io.nodekeeper.cli.controller.HistoryOptions;
import io.nodekeeper.cli.hollow.HollowNodesCommand;
import io.nodekeeper.cli.hollow.HollowProcess;
import io.nodekeeper.cli.metrics.HeapPace;
import io.nodekeeper.cli.output.CheckedWriter;
import io.nodekeeper.cli.output.ShellWord;
import io.nodekeeper.cli.up.UpCommand;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.cri.endpoint.DetectedRuntime;
import io.nodekeeper.time.Shutdown;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The entry point of every process: starts what the command needs, and stops it in reverse order. */
public final class Main {
    /** Not {@code System.out}, which hides errors. */
    private static final CheckedWriter OUT = new CheckedWriter(new FileOutputStream(FileDescriptor.out));

    /** How often an agent collects its whole heap. */
    private static final Duration COLLECT_EVERY = Duration.ofMinutes(10);

    private static final PrintWriter ERR = new PrintWriter(System.err, true, StandardCharsets.UTF_8);

    private Main() {}

    /** Runs the command that {@code arguments} name and ends the process with its exit code. */
    public static void main(String[] arguments) {
        // Probes of pods may set the headers Host, Expect and Upgrade, and ask for new connections.
        // Java reads this when the first client is made.
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host,connection,expect,upgrade");
        // A client of our servers must not repeat the TLS handshake of a connection: it costs as much as a new one.
        System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
        Commands.Processes processes = new Commands.Processes(
                Main::up, Main::apiServer, Main::controller, Main::agent, Main::hollowNodes, DetectedRuntime::new);
        List<NodekeeperCommand> commands = Commands.needed(Commands.all(processes, OUT, ERR), arguments);
        System.exit(new CommandRunner(commands, OUT, ERR).run(arguments));
    }

    private static int up(UpCommand command) throws Exception {
        command.server.signing.ownAuthority = true;
        ServerProcess server = ServerProcess.start(command.server);
        String name = AgentProcess.nodeName(command.agent);
        AgentProcess agent = AgentProcess.start(
                Kubeconfig.load(server.agentKubeconfig(name)),
                name,
                command.agent,
                Optional.of(server.authorityFile()));
        ControllerProcess controller = ControllerProcess.start(
                Kubeconfig.load(server.controllerKubeconfig()),
                command.controller,
                command.controller.election(false),
                command.controller.history.dir.or(() -> Optional.of(command.server.data.dir.resolve("history"))));
        Path admin = server.adminKubeconfig();
        controller.page().ifPresent(page -> OUT.println("page " + page));
        agent.registered()
                .thenRun(() -> OUT.println("ready " + server.address() + "  node " + name
                        + "  next: kubectl --kubeconfig " + ShellWord.of(admin) + " get nodes"));
        return untilEnded(controller, HeapPace.SERVER, agent::stop, controller::stop, server::stop);
    }

    private static int apiServer(ApiServerCommand command) throws Exception {
        ServerProcess server = ServerProcess.start(command.server);
        OUT.println("ready " + server.address() + "  next: kubectl --kubeconfig "
                + ShellWord.of(server.adminKubeconfig()) + " get namespaces");
        HeapPace pace = HeapPace.ofThisProcess(HeapPace.SERVER);
        return untilStopped(server::stop, HeapPace.EVERY, pace::look);
    }

    private static int controller(ControllerCommand command) throws Exception {
        ServerAccess access = command.kubeconfig.access();
        HistoryOptions history = command.controller.history;
        // A later controller must not read an observer's decisions as its own.
        boolean observing = command.controller.mode != ControllerOptions.Mode.enforce;
        ControllerProcess controller = ControllerProcess.start(
                access,
                command.controller,
                command.controller.election(true),
                observing ? history.directory(System.getenv()) : history.directory(System.getenv(), access.server()));
        return untilEnded(controller, HeapPace.CONTROLLER, controller::stop);
    }

    private static int agent(AgentCommand command) throws Exception {
        if (command.companion.companion()) {
            CompanionProcess companion =
                    CompanionProcess.start(command.kubeconfig.access(), AgentProcess.nodeName(command.agent), command);
            return untilAgentStopped(companion::stop);
        }
        AgentProcess agent = AgentProcess.start(command.access(), AgentProcess.nodeName(command.agent), command.agent);
        return untilAgentStopped(agent::stop);
    }

    private static int hollowNodes(HollowNodesCommand command) throws Exception {
        HollowProcess hollow = HollowProcess.start(command, OUT, ERR);
        return untilStopped(hollow::stop);
    }

    /**
     * The serial collector lets the heap grow to its limit before it collects all of it, which an agent that needs a third
     * of that would keep. The pause is some 50 ms.
     */
    private static int untilAgentStopped(Runnable stop) throws InterruptedException {
        return untilStopped(stop, COLLECT_EVERY, System::gc);
    }

    private static int untilStopped(Runnable stop, Duration period, Runnable task) throws InterruptedException {
        Shutdown.onSignal(stop);
        Shutdown.await(period, task);
        return CommandRunner.OK;
    }

    private static int untilStopped(Runnable... stops) throws InterruptedException {
        Shutdown.onSignal(stops);
        Shutdown.await();
        return CommandRunner.OK;
    }

    /** Waits for a signal, or fails if the controller cannot continue, so that a supervisor restarts the process. */
    private static int untilEnded(ControllerProcess controller, long heapGrowth, Runnable... stops) throws Exception {
        Shutdown.onSignal(stops);
        HeapPace pace = HeapPace.ofThisProcess(heapGrowth);
        throw new IllegalStateException(Shutdown.await(controller.ended(), HeapPace.EVERY, pace::look));
    }
}
