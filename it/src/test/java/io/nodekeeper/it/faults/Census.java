package io.nodekeeper.it.faults;

import io.nodekeeper.it.Containerd;
import io.nodekeeper.it.Pods;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The processes of some pods at a moment: a process that is missing later was harmed. Immutable. */
record Census(List<Member> members) {
    /** A process with what it is; a later one with the same pid has another start time. */
    record Member(long pid, String started, String what) {
        boolean lives() {
            return startTime(pid).equals(started);
        }
    }

    /** The shims and the processes of the containers of {@code pods}. */
    static Census of(Containerd containerd, List<Pods.RealPod> pods) throws Exception {
        List<Member> members = new ArrayList<>();
        for (Pods.RealPod pod : pods) {
            long shim = containerd.shim(pod.sandbox());
            members.add(new Member(shim, startTime(shim), "shim of " + pod.name()));
            for (long pid : processes(containerd, pod.name())) {
                String cgroup = Files.readString(Path.of("/proc", Long.toString(pid), "cgroup"));
                String what = cgroup.contains(pod.sandbox()) ? "sandbox of " : "container of ";
                members.add(new Member(pid, startTime(pid), what + pod.name()));
            }
        }
        return new Census(List.copyOf(members));
    }

    /** Who does not live any more. */
    List<String> missing() {
        return members.stream()
                .filter(member -> !member.lives())
                .map(member -> member.what + " (pid " + member.pid + ")")
                .toList();
    }

    /** The processes in the control groups of a pod. */
    static Set<Long> processes(Containerd containerd, String pod) throws IOException {
        Set<Long> pids = new TreeSet<>();
        String group = "/" + containerd.name() + "/pod" + Pods.uid(pod) + "/";
        for (Path process : allProcesses()) {
            try {
                if (Files.readString(process.resolve("cgroup")).contains(group)) {
                    pids.add(Long.parseLong(process.getFileName().toString()));
                }
            } catch (IOException e) {
                // It has ended.
            }
        }
        return pids;
    }

    /** The kernel's start time, in ticks; empty if it has ended. */
    private static String startTime(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return fields[0].equals("Z") ? "" : fields[19];
        } catch (IOException e) {
            return "";
        }
    }

    private static List<Path> allProcesses() throws IOException {
        List<Path> processes = new ArrayList<>();
        try (var stream = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            stream.forEach(processes::add);
        }
        return processes;
    }
}
