package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.status.ResourceList;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The size of the pages of an {@code emptyDir} with the medium {@code HugePages} or {@code HugePages-SIZE}, by a kubelet's rule:
 * the pod must request pages of that size, and without a size all that it requests must have the same. Pure.
 */
final class HugePageMedium {
    /** The medium without a size. */
    private static final String ANY = "HugePages";

    private HugePageMedium() {}

    /**
     * The size of the pages in bytes.
     *
     * @throws IOException if the pod does not request them, or if its requests leave the size open
     */
    static long bytes(Pod pod, String medium) throws IOException {
        List<Long> requested = Stream.concat(pod.initContainers().stream(), pod.containers().stream())
                .map(ContainerSpec::requested)
                .flatMap(names -> names.stream().map(ResourceList::hugePageBytes))
                .flatMapToLong(OptionalLong::stream)
                .distinct()
                .boxed()
                .toList();
        if (medium.equals(ANY)) {
            if (requested.size() > 1) {
                throw new IOException("medium " + ANY + " needs one size of huge pages, but the containers request "
                        + requested.size() + " sizes; expected " + ANY + "-SIZE, such as HugePages-2Mi");
            }
            return requested.stream()
                    .findFirst()
                    .orElseThrow(() -> new IOException("no container requests huge pages for the medium " + ANY));
        }
        OptionalLong wanted = ResourceList.hugePageBytes(medium.replaceFirst("^HugePages", "hugepages"));
        if (wanted.isEmpty() || !requested.contains(wanted.getAsLong())) {
            throw new IOException("no container requests the huge pages of the medium " + medium);
        }
        return wanted.getAsLong();
    }
}
