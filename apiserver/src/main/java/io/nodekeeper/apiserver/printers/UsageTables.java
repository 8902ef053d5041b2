package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/** The table columns of usage, as metrics-server shows them. */
public final class UsageTables {
    /** The usage of a node. */
    public static final Table NODES = new Table(List.of(
            Tables.name(),
            Tables.column("cpu", node -> node.object("usage").text("cpu")),
            Tables.column("memory", node -> node.object("usage").text("memory")),
            Tables.column("Window", node -> node.text("window"))));

    /** The usage of a pod: the sum of its containers. */
    public static final Table PODS = new Table(List.of(
            Tables.name(),
            Tables.column("cpu", pod -> sum(pod, "cpu").movePointRight(9).toBigInteger() + "n"),
            Tables.column("memory", pod -> sum(pod, "memory").toBigInteger().shiftRight(10) + "Ki"),
            Tables.column("Window", pod -> pod.text("window"))));

    private UsageTables() {}

    private static BigDecimal sum(JsonObject pod, String resource) {
        return pod.array("containers")
                .objects()
                .map(container -> container.object("usage").get(resource))
                .flatMap(Optional::stream)
                .map(UsageTables::value)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static BigDecimal value(JsonValue quantity) {
        return Quantity.from(quantity).map(Quantity::value).orElse(BigDecimal.ZERO);
    }
}
