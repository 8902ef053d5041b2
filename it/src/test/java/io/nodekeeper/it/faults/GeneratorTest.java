package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
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
    void primitivesHaveDistinctTexts() {
        assertThat(Catalog.all())
                .extracting(Primitive::text)
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(120);
    }

    @Test
    void theSampleIsPartOfTheCatalog() {
        assertThat(GeneratedFaultsIT.sample()).hasSize(8);
    }

    @Test
    void aTimelineJoinsEqualSeconds() {
        assertThat(Timeline.of(List.of("a", "a", "b", "a"))).isEqualTo("1-2 s: a; 3 s: b; 4 s: a");
    }

    private static List<String> texts(List<GeneratedFault> faults) {
        return faults.stream().map(GeneratedFault::text).toList();
    }
}
