/** Introductions of the OpenAPI documents. docs/guides/api.md has the long version. */

const requests = `# Requests

JSON in UTF-8, at most 4 MiB and 64 levels deep; uploads are \`multipart/form-data\`. \`Content-Encoding\` is not supported. Unknown fields and
parameters are ignored. Times are RFC 3339, with an offset. Every response has \`X-Api-Version\`, and \`X-Request-Id\`: yours, if you sent one.
`;

const repetition = `# Retries

A request rejected with 429 has no effect: retry after \`Retry-After\` seconds. After 503 or a lost connection the outcome is unknown: retry reads
with exponential backoff, and writes if they accept an \`Idempotency-Key\` (1 to 255 characters, random for each intent). Requests with the same
key take effect once and return the same result.
`;

const caching = `# Caching

Every read of one resource has a strong \`ETag\`; with \`If-None-Match\` an unchanged resource returns 304. Responses to requests with credentials have
\`Cache-Control: no-store\`.
`;

/** `info.description` of `/api/openapi.json`. */
export const apiIntroduction = `Conversations, agents, visitor chat and webhooks under \`/api/\`.

# Authentication

\`Authorization: Bearer …\` with the server's shared token (\`API_TOKEN\`), for the platform's own servers, or with the token of a person, from
\`POST /api/v1/auth/login\`, or with a service key of a program, from \`POST /api/v1/keys\`. The shared token has no person: operations
that require one return 403 \`per_user_token_required\`. A key without the scope of the operation gets 403 \`insufficient_scope\`. A
missing or invalid token returns 401 before the body is read. Visitor chat needs no credential; webhooks are signed. To try an operation,
enter a token in the panel *Authentication*.

${requests}
# Errors

| status | body |
|---|---|
| 400, 401, 403, 404, 405, 408, 413, 415, 429, 431, 500, 503 | \`{"detail"}\`, or \`{"error", "message"}\` and more fields for errors specific to the operation |
| 422 | \`{"detail": [{"type", "loc", "msg"}]}\`: up to fifty problems of path, query and body at once |

\`error\` is stable and meant for programs; \`message\` and \`detail\` are for people and may change.

# Concurrent updates

A conversation has \`updated_at\` and an \`ETag\`. Send \`updated_at\` as \`expected_updated_at\` or the \`ETag\` as \`If-Match\` to reject a write
if the conversation has changed: 409 \`stale_conversation\` or 412 \`precondition_failed\`, with the current state.

# Pagination

Most lists are returned whole. The search has \`limit\` and \`offset\`, and with \`limit\` the headers \`X-Total-Count\` and \`Link\`; notes and the
search in transcripts have \`limit\` and \`cursor\`, and the response has \`next\`, the \`cursor\` of the next page, null at the end.

${repetition}
${caching}
# Limits

Visitor chat: 30 messages per minute per visitor, 60 per address. Audio: 500 MiB, a logo: 5 MiB. \`infos\` and \`config\` of a conversation:
1 MiB each. Bodies must arrive at 1 KiB per second or faster. Operators can change these limits.
`;

/** `info.description` of `/api/v1/openapi.json`. */
export const v1Introduction = `The network of people and holons for external systems, under \`/api/v1/\`.

# Authentication

\`POST /api/v1/auth/login\`, with the login gate key (\`API_LOGIN_SECRET\`) in \`X-Svc-Api-Key\`, exchanges email and password for the token of a
person. Every other operation accepts it as \`Authorization: Bearer …\`. It is valid for 24 hours; a logout revokes it. Objects the caller cannot
see return 404. Programs use a service key, from \`POST /api/v1/keys\`: it acts as an account, limited to its scopes; without the scope of
an operation it gets 403 \`insufficient_scope\`. To try an operation, enter a token in the panel *Authentication*.

${requests}
# Errors

| status | body |
|---|---|
| 400, 401, 403, 404, 405, 409, 410, 412, 429, 500, 503 | \`{"code", "message", "retryable"}\` and more fields where documented; 400 is \`validation_error\` unless documented |
| 400 for a body that is not JSON, 408, 413, 415, 431 | \`{"detail"}\` |
| 422 | \`{"detail": [{"type", "loc", "msg"}]}\`: up to fifty problems of path, query and body at once; \`{"code", …}\` for a reused \`Idempotency-Key\` |

\`code\` is stable and meant for programs; \`message\` is for people and may change.

# Concurrent updates

Updates of holons, memberships and relationships accept \`If-Match\` with the \`ETag\` of a read or of the last update: if the object has changed,
the write is rejected with 412 \`precondition_failed\`.

# Pagination

\`limit\` and \`offset\`; the response has \`items\`, \`count\` (all matches) and \`has_more\`. Text in \`q\` matches parts of words, ignoring case.

${repetition}
${caching}
# Limits

Logins: 10 per minute per address, and 5 failures in 15 minutes per email and address. Calls with a token are not limited; a busy
platform returns 503. Operators can change these limits.
`;

/** `info.description` of `/api/ops/openapi.json`. */
export const opsIntroduction = `Operations of the platform for operators, under \`/api/ops/\`.

# Authentication

\`Authorization: Bearer …\` with the token of a person, from \`POST /api/v1/auth/login\`, who is a superuser or in a group: members of
\`ops_viewers\` can read, members of \`ops_operators\` can also act, members of \`chat_agents\` can use \`/api/ops/threads\` only. Other callers get 403 \`permission_denied\`. CORS is not supported.

${requests}
# Errors

\`{"code", "message", "retryable"}\`; 422 is \`{"detail": [{"type", "loc", "msg"}]}\`. \`code\` is stable and meant for programs.

# Pagination

\`limit\` and \`cursor\`; the response has \`items\`, newest first, and \`next\`, the \`cursor\` of the next page, null at the end.
`;
