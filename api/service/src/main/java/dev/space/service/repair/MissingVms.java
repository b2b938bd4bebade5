package dev.space.service.repair;

import dev.space.contract.session.VmExit;
import dev.space.model.Fence;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.service.command.SessionWorkflows;
import dev.space.store.RepairStore;
import dev.space.store.RepairStore.RunningVm;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Rows that say RUNNING while their node, which answers, runs no such VM. A node tells each exit
 * once; when the workflow that heard of it is gone, nobody else would ever notice.
 */
@Singleton
public class MissingVms {
    /** More VMs than a node can have. */
    private static final int ROWS_MAX = 10_000;

    /** A node's own report says more than this does: it has time to come first. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Logger LOG = Logger.getLogger(MissingVms.class);

    private final RepairStore rows;
    private final SessionWorkflows workflows;

    /** What was missing at the look before, by node. */
    private final Map<String, Map<SessionId, Suspect>> suspects = new ConcurrentHashMap<>();

    /** A VM that was missing at every look since. */
    private record Suspect(Fence start, long sinceNanos) {}

    @Inject
    public MissingVms(RepairStore rows, SessionWorkflows workflows) {
        this.rows = rows;
        this.workflows = workflows;
    }

    /** To be asked before the node is: what ends between the two is only suspected. */
    List<RunningVm> expected(String node) {
        return rows.runningOn(node, ROWS_MAX);
    }

    /**
     * A VM that stays missing is told as an exit. Once is not enough: the row may have been about
     * to change, or the node's own report is on its way. Telling too much is harmless, because a
     * workflow drops the exit of a start that is not its VM's.
     */
    void compare(String node, List<RunningVm> expected, NodeInventory list) {
        Map<String, Long> running = new HashMap<>();
        for (SandboxState sandbox : list.getSandboxesList()) {
            running.put(sandbox.getSessionId(), sandbox.getRunningEpoch());
        }
        long at = System.nanoTime();
        Map<SessionId, Suspect> before = suspects.getOrDefault(node, Map.of());
        Map<SessionId, Suspect> now = new HashMap<>();
        for (RunningVm vm : expected) {
            long epoch = running.getOrDefault(vm.session().value(), 0L);
            if (epoch == vm.start().epoch()) {
                continue;
            }
            Suspect known = before.get(vm.session());
            Suspect suspect =
                    known != null && known.start().equals(vm.start())
                            ? known
                            : new Suspect(vm.start(), at);
            now.put(vm.session(), suspect);
            if (at - suspect.sinceNanos() >= PATIENCE.toNanos()) {
                tell(node, vm);
            }
        }
        suspects.put(node, now);
    }

    private void tell(String node, RunningVm vm) {
        LOG.warnf("node %s does not run the VM of %s; telling its workflow", node, vm.session());
        workflows.vmExited(
                vm.session(),
                new VmExit(vm.start(), ReasonCode.VM_KILLED, "the node does not run it"));
    }
}
