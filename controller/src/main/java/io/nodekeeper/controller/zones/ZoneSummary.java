package io.nodekeeper.controller.zones;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The state of a zone in numbers.
 *
 * @param zone its key, see {@link ZoneKey}
 * @param state its state, from the nodes that count
 * @param nodes the number of its nodes
 * @param notReady how many of them are not Ready
 * @param waiting how many of these wait for their NoExecute taint
 */
public record ZoneSummary(String zone, ZoneState state, int nodes, int notReady, int waiting) {

    /** The zones of {@code nodes}, by key. */
    public static List<ZoneSummary> of(Collection<ZoneNode> nodes, float unhealthyThreshold) {
        Map<String, List<ZoneNode>> zones =
                nodes.stream().collect(Collectors.groupingBy(ZoneNode::zone, TreeMap::new, Collectors.toList()));
        List<ZoneSummary> summaries = new ArrayList<>();
        zones.forEach((zone, members) -> summaries.add(of(zone, members, unhealthyThreshold)));
        return summaries;
    }

    private static ZoneSummary of(String zone, List<ZoneNode> members, float unhealthyThreshold) {
        List<ZoneNode> counted = members.stream().filter(ZoneNode::counted).toList();
        int countedReady = (int) counted.stream().filter(ZoneNode::isReady).count();
        int ready = (int) members.stream().filter(ZoneNode::isReady).count();
        int waiting = (int) members.stream().filter(ZoneNode::wants).count();
        ZoneState state = counted.isEmpty()
                ? ZoneState.INITIAL
                : ZoneState.of(countedReady, counted.size() - countedReady, unhealthyThreshold);
        return new ZoneSummary(zone, state, members.size(), members.size() - ready, waiting);
    }
}
