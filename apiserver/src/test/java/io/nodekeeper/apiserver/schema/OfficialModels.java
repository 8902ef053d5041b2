package io.nodekeeper.apiserver.schema;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.annotations.SerializedName;
import io.kubernetes.client.custom.IntOrString;
import io.kubernetes.client.custom.Quantity;
import io.kubernetes.client.openapi.JSON;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The official Java models of Kubernetes' kinds, as the reference for fields and their types. */
final class OfficialModels {
    /** Kinds with the same name in several groups. */
    private static final Map<String, String> NAMES = Map.of(
            "v1/Event", "CoreV1Event",
            "events.k8s.io/v1/Event", "EventsV1Event",
            "authentication.k8s.io/v1/TokenRequest", "AuthenticationV1TokenRequest");

    private static final Gson GSON = new GsonBuilder()
            .registerTypeAdapter(OffsetDateTime.class, new JSON.OffsetDateTimeTypeAdapter())
            .registerTypeAdapter(byte[].class, new JSON.ByteArrayAdapter())
            .create();

    private OfficialModels() {}

    /** A path in an object: fields, {@code []} for an item of a list, {@code {}} for a value of a map. */
    record Place(List<String> path, Type type) {
        /** An object with only {@code value} at this path. */
        JsonObject with(JsonValue value) {
            JsonValue inner = value;
            for (String step : path.reversed()) {
                inner = switch (step) {
                    case "[]" -> JsonArray.of(inner);
                    case "{}" -> JsonObject.EMPTY.with("any.thing", inner);
                    default -> JsonObject.EMPTY.with(step, inner);
                };
            }
            return (JsonObject) inner;
        }

        @Override
        public String toString() {
            return String.join(".", path);
        }
    }

    static Class<?> of(String apiVersion, String kind) {
        try {
            return Class.forName(
                    "io.kubernetes.client.openapi.models." + NAMES.getOrDefault(apiVersion + "/" + kind, "V1" + kind));
        } catch (ClassNotFoundException e) {
            throw new AssertionError("no official model of " + apiVersion + " " + kind, e);
        }
    }

    /** All paths of a kind's objects except apiVersion and kind. */
    static List<Place> places(Class<?> model) {
        List<Place> places = new ArrayList<>();
        collect(List.of(), model, places);
        return places.stream()
                .filter(place -> !place.toString().equals("apiVersion")
                        && !place.toString().equals("kind")
                        && !place.path().isEmpty())
                .toList();
    }

    private static void collect(List<String> path, Type type, List<Place> places) {
        places.add(new Place(path, type));
        if (type instanceof ParameterizedType generic) {
            boolean map = generic.getRawType() == Map.class;
            collect(step(path, map ? "{}" : "[]"), generic.getActualTypeArguments()[map ? 1 : 0], places);
        } else if (isModel(type)) {
            fields((Class<?>) type).forEach((name, inner) -> collect(step(path, name), inner, places));
        }
    }

    private static List<String> step(List<String> path, String next) {
        List<String> longer = new ArrayList<>(path);
        longer.add(next);
        return longer;
    }

    static boolean isModel(Type type) {
        return type instanceof Class<?> known
                && known.getPackageName().equals("io.kubernetes.client.openapi.models")
                && !known.isEnum();
    }

    /** The fields of a model, by JSON name. */
    static Map<String, Type> fields(Class<?> model) {
        Map<String, Type> fields = new HashMap<>();
        for (Field field : model.getDeclaredFields()) {
            SerializedName name = field.getAnnotation(SerializedName.class);
            if (name != null) {
                fields.put(name.value(), field.getGenericType());
            }
        }
        return fields;
    }

    /** Whether Go's encoding/json decodes {@code value} into the Go type of {@code type}. */
    static boolean goTakes(Type type, JsonValue value) {
        if (type instanceof ParameterizedType generic) {
            if (generic.getRawType() == Map.class) {
                return value instanceof JsonObject map
                        && map.fields().values().stream()
                                .allMatch(item -> goTakes(generic.getActualTypeArguments()[1], item));
            }
            return value instanceof JsonArray list
                    && list.items().stream().allMatch(item -> goTakes(generic.getActualTypeArguments()[0], item));
        }
        if (isModel(type)) {
            // The values of these tests have no field of any model.
            return value instanceof JsonObject;
        }
        if (type == String.class) {
            return value instanceof JsonString;
        }
        if (type == Boolean.class) {
            return value instanceof JsonBool;
        }
        if (type == Integer.class || type == Long.class) {
            return isWhole(value, type == Integer.class ? 32 : 64);
        }
        if (type == Double.class) {
            return value instanceof JsonNumber;
        }
        if (type == OffsetDateTime.class) {
            return value instanceof JsonString time
                    && KubeTime.parse(time.value()).isPresent();
        }
        if (type == IntOrString.class) {
            return value instanceof JsonString || isWhole(value, 32);
        }
        if (type == Quantity.class) {
            return value instanceof JsonNumber
                    || (value instanceof JsonString text && text.value().matches("[0-9]+(Gi)?"));
        }
        if (type == byte[].class) {
            return value instanceof JsonString text && isBase64(text.value());
        }
        return type == Object.class;
    }

    private static boolean isWhole(JsonValue value, int bits) {
        return value instanceof JsonNumber number
                && number.literal().matches("-?[0-9]+")
                && new BigDecimal(number.literal()).toBigInteger().bitLength() < bits;
    }

    private static boolean isBase64(String text) {
        try {
            Base64.getDecoder().decode(text);
            return text.length() % 4 == 0;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Whether Gson reads {@code object} as a {@code model}. Gson is less strict than Go with scalars. */
    static boolean gsonTakes(Class<?> model, JsonObject object) {
        try {
            return GSON.fromJson(object.toString(), model) != null;
        } catch (JsonParseException | IllegalArgumentException | DateTimeException e) {
            return false;
        }
    }
}
