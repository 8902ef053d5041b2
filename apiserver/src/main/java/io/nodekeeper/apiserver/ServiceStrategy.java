package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonNumber;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Names;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of Services. No cluster IP is given out: nothing here routes to it. */
final class ServiceStrategy implements Strategy {
    private static final List<String> TYPES = List.of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName");
    private static final List<String> PROTOCOLS = List.of("TCP", "UDP", "SCTP");

    @Override
    public Optional<String> nameFault(String name) {
        return Names.labelFault(name);
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return defaulted(object).with("status", JsonObject.EMPTY.with("loadBalancer", JsonObject.EMPTY));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return defaulted(object);
    }

    private static JsonObject defaulted(JsonObject service) {
        return service.update("spec", given -> {
            JsonObject spec = Defaults.text(given, "type", "ClusterIP");
            spec = Defaults.text(spec, "sessionAffinity", "None");
            return Defaults.each(
                    spec,
                    "ports",
                    port -> Defaults.value(
                            Defaults.text(port, "protocol", "TCP"),
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
            if (list.size() > 1 && list.get(i).text("name").isEmpty()) {
                errors.add(FieldError.required(path + ".name", ""));
            }
        }
        return errors;
    }
}
