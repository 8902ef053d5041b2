package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ImageFilesystem;
import java.util.List;

/** What the statistics read about the container runtime. Confined to the agent's loop. */
public interface RuntimeSource {
    /** The pods that run, as the runtime last listed them; makes no call. */
    List<RunningPod> pods();

    /** The file system of the images as the runtime last reported it; makes no call. */
    Fact<ImageFilesystem> images();

    /** For calls about single containers. */
    ContainerRuntime calls();
}
