package dev.space.workflow;

import dev.space.contract.session.IdleReport;
import dev.space.contract.session.KeyRevokedReport;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.NodeFullReport;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.VmExit;
import dev.space.model.SessionEvent;

/** An event that reached the workflow and was not judged yet. */
sealed interface Incoming {

    /** Its row in the event table. */
    SessionEvent kind();

    /** False when it is about another VM or node than the session's; such an event does nothing. */
    boolean concerns(SessionRecord record);

    /** The end of a VM. Only the start that made the session's VM counts, not its epoch alone. */
    record Exit(VmExit report) implements Incoming {
        @Override
        public SessionEvent kind() {
            return SessionEvent.VM_EXITED;
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return report.start().equals(record.vm());
        }
    }

    record Node(NodeChange change) implements Incoming {
        @Override
        public SessionEvent kind() {
            return switch (change.kind()) {
                case LEASE_LOST -> SessionEvent.NODE_LEASE_LOST;
                case DECLARED_LOST -> SessionEvent.NODE_DECLARED_LOST;
                case BACK -> SessionEvent.NODE_BACK_EPOCH_CURRENT;
            };
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return change.node().equals(record.node());
        }
    }

    record Idle(IdleReport report) implements Incoming {
        @Override
        public SessionEvent kind() {
            return SessionEvent.IDLE;
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return report.epoch() == record.epoch();
        }
    }

    record NodeFull(NodeFullReport report) implements Incoming {
        @Override
        public SessionEvent kind() {
            return SessionEvent.NODE_FULL;
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return report.epoch() == record.epoch();
        }
    }

    record KeyRevoked(KeyRevokedReport report) implements Incoming {
        @Override
        public SessionEvent kind() {
            return SessionEvent.KEY_REVOKED;
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return report.epoch() == record.epoch();
        }
    }

    record DeadlineDue() implements Incoming {
        @Override
        public SessionEvent kind() {
            return SessionEvent.DEADLINE;
        }

        @Override
        public boolean concerns(SessionRecord record) {
            return record.deadline() != null;
        }
    }
}
