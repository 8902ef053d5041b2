package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.validation.SelectorRules;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.List;

/** The rules of NetworkPolicies. A cluster's network plugin enforces them. */
public final class NetworkPolicyStrategy implements Strategy {
    private static final String INGRESS = "Ingress";
    private static final String EGRESS = "Egress";
    private static final List<String> TYPES = List.of(EGRESS, INGRESS);
    private static final List<String> PROTOCOLS = List.of("SCTP", "TCP", "UDP");

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(withDefaults(object));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return Generations.next(withDefaults(object), old);
    }

    @Override
    public JsonObject withDefaults(JsonObject policy) {
        return policy.update("spec", given -> {
            JsonObject spec = ObjectFields.value(given, "podSelector", JsonObject.EMPTY);
            for (String direction : List.of("ingress", "egress")) {
                spec = ObjectFields.each(
                        spec,
                        direction,
                        rule -> ObjectFields.each(rule, "ports", port -> ObjectFields.text(port, "protocol", "TCP")));
            }
            return spec.array("policyTypes").isEmpty() ? spec.with("policyTypes", types(spec)) : spec;
        });
    }

    /** A policy is about incoming traffic, and about outgoing traffic if it has rules for it. */
    private static JsonArray types(JsonObject spec) {
        List<JsonValue> types = spec.array("egress").isEmpty()
                ? List.of(new JsonString(INGRESS))
                : List.of(new JsonString(INGRESS), new JsonString(EGRESS));
        return new JsonArray(types);
    }

    @Override
    public List<FieldError> validate(JsonObject policy) {
        FieldCheck spec = FieldCheck.of(policy.object("spec"), "spec");
        SelectorRules.check(spec, "podSelector");
        rules(spec, "ingress", "from");
        rules(spec, "egress", "to");
        List<String> types = spec.texts("policyTypes");
        if (types.size() > 2) {
            spec.invalid("policyTypes", "may not specify more than two policyTypes");
        }
        for (int i = 0; i < types.size(); i++) {
            spec.oneOf("policyTypes[" + i + "]", types.get(i), TYPES);
        }
        return spec.errors();
    }

    private static void rules(FieldCheck spec, String direction, String peers) {
        for (FieldCheck rule : spec.items(direction)) {
            rule.items("ports").forEach(NetworkPolicyStrategy::port);
            rule.items(peers).forEach(NetworkPolicyStrategy::peer);
        }
    }

    private static void port(FieldCheck port) {
        port.oneOfIfSet("protocol", PROTOCOLS);
        boolean number =
                port.value().get("port").filter(JsonNumber.class::isInstance).isPresent();
        if (number) {
            port.range("port", 1, 65_535);
        } else {
            port.formIfSet("port", Names::labelFault);
        }
        port.number("endPort").ifPresent(end -> {
            if (!number) {
                port.invalidNumber("endPort", end, "may not be specified when `port` is non-numeric or not specified");
            } else if (end < port.number("port").orElse(0L)) {
                port.invalidNumber("endPort", end, "must be greater than or equal to `port`");
            }
            port.range("endPort", 1, 65_535);
        });
    }

    private static void peer(FieldCheck peer) {
        boolean selects = peer.has("podSelector") || peer.has("namespaceSelector");
        SelectorRules.check(peer, "podSelector");
        SelectorRules.check(peer, "namespaceSelector");
        if (!peer.has("ipBlock")) {
            if (!selects) {
                peer.required("", "must specify a peer");
            }
            return;
        }
        if (selects) {
            peer.forbidden("", "may not specify both ipBlock and another peer");
        }
        FieldCheck block = peer.object("ipBlock");
        if (block.require("cidr") && !PodCidrs.isRange(block.text("cidr"))) {
            block.invalid("cidr", PodCidrs.MALFORMED);
        }
        List<String> except = block.texts("except");
        for (int i = 0; i < except.size(); i++) {
            if (!PodCidrs.isRange(except.get(i))) {
                block.invalid("except[" + i + "]", except.get(i), PodCidrs.MALFORMED);
            }
        }
    }
}
