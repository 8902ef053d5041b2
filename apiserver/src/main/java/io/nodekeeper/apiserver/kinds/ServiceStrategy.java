package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rules of Services. No cluster IP is assigned, because nothing here routes to it. */
public final class ServiceStrategy implements Strategy {
    private static final List<String> TYPES = List.of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName");
    private static final List<String> AFFINITIES = List.of("ClientIP", "None");
    private static final List<String> PROTOCOLS = List.of("TCP", "UDP", "SCTP");

    @Override
    public Optional<String> nameFault(String name) {
        return Names.labelFault(name);
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object).with("status", JsonObject.EMPTY.with("loadBalancer", JsonObject.EMPTY));
    }

    @Override
    public JsonObject withDefaults(JsonObject service) {
        return service.update("spec", given -> {
            JsonObject spec = ObjectFields.text(given, "type", "ClusterIP");
            spec = ObjectFields.text(spec, "sessionAffinity", "None");
            if (!spec.text("type").equals("ExternalName")) {
                spec = ObjectFields.text(spec, "internalTrafficPolicy", "Cluster");
            }
            return ObjectFields.each(
                    spec,
                    "ports",
                    port -> ObjectFields.value(
                            ObjectFields.text(port, "protocol", "TCP"),
                            "targetPort",
                            port.get("port").orElse(JsonNumber.of(0))));
        });
    }

    @Override
    public List<FieldError> validate(JsonObject service) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = service.object("spec");
        String type = spec.text("type");
        if (!TYPES.contains(type)) {
            errors.add(FieldError.notSupported(
                    "spec.type",
                    "\"" + type + "\"",
                    "\"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\""));
        }
        JsonArray ports = spec.array("ports");
        if (ports.isEmpty()
                && !type.equals("ExternalName")
                && !spec.text("clusterIP").equals("None")) {
            errors.add(FieldError.required("spec.ports", ""));
        }
        String affinity = spec.text("sessionAffinity");
        if (!AFFINITIES.contains(affinity)) {
            errors.add(
                    FieldError.notSupported("spec.sessionAffinity", "\"" + affinity + "\"", "\"ClientIP\", \"None\""));
        }
        if (type.equals("ExternalName") && spec.text("externalName").isEmpty()) {
            errors.add(FieldError.required("spec.externalName", ""));
        }
        Set<String> names = new HashSet<>();
        List<JsonObject> list = ports.objects().toList();
        for (int i = 0; i < list.size(); i++) {
            long port = list.get(i).number("port").orElse(0L);
            String path = "spec.ports[" + i + "]";
            if (port < 1 || port > 65_535) {
                errors.add(FieldError.invalid(
                        path + ".port", Long.toString(port), "must be between 1 and 65535, inclusive"));
            }
            if (!PROTOCOLS.contains(list.get(i).text("protocol"))) {
                errors.add(FieldError.notSupported(
                        path + ".protocol", "\"" + list.get(i).text("protocol") + "\"", "\"SCTP\", \"TCP\", \"UDP\""));
            }
            String name = list.get(i).text("name");
            if (name.isEmpty()) {
                if (list.size() > 1) {
                    errors.add(FieldError.required(path + ".name", ""));
                }
            } else if (!names.add(name)) {
                errors.add(FieldError.duplicate(path + ".name", "\"" + name + "\""));
            } else {
                Names.labelFault(name)
                        .ifPresent(fault ->
                                errors.add(FieldError.invalid(path + ".name", new JsonString(name).toString(), fault)));
            }
            list.get(i)
                    .number("targetPort")
                    .filter(number -> number < 1 || number > 65_535)
                    .ifPresent(number -> errors.add(FieldError.invalid(
                            path + ".targetPort", number.toString(), "must be between 1 and 65535, inclusive")));
        }
        return errors;
    }
}
