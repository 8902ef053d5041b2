package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class GeneratorTest {
    private static final int COUNT = 120;

    @Test
    void theSameSeedChoosesTheSameFaults() {
        assertThat(texts(new Generator(3, Catalog.all()).choose(COUNT)))
                .isEqualTo(texts(new Generator(3, Catalog.all()).choose(COUNT)))
                .isNotEqualTo(texts(new Generator(4, Catalog.all()).choose(COUNT)));
    }

    @Test
    void faultsAreDistinctAndCoverAllLayersWaysAndHealers() {
        for (long seed = 0; seed < 20; seed++) {
            List<GeneratedFault> faults = new Generator(seed, Catalog.all()).choose(COUNT);
            assertThat(new HashSet<>(texts(faults))).hasSize(COUNT);
            Set<Layer> layers = faults.stream()
                    .flatMap(fault -> fault.parts().stream())
                    .map(Primitive::layer)
                    .collect(Collectors.toSet());
            assertThat(layers).containsExactlyInAnyOrder(Layer.values());
            Set<Way> ways = faults.stream()
                    .flatMap(fault -> fault.parts().stream())
                    .map(Primitive::way)
                    .collect(Collectors.toSet());
            assertThat(ways)
                    .containsAll(Catalog.all().stream().map(Primitive::way).collect(Collectors.toSet()));
            assertThat(faults).filteredOn(fault -> fault.parts().size() == 2).hasSizeBetween(15, 25);
            assertThat(faults).filteredOn(GeneratedFault::bystanders).hasSizeBetween(30, 90);
            assertThat(faults).extracting(GeneratedFault::healer).contains(GeneratedFault.Healer.values());
        }
    }

    @Test
    void twoFaultsAtOnceDoNotShareACommandAndLeaveTheRuntimeAlone() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(new Generator(seed, Catalog.all()).choose(COUNT))
                    .filteredOn(fault -> fault.parts().size() == 2)
                    .allSatisfy(fault -> {
                        assertThat(fault.parts()).extracting(Primitive::slot).doesNotHaveDuplicates();
                        assertThat(fault.parts()).extracting(Primitive::scope).containsOnly(Primitive.Scope.POD);
                    });
        }
    }

    @Test
    void whatBlocksNewPodsStrikesLast() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(new Generator(seed, Catalog.all()).choose(COUNT))
                    .filteredOn(fault -> fault.parts().getFirst().text().startsWith("runc create"))
                    .filteredOn(fault -> fault.parts().size() == 2)
                    .isNotEmpty()
                    .allSatisfy(fault -> {
                        assertThat(fault.inOrder()).containsExactlyInAnyOrderElementsOf(fault.parts());
                        assertThat(fault.inOrder().getLast().blocksNewPods()).isTrue();
                    });
        }
    }

    @Test
    void primitivesHaveDistinctTexts() {
        assertThat(Catalog.all())
                .extracting(Primitive::text)
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(120);
    }

    @Test
    void eachCombinationOfLayerAndWayThatMakesSenseIsInTheCatalog() {
        Set<Way> held = EnumSet.of(Way.SIGSTOP, Way.PTRACE, Way.FREEZER_V1, Way.FREEZER_V2);
        Map<Layer, Set<Way>> expected = new EnumMap<>(Map.of(
                Layer.CONTAINERD, union(held, Way.SLOW, Way.ERROR, Way.GONE, Way.RESTARTS),
                Layer.SHIM, union(held, Way.GONE),
                Layer.RUNC, union(held, Way.LOCK, Way.PIPE, Way.SILENT, Way.SPIN, Way.ERROR, Way.GONE),
                Layer.CNI_PLUGIN,
                        union(
                                held,
                                Way.LOCK,
                                Way.PIPE,
                                Way.SILENT,
                                Way.SPIN,
                                Way.SLOW,
                                Way.ERROR,
                                Way.GARBAGE,
                                Way.GONE),
                Layer.CNI_CHILD, union(held, Way.LOCK, Way.PIPE, Way.SILENT, Way.SPIN),
                Layer.DAEMON, union(held, Way.SILENT),
                Layer.FILE_SERVER, union(held, Way.SILENT, Way.SLOW, Way.GONE),
                Layer.CONTAINER, EnumSet.of(Way.SIGSTOP, Way.FREEZER_V1, Way.FREEZER_V2, Way.D_STATE, Way.SILENT),
                Layer.DISK, EnumSet.of(Way.D_STATE, Way.EXHAUSTION),
                Layer.SOCKET, EnumSet.of(Way.SILENT, Way.ERROR, Way.GARBAGE, Way.GONE)));
        expected.put(Layer.CGROUP, EnumSet.of(Way.FREEZER_V1, Way.FREEZER_V2));
        expected.put(Layer.LIMIT, EnumSet.of(Way.EXHAUSTION));

        Map<Layer, Set<Way>> found = new EnumMap<>(Layer.class);
        Catalog.all()
                .forEach(primitive -> found.computeIfAbsent(primitive.layer(), layer -> EnumSet.noneOf(Way.class))
                        .add(primitive.way()));

        expected.values().forEach(ways -> ways.removeIf(GeneratorTest::impossibleHere));
        expected.values().removeIf(Set::isEmpty);
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void oneHundredAndTwentyFaultsShowEachCombination() {
        Set<String> all = combinations(Catalog.all());
        for (long seed = 0; seed < 20; seed++) {
            assertThat(combinations(new Generator(seed, Catalog.all())
                            .choose(COUNT).stream()
                                    .flatMap(fault -> fault.parts().stream())
                                    .toList()))
                    .isEqualTo(all);
        }
    }

    @Test
    void theAgentIsStartedAgainInThirtyOfOneHundredAndTwenty() {
        assertThat(new Generator(1, Catalog.all()).choose(COUNT))
                .filteredOn(GeneratedFault::restart)
                .hasSize(30);
    }

    private static Set<String> combinations(List<Primitive> primitives) {
        return primitives.stream()
                .map(primitive -> primitive.layer() + " " + primitive.way())
                .collect(Collectors.toSet());
    }

    private static Set<Way> union(Set<Way> some, Way... others) {
        Set<Way> all = EnumSet.copyOf(some);
        all.addAll(List.of(others));
        return all;
    }

    private static boolean impossibleHere(Way way) {
        return Arrays.stream(Grip.values()).anyMatch(grip -> grip.way() == way && !grip.possible());
    }

    @Test
    void theSampleIsPartOfTheCatalog() {
        assertThat(GeneratedFaultsIT.sample()).hasSize(8);
    }

    @Test
    void aTimelineJoinsEqualSeconds() {
        assertThat(Timeline.of(List.of("a", "a", "b", "a"))).isEqualTo("1-2 s a; 3 s b; from 4 s a");
    }

    private static List<String> texts(List<GeneratedFault> faults) {
        return faults.stream().map(GeneratedFault::text).toList();
    }
}
