package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.validation.SelectorRules;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The rules of ValidatingWebhookConfigurations. They are stored, but the webhooks are not called; a warning says so. The
 * expressions of match conditions are not compiled.
 */
public final class WebhookConfigurationStrategy implements Strategy {
    private static final List<String> OPERATIONS = List.of("*", "CONNECT", "CREATE", "DELETE", "UPDATE");
    private static final List<String> SCOPES = List.of("*", "Cluster", "Namespaced");

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(withDefaults(object));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        JsonObject next = withDefaults(object);
        return Generations.next(next, old, !next.array("webhooks").equals(old.array("webhooks")));
    }

    @Override
    public JsonObject withDefaults(JsonObject configuration) {
        return ObjectFields.each(configuration, "webhooks", given -> {
            JsonObject webhook = ObjectFields.text(given, "failurePolicy", "Fail");
            webhook = ObjectFields.text(webhook, "matchPolicy", "Equivalent");
            webhook = ObjectFields.value(webhook, "namespaceSelector", JsonObject.EMPTY);
            webhook = ObjectFields.value(webhook, "objectSelector", JsonObject.EMPTY);
            webhook = ObjectFields.value(webhook, "timeoutSeconds", JsonNumber.of(10));
            webhook = ObjectFields.each(webhook, "rules", rule -> ObjectFields.text(rule, "scope", "*"));
            return ObjectFields.inside(
                    webhook,
                    "clientConfig",
                    client -> ObjectFields.inside(
                            client, "service", service -> ObjectFields.value(service, "port", JsonNumber.of(443))));
        });
    }

    @Override
    public List<String> warnings(Supplier<JsonObject> configuration) {
        return configuration.get().array("webhooks").isEmpty()
                ? List.of()
                : List.of("this API server stores ValidatingWebhookConfigurations, but does not call their webhooks");
    }

    @Override
    public List<FieldError> validate(JsonObject configuration) {
        FieldCheck check = FieldCheck.of(configuration, "");
        Set<String> names = new HashSet<>();
        for (FieldCheck webhook : check.items("webhooks")) {
            name(webhook);
            if (!names.add(webhook.text("name"))) {
                webhook.duplicate("name", webhook.text("name"));
            }
            client(webhook);
            webhook.items("rules").forEach(WebhookConfigurationStrategy::rule);
            policies(webhook);
            conditions(webhook);
        }
        return check.errors();
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }

    private static void name(FieldCheck webhook) {
        if (!webhook.require("name")) {
            return;
        }
        String name = webhook.text("name");
        Optional<String> fault = Names.subdomainFault(name);
        if (fault.isPresent()) {
            webhook.invalid("name", name, fault.get());
        } else if (name.split("\\.").length < 3) {
            webhook.invalid("name", name, "should be a domain with at least three segments separated by dots");
        }
    }

    private static void client(FieldCheck webhook) {
        FieldCheck client = webhook.object("clientConfig");
        if (client.has("url") == client.has("service")) {
            webhook.required("clientConfig", "exactly one of url or service is required");
        }
        if (client.has("url") && !client.text("url").startsWith("https://")) {
            client.invalid("url", "'https' is the only allowed URL scheme; desired format: https://host[/path]");
        }
        if (client.has("service")) {
            FieldCheck service = client.object("service");
            if (service.text("name").isEmpty()) {
                service.required("name", "service name is required");
            }
            if (service.text("namespace").isEmpty()) {
                service.required("namespace", "service namespace is required");
            }
            service.range("port", 1, 65_535);
        }
    }

    private static void rule(FieldCheck rule) {
        for (String field : List.of("apiGroups", "apiVersions", "operations", "resources")) {
            if (rule.texts(field).isEmpty()) {
                rule.required(field, "");
            }
        }
        List<String> operations = rule.texts("operations");
        if (operations.size() > 1 && operations.contains("*")) {
            rule.invalid("operations", "if '*' is present, must not specify other operations");
        }
        for (int i = 0; i < operations.size(); i++) {
            rule.oneOf("operations[" + i + "]", operations.get(i), OPERATIONS);
        }
        rule.oneOfIfSet("scope", SCOPES);
    }

    private static void policies(FieldCheck webhook) {
        webhook.oneOfIfSet("failurePolicy", List.of("Fail", "Ignore"));
        webhook.oneOfIfSet("matchPolicy", List.of("Equivalent", "Exact"));
        if (webhook.text("sideEffects").isEmpty()) {
            webhook.required("sideEffects", "must specify one of None, NoneOnDryRun");
        }
        webhook.oneOfIfSet("sideEffects", List.of("None", "NoneOnDryRun"));
        webhook.number("timeoutSeconds")
                .filter(seconds -> seconds < 1 || seconds > 30)
                .ifPresent(seconds -> webhook.invalidNumber(
                        "timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds"));
        SelectorRules.check(webhook, "namespaceSelector");
        SelectorRules.check(webhook, "objectSelector");
        List<String> versions = webhook.texts("admissionReviewVersions");
        if (versions.isEmpty()) {
            webhook.required("admissionReviewVersions", "must specify one of v1, v1beta1");
        } else if (!versions.contains("v1") && !versions.contains("v1beta1")) {
            webhook.invalid("admissionReviewVersions", "must include at least one of v1, v1beta1");
        }
    }

    private static void conditions(FieldCheck webhook) {
        Set<String> names = new HashSet<>();
        for (FieldCheck condition : webhook.items("matchConditions")) {
            condition.require("expression");
            if (condition.require("name")) {
                condition.form("name", Names::qualifiedFault);
                if (!names.add(condition.text("name"))) {
                    condition.duplicate("name", condition.text("name"));
                }
            }
        }
    }
}
