package io.nodekeeper.it.faults;

import io.nodekeeper.it.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/** A command of the runtime that does not end because of an obstacle. */
record Commands(Target target, Obstacle obstacle) implements Primitive {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Override
    public Layer layer() {
        return obstacle.layer().orElse(target.layer());
    }

    @Override
    public Way way() {
        return obstacle.way();
    }

    @Override
    public String text() {
        return target.text() + " " + obstacle.text();
    }

    @Override
    public Scope scope() {
        return Scope.POD;
    }

    @Override
    public String slot() {
        return target.slot();
    }

    @Override
    public boolean endsVictim() {
        return target.endsVictim();
    }

    @Override
    public boolean blocksNewPods() {
        return target == Target.RUNC_CREATE || obstacle.locksAddresses();
    }

    @Override
    public void prepare(Scene scene) {
        if (target.hitsVictim()) {
            scene.victim();
        }
    }

    @Override
    public Struck strike(Scene scene) throws Exception {
        Path pids = scene.file("commands");
        Obstacle.InPlace inPlace = obstacle.setup().put(scene);
        String came = "echo $$ >>" + pids + "\n" + inPlace.shell() + "\n";
        if (target == Target.CNI_CHILD) {
            Path child = scene.file("address-helper");
            Files.writeString(child, "#!/bin/sh\n" + came);
            Files.setPosixFilePermissions(child, PosixFilePermissions.fromString("rwxr-xr-x"));
            target.hook(scene, child + "\n");
        } else {
            target.hook(scene, came);
        }
        target.trigger(scene);
        Eventually.within(SOON, () -> !numbers(pids).isEmpty());
        inPlace.reached(numbers(pids).iterator().next());
        Truth truth = inPlace.truth(() -> numbers(pids)).of(target.pod(scene).orElseThrow());
        return new Struck() {
            @Override
            public Truth truth() {
                return truth;
            }

            @Override
            public boolean lasts() throws Exception {
                return inPlace.lasts(numbers(pids));
            }

            @Override
            public void heal() throws Exception {
                target.unhook(scene);
                inPlace.remove();
            }
        };
    }

    /** The pids in a file, one a line; none if there is no such file. */
    static Set<Long> numbers(Path file) {
        Set<Long> numbers = new TreeSet<>();
        try {
            if (Files.exists(file)) {
                Files.readAllLines(file).stream()
                        .filter(line -> !line.isBlank())
                        .map(Long::valueOf)
                        .forEach(numbers::add);
            }
            return numbers;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
