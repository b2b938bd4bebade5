package dev.space.node.reports;

import dev.space.nodeapi.v1.BeginTemplateReply;
import dev.space.nodeapi.v1.BeginTemplateRequest;
import dev.space.nodeapi.v1.CompleteTemplateRequest;
import dev.space.nodeapi.v1.FindTemplateRequest;
import dev.space.nodeapi.v1.LineageKeyReply;
import dev.space.nodeapi.v1.LineageKeyRequest;
import dev.space.nodeapi.v1.NetworkPolicy;
import dev.space.nodeapi.v1.NetworkRequest;
import dev.space.nodeapi.v1.RegisterReply;
import dev.space.nodeapi.v1.RegisterRequest;
import dev.space.nodeapi.v1.RenewReply;
import dev.space.nodeapi.v1.RenewRequest;
import dev.space.nodeapi.v1.ReportAck;
import dev.space.nodeapi.v1.ReportBatch;
import dev.space.nodeapi.v1.StoredTemplate;

/** The control plane as a node sees it. Calls fail with any runtime exception when it is away. */
public interface ControlPlane extends AutoCloseable {

    RegisterReply register(RegisterRequest request);

    RenewReply renew(RenewRequest request);

    ReportAck report(ReportBatch batch);

    /** Only for a session that is on this node. */
    LineageKeyReply lineageKey(LineageKeyRequest request);

    /** Only for a session that is on this node. */
    NetworkPolicy network(NetworkRequest request);

    /** Whether and under which number this node is to store a template. */
    BeginTemplateReply beginTemplate(BeginTemplateRequest request);

    void completeTemplate(CompleteTemplateRequest request);

    /** A template that is stored whole. */
    StoredTemplate findTemplate(FindTemplateRequest request);

    @Override
    void close();
}
