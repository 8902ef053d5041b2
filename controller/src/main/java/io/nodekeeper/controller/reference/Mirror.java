package io.nodekeeper.controller.reference;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reflector;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A copy by name of the objects of a reflector, in the form that its reader needs. Passes every event to another
 * handler after updating the copy. Confined to the loop.
 */
final class Mirror<T> implements Reflector.Handler {
    private final Map<String, T> byName = new TreeMap<>();
    private final Function<JsonObject, T> form;
    private final Reflector.Handler next;

    Mirror(Function<JsonObject, T> form, Reflector.Handler next) {
        this.form = form;
        this.next = next;
    }

    /** All current objects, in the order of their names. */
    List<T> all() {
        return List.copyOf(byName.values());
    }

    /** The object of that name. */
    Optional<T> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    @Override
    public void onListing() {
        next.onListing();
    }

    @Override
    public void onReplace(List<JsonObject> objects) {
        byName.clear();
        objects.forEach(object -> byName.put(name(object), form.apply(object)));
        next.onReplace(objects);
    }

    @Override
    public void onChange(JsonObject object) {
        byName.put(name(object), form.apply(object));
        next.onChange(object);
    }

    @Override
    public void onDelete(JsonObject object) {
        byName.remove(name(object));
        next.onDelete(object);
    }

    private static String name(JsonObject object) {
        return object.object("metadata").text("name");
    }
}
