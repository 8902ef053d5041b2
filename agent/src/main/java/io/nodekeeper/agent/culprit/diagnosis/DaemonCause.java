package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.diagnosis.WaitGraph.Entity;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.api.KubeTime;
import java.time.Instant;
import java.util.List;

/** Makes a culprit of a daemon that does not answer at its socket, although nothing shows why. Pure. */
final class DaemonCause {
    private DaemonCause() {}

    /** The culprit; {@code client} waits for it, at first hand or through others. */
    static Culprit of(
            ObservedProcess daemon, Entity.Socket socket, ObservedProcess client, Instant since, ProcessIndex index) {
        ProcessInfo info = daemon.info();
        String name = ProcessIndex.name(info);
        return Culprit.of(
                        Layer.PROCESS,
                        "DaemonHung",
                        "the daemon " + name + (socket.peer().isEmpty() ? "" : " at socket " + socket.peer())
                                + " has not answered " + index.nameWithPod(client) + " since "
                                + KubeTime.format(since),
                        since,
                        // Others may use it, and its owner knows how to end it: so no signal.
                        new Remedy.Advice("look in the log of " + name + " why it does not answer; if it stays, restart"
                                + " its service (systemctl status " + info.ref().pid() + " names it)"))
                .by(info.ref())
                .shownBy(List.of(ProcessIndex.describe(info)))
                .sure(Confidence.LIKELY);
    }
}
