package io.nodekeeper.it.faults;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Chooses faults by a seed: distinct ones, spread over all layers and ways, with and without busy neighbours, some two at
 * once. The same seed gives the same faults on the same machine.
 */
final class Generator {
    /** One fault in so many is two at once. */
    private static final int PAIRS = 6;
    /** The agent is started again in one fault of so many: 30 of 120. */
    private static final int RESTARTS = 4;

    private final Random random;
    private final List<Primitive> catalog;

    Generator(long seed, List<Primitive> catalog) {
        this.random = new Random(seed);
        this.catalog = catalog;
    }

    /** {@code count} distinct faults; fewer if there are no more. */
    List<GeneratedFault> choose(int count) {
        List<GeneratedFault> chosen = new ArrayList<>();
        Set<String> texts = new HashSet<>();
        Deque<Primitive> singles = spread();
        List<Primitive> ofPods = catalog.stream()
                .filter(primitive -> primitive.scope() == Primitive.Scope.POD)
                .toList();
        int tries = 0;
        while (chosen.size() < count && tries++ < 100 * count) {
            int number = chosen.size() + 1;
            List<Primitive> parts;
            if (number % PAIRS == 0) {
                Primitive first = ofPods.get(random.nextInt(ofPods.size()));
                Primitive second = ofPods.get(random.nextInt(ofPods.size()));
                if (first.slot().equals(second.slot())) {
                    continue;
                }
                parts = List.of(first, second);
            } else {
                if (singles.isEmpty()) {
                    singles = spread();
                }
                parts = List.of(singles.poll());
            }
            GeneratedFault fault =
                    new GeneratedFault(number, parts, random.nextBoolean(), healer(), number % RESTARTS == 1);
            if (texts.add(fault.text())) {
                chosen.add(fault);
            }
        }
        return chosen;
    }

    private GeneratedFault.Healer healer() {
        return switch (random.nextInt(4)) {
            case 0 -> GeneratedFault.Healer.DOCTOR;
            case 1 -> GeneratedFault.Healer.DOCTOR_WITH_FORCE;
            default -> GeneratedFault.Healer.GENERATOR;
        };
    }

    /** All primitives in a random order in which layers and ways take turns. */
    private Deque<Primitive> spread() {
        List<Primitive> shuffled = new ArrayList<>(catalog);
        Collections.shuffle(shuffled, random);
        Map<String, Deque<Primitive>> groups = new LinkedHashMap<>();
        shuffled.forEach(primitive -> groups.computeIfAbsent(
                        primitive.layer() + " " + primitive.way(), group -> new ArrayDeque<>())
                .add(primitive));
        Deque<Primitive> order = new ArrayDeque<>();
        while (!groups.isEmpty()) {
            groups.values().forEach(group -> order.add(group.poll()));
            groups.values().removeIf(Deque::isEmpty);
        }
        return order;
    }
}
