package io.nodekeeper.agent.pods.garbage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCallException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random lives of a node's images: images and containers come and go, calls fail and hang. No image that something needs is ever
 * removed, and once faults have ended a round leaves the disk below the low threshold, or nothing that can be removed.
 */
class ImagePropertiesTest {
    private static final List<String> CALLS =
            List.of("ListImages", "ListContainers", "Status", "ImageStatus", "RemoveImage");

    @Property(tries = 300)
    void noImageInUseIsRemovedAndTheDiskIsFreed(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ImageNode node = new ImageNode(new ImageGcConfig(85, 80, Duration.ofMinutes(2), Duration.ZERO));
        Set<String> kept = new HashSet<>(Set.of("pause"));
        for (int step = 0; step < 60; step++) {
            String name = "i" + random.nextInt(12);
            boolean there = node.images().contains(name);
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> {
                    if (!there) {
                        node.image(name, 1 + random.nextInt(150));
                    }
                }
                case 3 -> {
                    if (there) {
                        node.runtime.container("c-" + name, "p-" + name, state(random), "sha256:" + name);
                        kept.add(name);
                    }
                }
                case 4 -> {
                    node.runtime.remove("c-" + name);
                    node.needed.remove(name + ":1");
                    kept.remove(name);
                }
                case 5 -> {
                    if (there) {
                        node.needed.add(name + ":1");
                        kept.add(name);
                    }
                }
                case 6 -> fault(node, CALLS.get(random.nextInt(CALLS.size())), random);
                case 7 -> node.others = random.nextInt(900);
                default -> {
                    if (random.nextBoolean()) {
                        node.round();
                    } else {
                        node.removeUnused();
                    }
                }
            }
            node.time.advance(Duration.ofSeconds(random.nextInt(90)));
            assertThat(node.images()).containsAll(kept);
        }

        CALLS.forEach(node.runtime::heal);
        node.time.advance(Duration.ofMinutes(10));
        node.round();
        node.time.advance(Duration.ofMinutes(5));
        node.round();

        assertThat(node.images()).containsAll(kept);
        boolean enough = node.used() <= ImageNode.CAPACITY * 85 / 100;
        assertThat(enough || kept.containsAll(node.images()))
                .as("%d bytes used, images %s, kept %s", node.used(), node.images(), kept)
                .isTrue();
    }

    private static ContainerState state(SplittableRandom random) {
        return random.nextBoolean() ? ContainerState.RUNNING : ContainerState.EXITED;
    }

    private static void fault(ImageNode node, String call, SplittableRandom random) {
        switch (random.nextInt(3)) {
            case 0 -> node.runtime.hang(call);
            case 1 -> node.runtime.fail(call, new RuntimeCallException(call, RuntimeCallException.Code.OTHER, "no"));
            default -> node.runtime.heal(call);
        }
    }
}
