package io.nodekeeper.agent.culprit.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.evidence.WaitGraph.Entity;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every small graph: the roots are exactly the ends that can be reached, circles end, confidence counts assumptions. */
class WaitGraphTest {
    private static final int NODES = 4;

    @Test
    void rootsOfEveryGraphOfFourAreTheReachableEnds() {
        for (int edges = 0; edges < 1 << NODES * (NODES - 1); edges++) {
            boolean[][] leads = new boolean[NODES][NODES];
            WaitGraph graph = new WaitGraph();
            int bit = 0;
            for (int from = 0; from < NODES; from++) {
                for (int to = 0; to < NODES; to++) {
                    if (from != to && (edges >> bit++ & 1) == 1) {
                        leads[from][to] = true;
                        graph.add(pid(from), pid(to), true, from + " waits for " + to);
                    }
                }
            }
            Set<Integer> reachable = reachable(leads, 0);
            Set<Entity> ends = new HashSet<>();
            reachable.stream().filter(node -> !any(leads[node])).forEach(node -> ends.add(pid(node)));

            List<WaitGraph.Chain> chains = graph.roots(pid(0));

            if (ends.isEmpty()) {
                assertThat(chains).hasSize(1);
                assertThat(chains.getFirst().circular()).isTrue();
                assertThat(chains.getFirst().root()).matches(root -> reachable.contains(((Entity.Pid) root).pid()));
            } else {
                assertThat(chains).extracting(WaitGraph.Chain::root).containsExactlyInAnyOrderElementsOf(ends);
                assertThat(chains).noneMatch(WaitGraph.Chain::circular);
            }
            chains.forEach(chain -> assertThat(isAWay(chain)).isTrue());
        }
    }

    @Test
    void confidenceIsThatOfTheWayWithTheFewestAssumptions() {
        // Each of the 6 edges between 3 entities is missing, a fact or an assumption.
        for (int kinds = 0; kinds < 729; kinds++) {
            int[][] cost = {{0, 9, 9}, {9, 0, 9}, {9, 9, 0}};
            WaitGraph graph = new WaitGraph();
            int rest = kinds;
            for (int from = 0; from < 3; from++) {
                for (int to = 0; to < 3; to++) {
                    if (from != to) {
                        int kind = rest % 3;
                        rest /= 3;
                        if (kind > 0) {
                            cost[from][to] = kind - 1;
                            graph.add(pid(from), pid(to), kind == 1, "");
                        }
                    }
                }
            }
            for (WaitGraph.Chain chain : graph.roots(pid(0))) {
                int root = ((Entity.Pid) chain.root()).pid();
                int other = 3 - root;
                int least = root == 0 ? 0 : Math.min(cost[0][root], cost[0][other] + cost[other][root]);

                assertThat(chain.confidence())
                        .isEqualTo(List.of(Confidence.CERTAIN, Confidence.LIKELY, Confidence.UNKNOWN)
                                .get(least));
            }
        }
    }

    @Test
    void entityThatWaitsForItselfWaitsForNothing() {
        WaitGraph graph = new WaitGraph();
        graph.add(pid(1), pid(1), true, "");

        assertThat(graph.waits(pid(1))).isFalse();
        assertThat(graph.roots(pid(1))).containsExactly(new WaitGraph.Chain(pid(1), List.of(), pid(1), false));
    }

    private static boolean isAWay(WaitGraph.Chain chain) {
        List<Entity> stations = new ArrayList<>(List.of(chain.start()));
        for (WaitGraph.Edge step : chain.steps()) {
            if (!step.from().equals(stations.getLast())) {
                return false;
            }
            stations.add(step.to());
        }
        return stations.getLast().equals(chain.root());
    }

    private static Set<Integer> reachable(boolean[][] leads, int start) {
        Set<Integer> reached = new HashSet<>(Set.of(start));
        for (int round = 0; round < NODES; round++) {
            for (int from = 0; from < NODES; from++) {
                for (int to = 0; to < NODES; to++) {
                    if (reached.contains(from) && leads[from][to]) {
                        reached.add(to);
                    }
                }
            }
        }
        return reached;
    }

    private static boolean any(boolean[] leads) {
        for (boolean one : leads) {
            if (one) {
                return true;
            }
        }
        return false;
    }

    private static Entity pid(int pid) {
        return new Entity.Pid(pid);
    }
}
