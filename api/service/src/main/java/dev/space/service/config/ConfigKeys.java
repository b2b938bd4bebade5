package dev.space.service.config;

import dev.space.model.NearestKey;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * The keys that {@link SpaceConfig} knows, read from the interface so that no second list exists.
 */
public final class ConfigKeys {
    private ConfigKeys() {}

    /** All keys, {@code space.} included. */
    public static Set<String> known() {
        Set<String> keys = new TreeSet<>();
        collect("space", SpaceConfig.class, keys);
        return keys;
    }

    /** One complaint for each key under {@code space.} that nobody knows. */
    public static List<String> complaints(Collection<String> given) {
        Set<String> known = known();
        List<String> complaints = new ArrayList<>();
        for (String key : new TreeSet<>(given)) {
            if (key.startsWith("space.") && !known.contains(key)) {
                complaints.add(NearestKey.complaint(key, known));
            }
        }
        return complaints;
    }

    private static void collect(String prefix, Class<?> mapping, Set<String> keys) {
        for (Method method : mapping.getMethods()) {
            String key = prefix + '.' + kebab(method.getName());
            if (method.getReturnType().getEnclosingClass() == SpaceConfig.class) {
                collect(key, method.getReturnType(), keys);
            } else {
                keys.add(key);
            }
        }
    }

    private static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }
}
