package io.nodekeeper.it.faults;

import java.util.ArrayList;
import java.util.List;

/** All single faults that are real and possible on this machine: layers, each with the ways in which it can stand still. */
final class Catalog {
    private Catalog() {}

    /** In a fixed order. */
    static List<Primitive> all() {
        List<Primitive> all = new ArrayList<>();
        List<Grip> grips = List.of(Grip.values()).stream().filter(Grip::possible).toList();
        for (Target target : Target.values()) {
            obstacles(target, grips).forEach(obstacle -> all.add(new Commands(target, obstacle)));
        }
        for (Grip grip : grips) {
            all.add(Standing.runtimeHeld(grip));
            all.add(Standing.shimHeld(grip));
        }
        all.add(Standing.containerStopped());
        if (Grip.FREEZER_V1.possible()) {
            all.add(Standing.containerPaused(true, false));
            all.add(Standing.containerPaused(true, true));
        }
        if (Grip.FREEZER_V2.possible()) {
            all.add(Standing.containerPaused(false, false));
            all.add(Standing.containerPaused(false, true));
        }
        all.add(Standing.containerOnFrozenDisk());
        all.add(Standing.containerOnFuse());
        all.add(Standing.runtimeDiskFrozen());
        all.add(Standing.runtimeThrottled(1_000));
        all.add(Standing.diskFull(false));
        all.add(Standing.diskFull(true));
        all.add(Standing.outOfFiles());
        all.add(Standing.outOfPids());
        all.add(Standing.runtimeGone(true));
        all.add(Standing.runtimeGone(false));
        all.add(Standing.restarts());
        all.add(Standing.socketTaken("silent", Way.SOCKET, "answers nothing"));
        all.add(Standing.socketTaken("close", Way.ERROR, "closes connections"));
        all.add(Standing.socketTaken("garbage", Way.GARBAGE, "answers garbage"));
        all.add(Standing.secondRuntime());
        all.add(Standing.pluginFails(
                Way.ERROR,
                "fails: no address left",
                "echo '{\"cniVersion\": \"0.4.0\", \"code\": 11, \"msg\": \"no address left in the pool\"}'; exit 1",
                "no address left"));
        all.add(Standing.pluginFails(Way.GARBAGE, "answers garbage", "echo '<html>'; exit 0", "network|CNI|plugin"));
        all.add(Standing.pluginFails(Way.GONE, "is killed each time", "kill -KILL $$", "network|CNI|plugin"));
        all.add(Standing.runcFails(
                Way.ERROR,
                "fails: no permission",
                "echo 'operation not permitted' >&2; exit 1",
                "runc|OCI|not permitted|permission"));
        all.add(Standing.runcFails(Way.GONE, "is killed each time", "kill -KILL $$", "runc|OCI|killed"));
        return List.copyOf(all);
    }

    private static List<Obstacle> obstacles(Target target, List<Grip> grips) {
        List<Obstacle> obstacles = new ArrayList<>();
        grips.forEach(grip -> obstacles.add(Obstacle.held(grip)));
        for (boolean stopped : new boolean[] {false, true}) {
            obstacles.add(Obstacle.lock(false, stopped));
            obstacles.add(Obstacle.lock(true, stopped));
            obstacles.add(Obstacle.pipe(stopped));
        }
        if (target == Target.CNI_ADD || target == Target.CNI_DEL) {
            obstacles.add(Obstacle.addressLock());
        }
        obstacles.add(Obstacle.orphan());
        obstacles.add(Obstacle.daemon());
        grips.forEach(grip -> obstacles.add(Obstacle.daemon(grip)));
        obstacles.add(Obstacle.fuse());
        grips.forEach(grip -> obstacles.add(Obstacle.fuse(grip)));
        obstacles.add(Obstacle.disk());
        obstacles.add(Obstacle.itself(Way.SLEEP));
        obstacles.add(Obstacle.itself(Way.SPIN));
        return obstacles;
    }
}
