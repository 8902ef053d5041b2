package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.api.KubeTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes a culprit of a thread in uninterruptible sleep: the disk or file server that it waits for, or itself. Pure. */
final class StallCause {
    private StallCause() {}

    /** The culprit, with the thread as its evidence. */
    static Culprit of(ObservedProcess process, ObservedProcess.Stuck stuck, ProcessIndex index, DiagnosisInput facts) {
        Stall stall = stuck.stall();
        Instant since = facts.ago(stuck.lasted());
        Optional<Stall.Mount> mount = HangGraph.mount(stall);
        String who = index.nameWithPod(process);
        String where = stall.waitsIn().isEmpty() ? "" : " in " + stall.waitsIn();
        String summary = mount.map(
                        on -> "the file system at " + on.point() + " (" + on.source() + ") does not respond: " + who
                                + " has waited for it, unkillable (state D), since " + KubeTime.format(since))
                .orElseGet(() -> stall.onDisk()
                        ? "a file system or disk does not respond: " + who + " has waited for it" + where
                                + ", unkillable (state D), since " + KubeTime.format(since)
                        : who + " has been unkillable (state D)" + where + " since " + KubeTime.format(since));
        return Culprit.of(
                        stall.onDisk() ? Layer.DISK : Layer.PROCESS,
                        stall.onDisk() ? "DiskStalled" : "ProcessUninterruptible",
                        summary,
                        since,
                        new Remedy.Advice(advice(stall, mount)))
                .by(process.info().ref())
                .shownBy(evidence(process.info(), stall))
                // Without the file of the system call, a mount is only one that the process uses.
                .sure(mount.isPresent() && stall.file().isEmpty() ? Confidence.LIKELY : Confidence.CERTAIN);
    }

    private static String advice(Stall stall, Optional<Stall.Mount> mount) {
        if (mount.isEmpty()) {
            return "signals have no effect on this process: repair what it waits for (see dmesg), or reboot the node";
        }
        String point = mount.get().point();
        if (mount.get().type().startsWith("nfs")) {
            return "restore the file server " + mount.get().source() + ", or umount -f -l " + point;
        }
        return stall.onFrozen()
                ? "if it was frozen for a snapshot: fsfreeze -u " + point
                        + "; else repair the disk below it (see dmesg)"
                : "repair the disk below " + point + " (see dmesg); if it was frozen: fsfreeze -u " + point;
    }

    private static List<String> evidence(ProcessInfo info, Stall stall) {
        List<String> lines = new ArrayList<>();
        // The process as a whole may show another state than the thread.
        lines.add("thread " + stall.thread() + " of pid " + info.ref().pid() + " ("
                + info.ref().command()
                + ") is in uninterruptible sleep" + (stall.waitsIn().isEmpty() ? "" : " in " + stall.waitsIn())
                + " and has not run between the scans");
        stall.file().ifPresent(file -> lines.add("its system call uses " + file));
        stall.path().ifPresent(path -> lines.add("its system call looks for " + path));
        stall.mounts()
                .forEach(mount ->
                        lines.add("it uses " + mount.point() + " (" + mount.source() + ", " + mount.type() + ")"));
        if (!stall.stack().isEmpty()) {
            lines.add("kernel stack: " + String.join(" < ", stall.stack()));
        }
        return lines;
    }
}
