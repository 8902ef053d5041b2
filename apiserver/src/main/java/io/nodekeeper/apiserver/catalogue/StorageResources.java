package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.kinds.storage.PersistentVolumeClaimStrategy;
import io.nodekeeper.apiserver.kinds.storage.PersistentVolumeStrategy;
import io.nodekeeper.apiserver.kinds.storage.StorageClassStrategy;
import io.nodekeeper.apiserver.printers.StorageTables;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import java.util.List;

/** Persistent volumes and what belongs to them. The server stores them; controllers of others bind and provision. */
public final class StorageResources {
    public static final Resource PERSISTENT_VOLUMES = Resource.stored(
                    new ResourceType("", "v1", "persistentvolumes", "PersistentVolume", false), "persistentvolumes")
            .shortNames("pv")
            .subresources(Subresource.status("PersistentVolume"))
            .strategy(new PersistentVolumeStrategy())
            .table(StorageTables.PERSISTENT_VOLUMES);

    public static final Resource PERSISTENT_VOLUME_CLAIMS = Resource.stored(
                    new ResourceType("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true),
                    "persistentvolumeclaims")
            .shortNames("pvc")
            .subresources(Subresource.status("PersistentVolumeClaim"))
            .strategy(new PersistentVolumeClaimStrategy())
            .table(StorageTables.PERSISTENT_VOLUME_CLAIMS);

    public static final Resource STORAGE_CLASSES = Resource.stored(
                    new ResourceType("storage.k8s.io", "v1", "storageclasses", "StorageClass", false), "storageclasses")
            .shortNames("sc")
            .strategy(new StorageClassStrategy())
            .table(StorageTables.STORAGE_CLASSES);

    static final List<Resource> ALL = List.of(PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES);

    private StorageResources() {}
}
