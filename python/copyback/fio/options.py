"""Options of job files: those that make a workload, and those that do not matter to a device."""

from __future__ import annotations

#: Other names of options.
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "io_limit": "io_size",
}

#: Options that say what is asked of the device.
MEANT = frozenset(
    {
        "rw",
        "bs",
        "bssplit",
        "ba",
        "size",
        "io_size",
        "number_ios",
        "offset",
        "runtime",
        "time_based",
        "loops",
        "numjobs",
        "iodepth",
        "rwmixread",
        "rwmixwrite",
        "rate_iops",
        "rate_process",
        "random_distribution",
        "percentage_random",
        "norandommap",
        "randseed",
    }
)

#: Options about files, processes, memory and logs of the machine that runs fio: nothing of that is
#: simulated, and a device does not see the difference.
WITHOUT_EFFECT = frozenset(
    {
        "allow_file_create",
        "allrandrepeat",
        "clat_percentiles",
        "cpus_allowed",
        "cpus_allowed_policy",
        "create_fsync",
        "create_on_open",
        "create_only",
        "create_serialize",
        "description",
        "direct",
        "directory",
        "disable_clat",
        "disable_lat",
        "disable_slat",
        "fallocate",
        "file_service_type",
        "filename",
        "filesize",
        "fixedbufs",
        "group_reporting",
        "gtod_reduce",
        "hipri",
        "invalidate",
        "ioengine",
        "iodepth_batch",
        "iodepth_batch_complete",
        "iodepth_batch_complete_max",
        "iodepth_batch_complete_min",
        "iodepth_low",
        "lat_percentiles",
        "log_avg_msec",
        "mem",
        "name",
        "nrfiles",
        "numa_cpu_nodes",
        "numa_mem_policy",
        "openfiles",
        "overwrite",
        "per_job_logs",
        "percentile_list",
        "random_generator",
        "randrepeat",
        "refill_buffers",
        "registerfiles",
        "scramble_buffers",
        "slat_percentiles",
        "sqthread_poll",
        "thread",
        "unified_rw_reporting",
        "unlink",
        "userspace_reap",
        "write_bw_log",
        "write_hist_log",
        "write_iops_log",
        "write_lat_log",
        "zero_buffers",
    }
)
