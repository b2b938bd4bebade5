package dev.space.model.egress;

/**
 * Why something was allowed or refused. The name is the wire name, in audit records and metrics.
 */
public enum EgressReason {
    ALLOWED("A rule allows it."),
    NAME_INVALID("The name is not a host name."),
    NAME_NOT_ALLOWED("No rule allows the name."),
    PORT_NOT_ALLOWED("The name is allowed, but not on this port."),
    ADDRESS_NOT_ALLOWED("No rule allows the address and port."),
    REQUEST_NOT_ALLOWED("The host is allowed, but not this method and path."),
    PATH_AMBIGUOUS("Servers may read the path in more than one way, so no rule can allow it."),
    QUERY_NOT_SUPPORTED("DNS answers one question for an address, and nothing else."),
    ADDRESS_UNKNOWN("The address was not given to this session for a name."),
    ADDRESS_FORBIDDEN("The name leads to an address that sandboxes may not reach."),
    NAME_UNRESOLVED("The name has no address, or the resolver does not answer."),
    CONNECT_FAILED("The other side does not take the connection."),
    TLS_UNTRUSTED("The server's certificate is not one that this machine trusts for the name."),
    TLS_CLIENT_FAILED("The sandbox broke off TLS; it may not trust the installation's root."),
    INTERCEPTION_OFF("The rule needs to look into TLS, and this gateway has no authority to."),
    REQUEST_TOO_LARGE("The request is too long to be read as a whole for its credential."),
    SIGNATURE_STREAMED("The body is signed piece by piece, which cannot be signed anew."),
    ANSWER_ENCODED("The answer is compressed, so the credential cannot be removed from it."),
    TLS_MALFORMED("What came first is no TLS ClientHello."),
    TLS_NAME_MISSING("The ClientHello names no server (SNI), or hides it (ECH)."),
    TLS_NAME_MISMATCH("The ClientHello names another server than was resolved."),
    HTTP_MALFORMED("What came is no HTTP/1 request that can be checked."),
    HTTP_HOST_MISMATCH("The request names another host than was resolved."),
    AMBIGUOUS_CREDENTIAL("More than one credential fits the request, so none is used."),
    CREDENTIAL_NOT_GRANTED("The session's credential for the host is not for this request."),
    PLACEHOLDER_NOT_GRANTED("The request carries a placeholder of a credential for other hosts."),
    CREDENTIAL_UNAVAILABLE("The gateway cannot open the credential."),
    CREDENTIAL_STORE_UNAVAILABLE("What keeps the credential does not answer; try again later."),
    TOKEN_REFUSED("The token endpoint gives no token for the credential."),
    TOKEN_UNAVAILABLE("The token endpoint cannot be reached or trusted; try again later."),
    CREDENTIAL_LIMIT("The session uses the credential more often than it may."),
    LIMIT_CONNECTIONS("The session has as many connections as it may have."),
    LIMIT_RATE("The session asks more often than it may."),
    LIMIT_NAMES("The session asked for as many names as it may."),
    LIMIT_BYTES("The session has moved as many bytes as it may."),
    OVERLOADED("The gateway has as many connections as it can have."),
    TIMED_OUT("The sandbox did not say in time what it wants, or nothing moved for long."),
    POLICY_CHANGED("The session's policy does not allow the connection any more."),
    UNBOUND("The session left the gateway.");

    private final String summary;

    EgressReason(String summary) {
        this.summary = summary;
    }

    /** One sentence for people. */
    public String summary() {
        return summary;
    }
}
