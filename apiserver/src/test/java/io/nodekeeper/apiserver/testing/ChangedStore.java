package io.nodekeeper.apiserver.testing;

import io.nodekeeper.store.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Function;

/** A store of which some methods do something else. */
public final class ChangedStore {
    private ChangedStore() {}

    /** {@code store}; {@code changes} replaces the methods of these names, and gets their arguments. */
    public static Store of(Store store, Map<String, Function<Object[], Object>> changes) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (changes.containsKey(method.getName())) {
                        return changes.get(method.getName()).apply(arguments);
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
