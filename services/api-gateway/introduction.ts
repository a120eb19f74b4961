/** What the two documents say before their operations; docs/guides/api.md says it at length, with commands. */

const requests = `# Requests

JSON in UTF-8, at most 4 MiB and 64 levels deep; uploads are \`multipart/form-data\`. There is no \`Content-Encoding\`. Unknown fields and
parameters are ignored. Times are RFC 3339, with an offset. Every answer has \`X-Request-Id\`: yours, if you sent one.
`;

const repetition = `# Trying again

After 429 nothing has happened: wait as long as \`Retry-After\` says. After 503, or no answer, you cannot know: repeat reads with growing
pauses, and writes where they take an \`Idempotency-Key\` (1 to 255 characters, made at random for one intent). Under the same key the effect
happens once and the repetition gets the same result.
`;

const caching = `# Caching

Every read of one resource has a strong \`ETag\`; with \`If-None-Match\` an unchanged one costs a 304. What needed a credential says
\`Cache-Control: no-store\`.
`;

/** `info.description` of `/api/openapi.json`. */
export const apiIntroduction = `Conversations, agents, visitor chat and webhooks under \`/api/\`.

# Authentication

\`Authorization: Bearer …\` with the server's shared token (\`API_TOKEN\`), for the platform's own servers, or with the token of a person, from
\`POST /api/v1/auth/login\`, or with a service key of a program, from \`POST /api/v1/keys\`. The shared token acts for nobody: an operation
that needs a person answers 403 \`per_user_token_required\`. A key needs the scope of the operation, else 403 \`insufficient_scope\`. A
missing or wrong token is 401 before the body is looked at. Visitor chat takes no credential; webhooks are signed. To try an operation here,
enter a token in the panel *Authentication*.

${requests}
# Errors

| status | body |
|---|---|
| 400, 401, 403, 404, 405, 408, 413, 415, 429, 503 | \`{"detail"}\`, or \`{"error", "message"}\` and more where the operation has an error of its own |
| 422 | \`{"detail": [{"type", "loc", "msg"}]}\`: up to fifty problems of path, query and body at once |

\`error\` is for programs and stays; \`message\` and \`detail\` are for people and may change.

# Two writers

A conversation has \`updated_at\` and an \`ETag\`. Send the one back as \`expected_updated_at\`, or the other as \`If-Match\`, and a write over
somebody else's is refused: 409 \`stale_conversation\`, 412 \`precondition_failed\`, with what is there now.

# Pages of lists

\`limit\` and \`offset\`; the answer has \`items\`, \`count\` (all matches) and \`has_more\`.

${repetition}
${caching}
# Limits

Visitor chat: 30 messages a minute for a visitor, 60 for an address. Audio: 500 MiB, a logo: 5 MiB. \`infos\` and \`config\` of a conversation:
1 MiB each. A body comes at 1 KiB a second or faster. An operator may have set others.
`;

/** `info.description` of `/api/v1/openapi.json`. */
export const v1Introduction = `The network of people and holons for external systems, under \`/api/v1/\`.

# Authentication

\`POST /api/v1/auth/login\`, with the login gate key (\`API_LOGIN_SECRET\`) in \`X-Svc-Api-Key\`, gives the token of a person for an email and a
password. Every other operation takes it as \`Authorization: Bearer …\`. It is valid for 24 hours; a logout ends it at once. What a person may
not see is not found. Programs take a service key, from \`POST /api/v1/keys\`: it acts as an account, narrowed to its scopes; without the scope of
an operation the answer is 403 \`insufficient_scope\`. To try an operation here, enter a token in the panel *Authentication*.

${requests}
# Errors

| status | body |
|---|---|
| 401, 403, 404, 405, 409, 412, 429, 503 | \`{"code", "message", "retryable"}\` and more where the operation says so |
| 400, 408, 413, 415 | \`{"detail"}\` |
| 422 | \`{"detail": [{"type", "loc", "msg"}]}\`: up to fifty problems of path, query and body at once; \`{"code", …}\` for a reused \`Idempotency-Key\` |

\`code\` is for programs and stays; \`message\` is for people and may change.

# Two writers

Updates of holons, memberships and relationships take \`If-Match\` with the \`ETag\` of a read or of the last update: a write over somebody
else's is refused with 412 \`precondition_failed\`.

# Pages of lists

\`limit\` and \`offset\`; the answer has \`items\`, \`count\` (all matches) and \`has_more\`. Text in \`q\` matches parts of words, whatever the case.

${repetition}
${caching}
# Limits

Logins: 10 a minute for an address, and 5 failures in 15 minutes for an email from one address. There is none for calls with a token; a busy
platform answers 503. An operator may have set others.
`;

/** `info.description` of `/api/ops/openapi.json`. */
export const opsIntroduction = `What operators of the platform see and do, under \`/api/ops/\`.

# Authentication

\`Authorization: Bearer …\` with the token of a person, from \`POST /api/v1/auth/login\`, who is a superuser or in one of two groups: members of
\`ops_viewers\` read, members of \`ops_operators\` act too. Others get 403 \`permission_denied\`. Browsers of other origins are not answered (no CORS).

${requests}
# Errors

\`{"code", "message", "retryable"}\`; 422 is \`{"detail": [{"type", "loc", "msg"}]}\`. \`code\` is for programs and stays.

# Pages of lists

\`limit\` and \`cursor\`; the answer has \`items\`, newest first, and \`next\`, the \`cursor\` of the next page, null at the end.
`;
