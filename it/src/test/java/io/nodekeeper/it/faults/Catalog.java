package io.nodekeeper.it.faults;

import java.util.ArrayList;
import java.util.List;

/** All single faults that are real and possible on this machine: layers, each with the ways in which it can stand still. */
final class Catalog {
    private Catalog() {}

    /** In a fixed order. */
    static List<Primitive> all() {
        List<Primitive> all = new ArrayList<>();
        List<Grip> grips =
                List.of(Grip.values()).stream().filter(Grip::possible).toList();
        for (Target target : Target.values()) {
            obstacles(target, grips).forEach(obstacle -> all.add(new Commands(target, obstacle)));
        }
        for (Grip grip : grips) {
            all.add(RuntimeFaults.runtimeHeld(grip));
            all.add(PodFaults.shimHeld(grip));
        }
        all.add(PodFaults.shimKilled());
        all.add(PodFaults.containerStopped());
        for (Grip grip : List.of(Grip.FREEZER_V1, Grip.FREEZER_V2)) {
            if (grip.possible()) {
                all.add(PodFaults.containerPaused(grip == Grip.FREEZER_V1));
                all.add(PodFaults.podFrozen(grip == Grip.FREEZER_V1));
            }
        }
        all.add(PodFaults.containerOnFrozenDisk());
        all.add(PodFaults.containerOnFuse());
        all.add(MachineFaults.runtimeDiskFrozen());
        all.add(RuntimeFaults.runtimeThrottled());
        all.add(MachineFaults.diskFull(false));
        all.add(MachineFaults.diskFull(true));
        all.add(MachineFaults.imagesLost());
        all.add(MachineFaults.outOfFiles());
        all.add(MachineFaults.outOfPids());
        all.add(RuntimeFaults.runtimeGone(true));
        all.add(RuntimeFaults.runtimeGone(false));
        all.add(RuntimeFaults.restarts());
        all.add(RuntimeFaults.socketFileGone());
        all.add(RuntimeFaults.socketTaken("silent", Way.SILENT, "answers nothing"));
        all.add(RuntimeFaults.socketTaken("close", Way.ERROR, "closes connections"));
        all.add(RuntimeFaults.socketTaken("garbage", Way.GARBAGE, "answers garbage"));
        all.add(RuntimeFaults.secondRuntime());
        all.add(MachineFaults.pluginFails(
                Way.ERROR,
                "fails: no address left",
                "echo '{\"cniVersion\": \"0.4.0\", \"code\": 11, \"msg\": \"no address left in the pool\"}'; exit 1",
                "no address left"));
        all.add(MachineFaults.pluginFails(
                Way.GARBAGE, "answers garbage", "echo '<html>'; exit 0", "network|CNI|plugin"));
        all.add(MachineFaults.pluginFails(Way.GONE, "is killed each time", "kill -KILL $$", "network|CNI|plugin"));
        all.add(MachineFaults.pluginSlow());
        all.add(MachineFaults.runcFails(
                Way.ERROR,
                "fails: no permission",
                "echo 'operation not permitted' >&2; exit 1",
                "runc|OCI|not permitted|permission"));
        all.add(MachineFaults.runcFails(Way.GONE, "is killed each time", "kill -KILL $$", "runc|OCI|killed"));
        return List.copyOf(all);
    }

    private static List<Obstacle> obstacles(Target target, List<Grip> grips) {
        List<Obstacle> obstacles = new ArrayList<>();
        grips.forEach(grip -> obstacles.add(Obstacle.held(grip)));
        for (boolean stopped : new boolean[] {false, true}) {
            obstacles.add(Obstacle.lock(false, stopped));
            obstacles.add(Obstacle.lock(true, stopped));
            obstacles.add(Obstacle.mutex(stopped));
            obstacles.add(Obstacle.pipe(stopped));
        }
        if (target == Target.CNI_ADD || target == Target.CNI_DEL) {
            obstacles.add(Obstacle.addressLock());
        }
        obstacles.add(Obstacle.fullPipe());
        if (target != Target.RUNC_CREATE) {
            // No process reads the output of runc create to its end.
            obstacles.add(Obstacle.orphan());
        }
        obstacles.add(Obstacle.daemon());
        grips.forEach(grip -> obstacles.add(Obstacle.daemon(grip)));
        obstacles.add(Obstacle.fuse());
        obstacles.add(Obstacle.slowFuse());
        obstacles.add(Obstacle.orphanedFuse());
        grips.forEach(grip -> obstacles.add(Obstacle.fuse(grip)));
        obstacles.add(Obstacle.disk());
        obstacles.add(Obstacle.itself(Way.SILENT));
        obstacles.add(Obstacle.itself(Way.SPIN));
        return obstacles;
    }
}
