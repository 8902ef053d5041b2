package io.nodekeeper.agent.config.file;

import io.nodekeeper.api.yaml.YamlProblem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.constructor.StandardConstructor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Reads YAML or JSON into a {@link ConfigTree}. Names that are set twice are faults. Used by one thread. */
public final class ConfigParser {
    /** The deepest field has 4 levels; the rest is room for lists of objects. */
    private static final int DEPTH = 10;

    private static final String API_VERSION = "kubelet.config.k8s.io/v1beta1";
    private static final String KIND = "KubeletConfiguration";

    private final String file;
    private final int order;
    private final List<String> faults;
    private final Map<String, Place> places = new TreeMap<>();

    private ConfigParser(String file, int order, List<String> faults) {
        this.file = file;
        this.order = order;
        this.faults = faults;
    }

    /**
     * The fields of one file without {@code apiVersion} and {@code kind}, which are checked.
     *
     * @param file its name for messages; empty if it is the only one
     * @param order of the file among those that are merged
     * @param faults receives what is wrong
     */
    public static ConfigTree parse(String file, int order, String yaml, List<String> faults) {
        return new ConfigParser(file, order, faults).parse(yaml);
    }

    private ConfigTree parse(String yaml) {
        LoadSettings settings = LoadSettings.builder()
                .setAllowDuplicateKeys(true)
                .setLabel(file.isEmpty() ? "config file" : file)
                .build();
        String name = file.isEmpty() ? "config file" : file;
        try {
            if (!isFlat(yaml, settings)) {
                return ConfigTree.EMPTY;
            }
            Optional<Node> root = new Compose(settings).composeString(yaml);
            if (!(root.orElse(null) instanceof MappingNode map)) {
                faults.add(name + " must contain an object of kind KubeletConfiguration");
                return ConfigTree.EMPTY;
            }
            places("", map);
            Object value = new StandardConstructor(settings).constructSingleDocument(root);
            Map<String, Object> fields = ConfigTree.named((Map<?, ?>) value);
            fixed(fields, "apiVersion", API_VERSION);
            fixed(fields, "kind", KIND);
            return new ConfigTree(fields, places);
        } catch (YamlEngineException e) {
            faults.add(name + " is not YAML: " + YamlProblem.text(e));
            return ConfigTree.EMPTY;
        }
    }

    /** Whether the text has no aliases, which can make a short text large, and is not too deep. */
    private boolean isFlat(String yaml, LoadSettings settings) {
        int depth = 0;
        for (Event event : new Parse(settings).parseString(yaml)) {
            if (event instanceof CollectionStartEvent) {
                depth++;
            } else if (event instanceof CollectionEndEvent) {
                depth--;
            }
            if (event instanceof AliasEvent) {
                faults.add(place(event.getStartMark()) + ": aliases are not supported; expected the value itself");
                return false;
            }
            if (depth > DEPTH) {
                faults.add(place(event.getStartMark()) + ": more than " + DEPTH + " levels; no field has as many");
                return false;
            }
        }
        return true;
    }

    private void places(String prefix, MappingNode map) {
        for (NodeTuple entry : map.getValue()) {
            if (!(entry.getKeyNode() instanceof ScalarNode key)) {
                // The constructor refuses the document.
                continue;
            }
            Place place = place(key.getStartMark());
            String path = prefix + key.getValue();
            Place before = places.putIfAbsent(path, place);
            if (before != null) {
                faults.add(place + ": field \"" + path + "\" is set twice; first in line " + before.line());
            }
            if (entry.getValueNode() instanceof MappingNode inner) {
                places(path + ".", inner);
            }
        }
    }

    private Place place(Optional<Mark> mark) {
        return new Place(file, order, mark.map(at -> at.getLine() + 1).orElse(0));
    }

    private void fixed(Map<String, Object> fields, String field, String expected) {
        Object value = fields.remove(field);
        if (!expected.equals(value)) {
            String prefix = Optional.ofNullable(places.get(field))
                    .map(place -> place + ": ")
                    .orElse(file.isEmpty() ? "" : file + ": ");
            faults.add(prefix + field + " must be " + expected + ", got " + value);
        }
    }
}
