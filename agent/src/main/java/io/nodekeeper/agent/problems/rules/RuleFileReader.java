package io.nodekeeper.agent.problems.rules;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.GoDuration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads node-problem-detector's rule files for the plugin {@code kmsg}. Collects all faults of a file. Not thread-safe:
 * one reader reads one file.
 */
public final class RuleFileReader {
    /** The most messages in a buffer. node-problem-detector's own files have 10 or 20. */
    static final int BUFFER = 100;
    /** The most rules of a file. The longest file of node-problem-detector has 30. */
    static final int RULES = 256;
    /** The most characters of a pattern, reason or message. */
    static final int TEXT = 1_000;
    /**
     * The largest product of all counted repetitions in a pattern. RE2 copies a repeated part as often as it is counted,
     * so nested counts multiply the memory of the compiled pattern.
     */
    static final long REPETITIONS = 1_000;

    private static final Pattern COUNTED = Pattern.compile("\\{(\\d*)(?:,(\\d*))?\\}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,314}[A-Za-z0-9])?");
    private static final Set<String> FIELDS = Set.of(
            "plugin",
            "pluginConfig",
            "logPath",
            "lookback",
            "delay",
            "bufferSize",
            "source",
            "metricsReporting",
            "skipInitialStatus",
            "conditions",
            "rules");

    private final List<String> faults = new ArrayList<>();

    /** The content of a file, or the faults that it has. */
    public record Result(Optional<RuleFile> file, List<String> faults) {}

    private RuleFileReader() {}

    /** Reads the text of a rule file. */
    public static Result read(String text) {
        RuleFileReader reader = new RuleFileReader();
        JsonValue value;
        try {
            value = Json.parse(text);
        } catch (JsonException e) {
            return new Result(Optional.empty(), List.of("expected JSON: " + e.getMessage()));
        }
        if (!(value instanceof JsonObject object)) {
            return new Result(Optional.empty(), List.of("expected an object with the fields plugin and rules"));
        }
        RuleFile file = reader.file(object);
        return reader.faults.isEmpty()
                ? new Result(Optional.of(file), List.of())
                : new Result(Optional.empty(), List.copyOf(reader.faults));
    }

    private RuleFile file(JsonObject object) {
        object.fields().keySet().stream()
                .filter(field -> !FIELDS.contains(field))
                .forEach(field -> faults.add("unknown field \"" + field + "\""));
        String plugin = text(object, "plugin", "kmsg");
        if (!plugin.equals("kmsg")) {
            faults.add("plugin is \"" + plugin + "\"; expected kmsg, the kernel's log");
        }
        List<DefaultCondition> conditions = conditions(array(object, "conditions"));
        Set<String> types = new HashSet<>();
        for (DefaultCondition condition : conditions) {
            if (!types.add(condition.type())) {
                faults.add("conditions has the type \"" + condition.type() + "\" twice; expected each type once");
            }
        }
        return new RuleFile(
                text(object, "source", "kernel-monitor"),
                path(text(object, "logPath", "/dev/kmsg")),
                duration(text(object, "lookback", "0s")),
                bufferSize(object),
                conditions,
                rules(array(object, "rules"), types));
    }

    private Path path(String text) {
        if (!text.startsWith("/") || text.indexOf('\0') >= 0) {
            faults.add("logPath is \"" + text + "\"; expected an absolute path such as /dev/kmsg");
            return Path.of("/dev/kmsg");
        }
        return Path.of(text);
    }

    private Duration duration(String text) {
        try {
            Duration duration = GoDuration.parse(text);
            if (!duration.isNegative()) {
                return duration;
            }
        } catch (IllegalArgumentException e) {
            // The same fault as for a negative duration.
        }
        faults.add("lookback is \"" + text + "\"; expected a duration of 0s or more such as 5m");
        return Duration.ZERO;
    }

    private int bufferSize(JsonObject object) {
        if (!object.has("bufferSize")) {
            return 10;
        }
        long size = object.number("bufferSize").orElse(-1L);
        if (size < 1 || size > BUFFER) {
            faults.add("bufferSize is "
                    + object.get("bufferSize").map(JsonValue::toString).orElse("") + "; expected 1 to " + BUFFER);
            return 1;
        }
        return (int) size;
    }

    private List<DefaultCondition> conditions(JsonArray array) {
        List<DefaultCondition> conditions = new ArrayList<>();
        for (int i = 0; i < Math.min(array.items().size(), RULES); i++) {
            String where = "conditions[" + i + "]";
            if (!(array.items().get(i) instanceof JsonObject object)) {
                faults.add(where + ": expected an object with type, reason and message");
                continue;
            }
            conditions.add(new DefaultCondition(
                    name(object, where, "type"), name(object, where, "reason"), text(object, "message", "")));
        }
        return conditions;
    }

    private List<Rule> rules(JsonArray array, Set<String> types) {
        if (array.items().size() > RULES) {
            faults.add("rules has " + array.items().size() + " entries; expected " + RULES + " at most");
        }
        List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < Math.min(array.items().size(), RULES); i++) {
            String where = "rules[" + i + "]";
            if (!(array.items().get(i) instanceof JsonObject object)) {
                faults.add(where + ": expected an object with type, reason and pattern");
                continue;
            }
            Optional<String> condition = condition(object, where, types);
            String reason = name(object, where, "reason");
            pattern(object, where).ifPresent(pattern -> rules.add(new Rule(condition, reason, pattern)));
        }
        return rules;
    }

    private Optional<String> condition(JsonObject object, String where, Set<String> types) {
        String type = text(object, "type", "");
        String condition = text(object, "condition", "");
        switch (type) {
            case "temporary" -> {
                return Optional.empty();
            }
            case "permanent" -> {
                if (!types.contains(condition)) {
                    faults.add(where + ": condition is \"" + condition + "\"; expected a type of conditions");
                }
                return Optional.of(condition);
            }
            default -> {
                faults.add(where + ": type is \"" + type + "\"; expected temporary or permanent");
                return Optional.empty();
            }
        }
    }

    private Optional<Pattern> pattern(JsonObject object, String where) {
        String text = text(object, "pattern", "");
        if (text.isEmpty()) {
            faults.add(where + ": pattern is missing; expected a regular expression in RE2 syntax");
            return Optional.empty();
        }
        if (text.length() > TEXT) {
            faults.add(where + ": pattern has " + text.length() + " characters; expected " + TEXT + " at most");
            return Optional.empty();
        }
        if (repetitions(text) > REPETITIONS) {
            faults.add(where + ": the repetition counts of pattern multiply to more than " + REPETITIONS
                    + "; expected smaller counts");
            return Optional.empty();
        }
        try {
            return Optional.of(compile(text));
        } catch (PatternSyntaxException e) {
            // RE2/J calls a closing parenthesis without an opening one an internal error.
            faults.add(where + ": pattern is \"" + text + "\"; expected a regular expression in RE2 syntax: "
                    + (e.getDescription().contains("internal error") ? "unexpected )" : e.getDescription()));
            return Optional.empty();
        }
    }

    /** The pattern for the end of the buffered messages, as in node-problem-detector. */
    static Pattern compile(String text) {
        // Compiled alone first, so that an error shows the user's text and brackets cannot close the group around it.
        Pattern.compile(text);
        return Pattern.compile("(?:" + text + ")\\z");
    }

    private static long repetitions(String pattern) {
        long product = 1;
        Matcher counts = COUNTED.matcher(pattern);
        while (counts.find() && product <= REPETITIONS) {
            product *= Math.max(1, Math.max(count(counts.group(1)), count(counts.group(2))));
        }
        return product;
    }

    private static long count(String digits) {
        // RE2 refuses counts above 1000.
        return digits == null || digits.isEmpty() ? 1 : digits.length() > 4 ? 10_000 : Long.parseLong(digits);
    }

    private String name(JsonObject object, String where, String field) {
        String text = text(object, field, "");
        if (!NAME.matches(text)) {
            faults.add(where + ": " + field + " is \"" + text
                    + "\"; expected letters, digits, '-', '_' and '.', such as KernelDeadlock");
        }
        return text;
    }

    private String text(JsonObject object, String field, String byDefault) {
        Optional<JsonValue> value = object.get(field);
        if (value.isEmpty()) {
            return byDefault;
        }
        if (value.get() instanceof JsonString string && string.value().length() <= 2 * TEXT) {
            return string.value();
        }
        faults.add(
                field + " is a " + value.get().kind() + "; expected a string of " + 2 * TEXT + " characters at most");
        return byDefault;
    }

    private JsonArray array(JsonObject object, String field) {
        Optional<JsonValue> value = object.get(field);
        if (value.isPresent() && !(value.get() instanceof JsonArray)) {
            faults.add(field + " is a " + value.get().kind() + "; expected a list");
        }
        return object.array(field);
    }
}
