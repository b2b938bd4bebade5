package dev.space.node.engine.qemu;

import dev.space.model.Size;
import java.util.ArrayList;
import java.util.List;

/**
 * QEMU's command line, as docs and measurements settled it. A restore must use the very line of the
 * start whose memory it loads, so everything here depends on size, bundle and accelerator alone.
 */
final class QemuArguments {

    private QemuArguments() {}

    static List<String> of(Size size, boolean restore, long tscKhz, Accelerator accelerator) {
        List<String> all = new ArrayList<>();
        add(
                all,
                "-sandbox",
                "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
        // The loader starts it (space-jail): its own name and data would be the loader's otherwise.
        add(all, "-name", "sandbox,process=qemu");
        add(all, "-L", "/usr/share/qemu");
        add(all, "-M", "microvm,memory-backend=ram0,pit=off,pic=off");
        add(all, "-accel", accelerator.option());
        add(all, "-cpu", "max");
        add(all, "-smp", Integer.toString(size.vcpus()));
        add(all, "-m", size.memoryMiB() + "M");
        add(
                all,
                "-object",
                "memory-backend-file,id=ram0,size=%dM,mem-path=/vm/ram,share=on"
                        .formatted(size.memoryMiB()));
        all.add("-nodefaults");
        all.add("-no-user-config");
        add(all, "-display", "none");
        all.add("-no-reboot");
        add(all, "-msg", "timestamp=on");
        add(all, "-chardev", "file,id=ser,path=/vm/console");
        add(all, "-serial", "chardev:ser");
        add(all, "-chardev", "socket,id=mon,server=on,wait=off,fd=3");
        add(all, "-mon", "chardev=mon,mode=control");
        add(all, "-global", "virtio-mmio.force-legacy=false");
        add(all, "-device", "virtio-serial-device,id=vs");
        add(all, "-chardev", "socket,id=agent,server=on,wait=off,fd=4");
        add(all, "-device", "virtserialport,bus=vs.0,chardev=agent,name=space.0");
        add(
                all,
                "-blockdev",
                "driver=file,node-name=f0,filename=/vm/disk,discard=unmap,locking=off,aio=threads");
        add(all, "-blockdev", "driver=raw,node-name=d0,file=f0,discard=unmap");
        add(all, "-device", "virtio-blk-device,drive=d0");
        add(all, "-object", "rng-random,id=rng0,filename=/dev/urandom");
        add(all, "-device", "virtio-rng-device,rng=rng0");
        add(all, "-netdev", "tap,id=n0,ifname=tap0,script=no,downscript=no,vhost=off");
        add(all, "-device", "virtio-net-device,netdev=n0,mac=02:fc:00:00:00:02");
        add(all, "-kernel", "/boot/vmlinux");
        add(all, "-initrd", "/boot/initrd");
        add(all, "-append", "console=ttyS0 panic=-1 quiet tsc=reliable tsc_early_khz=" + tscKhz);
        if (restore) {
            add(all, "-incoming", "defer");
            all.add("-S");
        }
        return all;
    }

    private static void add(List<String> all, String option, String value) {
        all.add(option);
        all.add(value);
    }
}
