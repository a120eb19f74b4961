/** Generates docs/errors.md, the catalogue of error codes, from the errors that contracts and routes declare. */
import { errorCodes } from '#libs/infrastructure/errors';
import type { Route } from '#libs/infrastructure/contract';
import { routes } from '../../services/api-gateway/routes/index.ts';

interface Entry {
  readonly status: number;
  readonly retryable: boolean;
  readonly causes: Set<string>;
  readonly operations: Set<string>;
}

/** Maximum operations that one line lists. */
const maxListed = 3;

const introduction = `# Errors

The body of an error has the code in \`code\` under \`/api/v1/\` and \`/api/ops/\`, and in \`error\` elsewhere ([envelopes](guides/api.md#errors)).
Codes are stable. Retryable errors can succeed later without a change of the request; correct the others first.

## General

| status | \`code\` | cause | what to do | retryable |
|---|---|---|---|---|
`;

/** Cause and action of the errors that every operation can return. */
const general: readonly (readonly [keyof typeof errorCodes, string, string])[] = [
  ['bad_request', 'A value is not allowed, or the body is not JSON.', 'Correct the value that the message names.'],
  ['unauthenticated', 'The credential is missing, expired or revoked.', 'Sign in again, or replace the key.'],
  [
    'permission_denied',
    'The account, or the scopes of the key, do not allow the operation.',
    'Use another account, or a key with the scope.',
  ],
  [
    'not_found',
    'The object does not exist, or the caller cannot see it.',
    'Check the id, and what the account can see.',
  ],
  ['method_not_allowed', 'The path has no operation with this method.', 'Use a method of the header `Allow`.'],
  ['request_timeout', 'The body arrived too slowly.', 'Send it again, at 1 KiB per second or faster.'],
  ['gone', 'The object has expired or was removed.', 'Follow the advice of the message.'],
  [
    'precondition_failed',
    'The object has changed since it was read.',
    'Read it again, and repeat the change with the new `ETag`.',
  ],
  ['payload_too_large', 'The body is too large.', 'Send less; the message names the limit.'],
  ['unsupported_media_type', 'The body has a `Content-Encoding`.', 'Send it without one.'],
  [
    'unprocessable',
    'Parameters or body are malformed; `detail` lists up to 50 problems.',
    'Correct the fields in `loc`.',
  ],
  ['rate_limited', 'Too many requests.', 'Wait for the seconds in `Retry-After`.'],
  ['internal', 'A fault of the platform.', 'Retry once; then report the `X-Request-Id`.'],
  ['unavailable', 'The platform is busy, or a dependency does not respond.', 'Retry with growing delays.'],
];

/** Returns the text of docs/errors.md. */
export function describeErrorCatalogue(): string {
  const known = general.map(([code, cause, action]) => {
    const { status, v1, retryable } = errorCodes[code];
    return `| ${status} | \`${v1}\` | ${cause} | ${action} | ${answer(retryable)} |`;
  });
  const entries = collectErrors(routes).entries().toArray();
  const own = entries
    .toSorted(([left], [right]) => left.localeCompare(right, 'en'))
    .map(
      ([code, { status, retryable, causes, operations }]) =>
        `| \`${code}\` | ${status} | ${[...causes].join(' ')} | ${list([...operations])} | ${answer(retryable)} |`,
    );
  return [
    `${introduction}${known.join('\n')}`,
    '',
    '## Errors of operations',
    '',
    '| code | status | cause | operations | retryable |',
    '|---|---|---|---|---|',
    ...own,
    '',
  ].join('\n');
}

const answer = (isTrue: boolean): string => (isTrue ? 'yes' : 'no');

/** Returns the errors with a code of their own, which the documents list, by code. */
function collectErrors(all: readonly Route[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { documented, operationId, rpc, errors } of all) {
    if (documented === false) continue;
    for (const [reason, { code, when }] of Object.entries({ ...rpc?.errors, ...errors })) {
      if (Object.hasOwn(errorCodes, reason) || code === 'not_found') continue;
      const { status } = errorCodes[code];
      const retryable = errorCodes[code].retryable || /; retry\b/.test(when);
      const entry = entries.get(reason) ?? { status, retryable, causes: new Set(), operations: new Set() };
      entries.set(reason, entry);
      entry.causes.add(when.replaceAll('|', '\\|'));
      entry.operations.add(operationId);
    }
  }
  return entries;
}

function list(operations: readonly string[]): string {
  const visible = operations.slice(0, maxListed).map((name) => `\`${name}\``);
  return operations.length > maxListed
    ? `${visible.join(', ')} and ${operations.length - maxListed} more`
    : visible.join(', ');
}
