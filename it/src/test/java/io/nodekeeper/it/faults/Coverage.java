package io.nodekeeper.it.faults;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which layers were seen to fail in which ways. */
final class Coverage {
    private Coverage() {}

    /**
     * A table of Markdown, layers by ways: "–" where the catalog has no fault, else how many were right of how many were
     * seen; parts of a pair count each.
     */
    static String table(List<Primitive> catalog, List<FaultResult> results) {
        StringBuilder table = new StringBuilder("| |");
        Stream.of(Way.values())
                .forEach(way -> table.append(' ').append(way.text()).append(" |"));
        table.append("\n|---|").append("---|".repeat(Way.values().length)).append('\n');
        for (Layer layer : Layer.values()) {
            table.append("| ").append(layer.text()).append(" |");
            for (Way way : Way.values()) {
                table.append(' ').append(cell(layer, way, catalog, results)).append(" |");
            }
            table.append('\n');
        }
        return table.toString();
    }

    private static String cell(Layer layer, Way way, List<Primitive> catalog, List<FaultResult> results) {
        if (catalog.stream().noneMatch(primitive -> is(primitive, layer, way))) {
            return "–";
        }
        List<Judgement.Verdict> seen = results.stream()
                .filter(FaultResult::counts)
                .flatMap(result -> result.fault().parts().stream()
                        .filter(part -> is(part, layer, way))
                        .map(part -> result.verdict()))
                .collect(Collectors.toList());
        long right = seen.stream()
                .filter(verdict -> verdict == Judgement.Verdict.RIGHT)
                .count();
        return right + " of " + seen.size();
    }

    private static boolean is(Primitive primitive, Layer layer, Way way) {
        return primitive.layer() == layer && primitive.way() == way;
    }
}
