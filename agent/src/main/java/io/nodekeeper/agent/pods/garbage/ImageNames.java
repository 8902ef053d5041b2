package io.nodekeeper.agent.pods.garbage;

import io.nodekeeper.cri.Image;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;

/** Which images a name means: runtimes show full names, and pods may use short ones. Stateless. */
final class ImageNames {
    private static final String HUB = "docker.io/";

    /** The most characters of a name that can be an image's; a pod's has no limit. */
    private static final int LONGEST = 4_096;

    private ImageNames() {}

    /** Whether {@code image} is one of {@code names}, which are names as pods have them, full names, or ids. */
    static boolean isOneOf(Image image, Collection<String> names) {
        return names.stream().anyMatch(name -> name.length() <= LONGEST && is(image, name));
    }

    private static boolean is(Image image, String name) {
        return image.id().equals(name)
                || image.id().equals("sha256:" + name)
                || forms(name).stream()
                        .anyMatch(form ->
                                image.tags().contains(form) || image.digests().contains(form));
    }

    /** All that a name can stand for; more is kept than needed if a runtime resolves it otherwise. */
    private static Set<String> forms(String name) {
        int slash = name.lastIndexOf('/');
        String last = name.substring(slash + 1);
        String tagged = last.contains(":") || last.contains("@") ? name : name + ":latest";
        Set<String> forms = new LinkedHashSet<>();
        forms.add(name);
        forms.add(tagged);
        forms.add(HUB + tagged);
        forms.add(HUB + "library/" + tagged);
        int at = tagged.indexOf('@');
        int colon = at < 0 ? -1 : tagged.indexOf(':', tagged.lastIndexOf('/', at) + 1);
        if (colon >= 0 && colon < at) {
            // With a digest the tag does not count.
            forms.addAll(forms(tagged.substring(0, colon) + tagged.substring(at)));
        }
        return forms;
    }
}
