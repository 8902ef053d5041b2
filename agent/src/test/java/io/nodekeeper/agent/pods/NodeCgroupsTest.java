package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.pods.cgroups.PodCgroups;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.ContainerState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods with cgroups of their own, in directories that imitate the kernel's; the runtime is simulated. */
class NodeCgroupsTest extends SimulatedNode {
    private Path memory;
    private Path processor;

    @BeforeEach
    void mount() throws IOException {
        Path mounted = directory.resolve("sys/fs/cgroup");
        memory = Files.createDirectories(mounted.resolve("memory"));
        processor = Files.createDirectories(mounted.resolve("cpu,cpuacct"));
        Path pids = Files.createDirectories(mounted.resolve("pids"));
        for (Path hierarchy : List.of(memory, processor, pids)) {
            Files.createFile(hierarchy.resolve("cgroup.procs"));
        }
        PodCgroups made = new PodCgroups(directory, CgroupConfig.DEFAULT, new Capacity(4, 1L << 32, 1_000), List.of());
        made.makeNode();
        cgroups = Optional.of(made);
    }

    /** The kernel's files vanish with their directory; these do not. */
    private void removeFiles(Path cgroup) throws IOException {
        for (String file : List.of("cpu.shares", "memory.limit_in_bytes")) {
            Files.deleteIfExists(cgroup.resolve(file));
        }
    }

    @Test
    void aPodHasItsCgroupBeforeItsSandboxAndLosesItAtItsEnd() throws IOException {
        start(10);
        add("a");
        advance(3);

        assertThat(ready("a")).isEqualTo("True");
        Path cgroup = processor.resolve("kubepods/besteffort/poduid-a");
        assertThat(cgroup.resolve("cpu.shares")).hasContent("2");

        removeFiles(cgroup);
        delete("a");
        advance(5);

        assertThat(pods).isEmpty();
        assertThat(cgroup).doesNotExist();
        assertThat(memory.resolve("kubepods/besteffort/poduid-a")).doesNotExist();
    }

    @Test
    void aPodWithoutItsCgroupWaitsWithTheKubeletsEventAndOthersStart() throws IOException {
        // A file in the place of the cgroup.
        Path obstacle = Files.createFile(memory.resolve("kubepods/besteffort/poduid-a"));
        start(10);
        add("a");
        add("b");
        advance(3);

        assertThat(ready("b")).isEqualTo("True");
        assertThat(ready("a")).isEqualTo("False");
        assertThat(events)
                .anySatisfy(event -> assertThat(event)
                        .startsWith("a Warning FailedCreatePodContainer unable to ensure pod container exists: "));
        assertThat(events).noneMatch(event -> event.contains("FailedCreatePodSandBox"));

        Files.delete(obstacle);
        advance(15);
        assertThat(ready("a")).isEqualTo("True");
    }

    @Test
    void theWeightOfBurstablePodsFollowsThem() throws IOException {
        start(10);
        add("a", "\"resources\": {\"requests\": {\"cpu\": \"500m\"}}", "");
        add("b", "\"resources\": {\"requests\": {\"cpu\": \"1\"}}", "");
        advance(3);
        Path weight = processor.resolve("kubepods/burstable/cpu.shares");

        assertThat(weight).hasContent("1536");

        removeFiles(processor.resolve("kubepods/burstable/poduid-a"));
        delete("a");
        advance(5);
        assertThat(weight).hasContent("1024");
    }

    @Test
    void theWeightOfBurstablePodsCountsOneThatIsEnding() throws IOException {
        // given two pods, of which one takes 20 s to end
        start(10);
        add("a", "\"resources\": {\"requests\": {\"cpu\": \"500m\"}}", "");
        add("b", "\"resources\": {\"requests\": {\"cpu\": \"1\"}}", "");
        advance(3);
        Path weight = processor.resolve("kubepods/burstable/cpu.shares");
        runtime.delay("StopContainer", Duration.ofSeconds(20));

        // when that one is deleted
        delete("a");
        advance(10);

        // then it counts until it has ended
        assertThat(weight).hasContent("1536");
        advance(15);
        assertThat(weight).hasContent("1024");
    }

    @Test
    void cgroupsOfPodsThatNoSourceHasAreRemovedAtTheStartAndEachMinute() throws IOException {
        Path early = Files.createDirectories(memory.resolve("kubepods/burstable/podearly/one"));
        Path foreign = Files.createDirectories(memory.resolve("elsewhere/podearly"));
        start(10);
        add("a");
        advance(10);
        assertThat(early.getParent()).doesNotExist();

        Path late = Files.createDirectories(memory.resolve("kubepods/podlate"));
        advance(60);

        assertThat(late).doesNotExist();
        assertThat(foreign).exists();
        assertThat(memory.resolve("kubepods/besteffort/poduid-a")).exists();
        assertThat(manager().size()).isEqualTo(1);
    }

    @Test
    void whatBecameOfTheLimitOfAllPodsIsToldOnceUntilItChanges() throws IOException {
        start(10);
        advance(130);
        Path limit = memory.resolve("kubepods/memory.limit_in_bytes");
        assertThat(limit).hasContent("4294967296");
        Files.delete(limit);
        Files.createDirectory(limit);
        advance(130);
        Files.delete(limit);
        advance(61);

        assertThat(events).hasSize(3);
        assertThat(events.get(0)).isEqualTo("node Updated Node Allocatable limit across pods");
        assertThat(events.get(1))
                .startsWith("node Failed to update Node Allocatable Limits: cannot write 4294967296 to ");
        assertThat(events.get(2)).isEqualTo("node Updated Node Allocatable limit across pods");
    }

    @Test
    void aPodWhoseCgroupCannotBeRemovedEndsAfterSomeTries() throws IOException {
        start(10);
        add("a");
        advance(3);
        // The imitation's own files keep the directory.
        Path cgroup = processor.resolve("kubepods/besteffort/poduid-a");

        delete("a");
        advance(5);
        assertThat(pods).hasSize(1);
        assertThat(events)
                .anyMatch(event -> event.startsWith(
                        "a Warning FailedKillPod error killing pod: cgroup /kubepods/besteffort/poduid-a cannot"));
        advance(60);

        assertThat(pods).isEmpty();
        assertThat(cgroup).exists();
        removeFiles(cgroup);
        advance(130);
        assertThat(cgroup).doesNotExist();
    }

    @Test
    void aPodThatHasSucceededLosesItsCgroupWhileItStaysInTheApi() throws IOException {
        start(10);
        change("job", Json.parseObject("""
                {"metadata": {"name": "job", "namespace": "shop", "uid": "uid-job", "resourceVersion": "1"},
                 "spec": {"nodeName": "n1", "restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}]},
                 "status": {"phase": "Pending"}}
                """));
        advance(3);
        Path cgroup = processor.resolve("kubepods/besteffort/poduid-job");
        assertThat(cgroup).exists();
        removeFiles(cgroup);

        runtime.container("made-2", "uid-job", "app", ContainerState.EXITED);
        advance(70);

        assertThat(phase("job")).isEqualTo("Succeeded");
        assertThat(cgroup).doesNotExist();
    }
}
