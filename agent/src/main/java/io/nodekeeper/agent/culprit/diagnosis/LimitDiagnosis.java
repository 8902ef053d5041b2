package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.Limit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes culprits of limits that the runtime or a shim has reached; several processes at one limit are one culprit. Pure. */
final class LimitDiagnosis {
    private LimitDiagnosis() {}

    /** The culprits. */
    static List<Finding> of(DiagnosisInput facts) {
        Map<String, Finding> findings = new LinkedHashMap<>();
        ProcessIndex index = new ProcessIndex(facts);
        for (ObservedProcess process : facts.processes()) {
            for (Limit limit : process.info().limits()) {
                Finding finding = finding(limit, process, index, facts);
                String key = limit.where().isEmpty()
                        ? limit.kind() + process.info().ref().identity()
                        : limit.kind() + limit.where();
                findings.merge(key, finding, (first, second) -> first.and(second));
            }
        }
        return new ArrayList<>(findings.values());
    }

    private static Finding finding(Limit limit, ObservedProcess process, ProcessIndex index, DiagnosisInput facts) {
        ProcessInfo info = process.info();
        Subject subject = index.subject(process);
        String name = index.nameWithPod(process);
        String full = "is full: " + limit.used() + " of " + limit.max();
        Culprit culprit = switch (limit.kind()) {
            case OPEN_FILES ->
                culprit(
                        Layer.PROCESS,
                        "OpenFilesExhausted",
                        name + " has reached its limit of " + limit.max() + " open files",
                        facts,
                        "raise the limit: LimitNOFILE of its service, or prlimit --pid "
                                + info.ref().pid() + " --nofile=1048576");
            case PROCESSES ->
                culprit(
                        Layer.PROCESS,
                        "ProcessLimitReached",
                        "cgroup " + limit.where() + ", in which " + name + " runs, has reached its limit of "
                                + limit.max() + " processes and threads (pids.max)",
                        facts,
                        "end processes in " + limit.where() + " or raise its limit: pids.max, or TasksMax of the"
                                + " service");
            case MEMORY_HIGH ->
                culprit(
                                Layer.PROCESS,
                                "MemoryThrottled",
                                name + " is slowed down because cgroup " + limit.where()
                                        + " uses its whole memory.high of " + limit.max() + " bytes",
                                facts,
                                "raise memory.high of " + limit.where() + ", or find out what uses the memory")
                        .sure(Confidence.LIKELY);
            case DISK_SPACE ->
                culprit(
                                Layer.DISK,
                                "DiskFull",
                                "the file system at " + limit.where() + ", on which " + name + " has files, is full",
                                facts,
                                "free space on " + limit.where() + ": remove unused images, old logs and large files")
                        .shownBy(List.of("its space " + full + " bytes are used or reserved"));
            case INODES ->
                culprit(
                                Layer.DISK,
                                "InodesExhausted",
                                "the file system at " + limit.where() + ", on which " + name
                                        + " has files, has no free inodes",
                                facts,
                                "free inodes on " + limit.where() + ": remove directories with many small files")
                        .shownBy(List.of("its inode table " + full + " inodes are used"));
        };
        return Finding.of(culprit.about(subject).by(info.ref()), subject);
    }

    private static Culprit culprit(Layer layer, String reason, String summary, DiagnosisInput facts, String advice) {
        return Culprit.of(layer, reason, summary, facts.wall(), new Remedy.Advice(advice));
    }
}
