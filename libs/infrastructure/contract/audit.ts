/**
 * Operations on the audit log of a service: pages for the gateway, and the hash chain for `audit verify` and `audit
 * export` of the admin CLI (A1, A2). They are declared here instead of in the audit library, so that importing a
 * contract does not load SQL statements.
 */
import type { Static } from 'typebox';
import { byOperators, byUsers, notAnOperator } from './callers.ts';
import { rpc } from './declarations.ts';
import { nullable, Type } from './type.ts';

const instant = (description: string) => Type.String({ format: 'date-time', description });
const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
const position = Type.Integer({ minimum: 0 });

export const auditActorKinds = ['account', 'key', 'cli', 'shared'] as const;
export const auditOutcomes = ['ok', 'refused'] as const;

const actorFacts = {
  kind: Type.Enum([...auditActorKinds], {
    description: 'A person with a token, a service key, the admin CLI, or the shared token.',
  }),
  account_id: nullable(Type.Integer({ description: 'Account that acted; null when unknown.' })),
  key_id: nullable(Type.String({ description: 'Service key that acted for the account.' })),
};

const entryFacts = {
  action: Type.String({ description: 'Action, for example `login` or `jobs.redrive`.' }),
  target: nullable(
    Type.Object(
      { type: Type.String(), id: Type.String() },
      { description: 'Target of the action; null when it has no single target.' },
    ),
  ),
  changes: nullable(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Changes: field names, dotted configuration paths, rights, ids and counts; never secrets or personal texts.',
      },
    ),
  ),
  request_id: nullable(Type.String({ description: 'The `X-Request-Id` of the request.' })),
  ip: nullable(Type.String({ description: "The client's IPv4 address, or the /64 of its IPv6 address." })),
  outcome: Type.Enum([...auditOutcomes], { description: '`refused`: the attempt was rejected and changed nothing.' }),
};

/** An entry as stored. The account's email is added when the entry is read; the log does not contain it. */
export const auditEntry = Type.Object({
  id: Type.Integer({ description: 'Position in the log of its service, from 1, without gaps.' }),
  at: instant('Time of the action, from the database clock.'),
  actor: Type.Object(actorFacts),
  ...entryFacts,
});
export type AuditEntry = Static<typeof auditEntry>;

/** An entry as returned to clients. */
export const publicAuditEntry = Type.Object({
  id: Type.String({ description: '`<service>:<position in its log>`.' }),
  at: instant('Time of the action, from the database clock.'),
  actor: Type.Object({
    ...actorFacts,
    email: nullable(Type.String({ description: 'Email of the account while the account exists.' })),
  }),
  ...entryFacts,
});
export type PublicAuditEntry = Static<typeof publicAuditEntry>;

/** An entry as a link of the hash chain (docs/adr/audit-log-hash-chain.md). */
export const auditLink = Type.Object({
  ...auditEntry.properties,
  previous_hash: hash('The hash of the entry before it.'),
  hash: hash('SHA-256 of this entry and of the hash before it.'),
});
export type AuditLink = Static<typeof auditLink>;

const chainEnd = (description: string) =>
  Type.Object({ id: position, hash: hash('Hash of the entry; zeros for an empty log.') }, { description });

/** Filter for entries; the reply lists matching entries, newest first. */
const auditFilter = {
  account_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  action: Type.Optional(Type.String({ maxLength: 100 })),
  target_type: Type.Optional(Type.String({ maxLength: 100 })),
  target_id: Type.Optional(Type.String({ maxLength: 200 })),
  from: Type.Optional(instant('Entries at or after this time.')),
  to: Type.Optional(instant('Entries before this time.')),
  before: Type.Optional(
    Type.Object(
      { at: instant('Entries before this time'), id: position },
      { description: 'or at this time with a lower id.' },
    ),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 1_001 }),
};
const page = { request: Type.Object(auditFilter), reply: Type.Object({ items: Type.Array(auditEntry) }) };

/** Returns the RPCs of the audit log, to be spread into the service contract. */
export function auditRpcs(service: string) {
  return {
    listAudit: rpc({
      subject: `${service}.audit.list`,
      callers: byUsers,
      summary: 'Entries of the audit log that match, newest first; for those who may see operations alone (A3)',
      ...page,
      errors: notAnOperator,
    }),
    readAudit: rpc({
      subject: `admin.${service}.audit.read`,
      callers: byOperators,
      summary: 'Links of the chain in their order, with the two ends of the chain as they are at that moment',
      request: Type.Object({ after: position, limit: Type.Integer({ minimum: 1, maximum: 1_000 }) }),
      reply: Type.Object({
        items: Type.Array(auditLink),
        anchor: chainEnd('The last entry that retention has removed: the oldest one that is kept follows it.'),
        head: chainEnd('The newest entry.'),
      }),
    }),
  };
}
