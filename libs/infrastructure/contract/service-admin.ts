/**
 * Status that a service reports to operators (P1). The service runtime implements it for every service. It is declared
 * here, so that importing a contract does not load the runtime.
 */
import type { Static } from 'typebox';
import { byOperators, byUsers, notAnOperator } from './callers.ts';
import { rpc } from './declarations.ts';
import { jobStates } from './job-admin.ts';
import { nullable, Type } from './type.ts';

/** The process that sends the reply. */
const process = {
  version: Type.String({ description: 'Release that runs.' }),
  uptime_seconds: Type.Integer({ description: 'Seconds since the start of the responding process.' }),
  ready: Type.Boolean({ description: 'Started, not stopping, and every dependency responds.' }),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      problem: nullable(Type.String({ description: 'Problem; null when the dependency responds.' })),
    }),
    { description: 'Dependencies.' },
  ),
};
export const processStatus = Type.Object(process);
export type ProcessStatus = Static<typeof processStatus>;

export const jobCount = Type.Object({
  type: Type.String({ description: '`<service>.<job>`.' }),
  state: Type.Enum([...jobStates]),
  count: Type.Integer(),
  oldest_at: nullable(Type.String({ format: 'date-time', description: 'When the oldest of them was asked for.' })),
});

export const consumerLag = Type.Object({
  stream: Type.String(),
  name: Type.String(),
  pending: Type.Integer({ description: 'Messages that it was not given yet.' }),
  lag: Type.Integer({ description: 'Messages that it has not finished: `pending`, and those that are being worked.' }),
});

export const webhookCount = Type.Object({
  kind: Type.String({ description: '`booking`, `meeting` or `telegram`.' }),
  outcome: Type.String(),
  last_hour: Type.Integer({ description: 'Webhooks of the last hour.' }),
  last_day: Type.Integer({ description: 'Webhooks of the last 24 hours.' }),
});

const status = {
  request: Type.Object({}),
  reply: Type.Object({
    ...process,
    jobs: Type.Array(jobCount),
    consumers: Type.Array(consumerLag),
    webhooks: Type.Optional(Type.Array(webhookCount, { description: 'Of services that receive some.' })),
    failed_logins: Type.Optional(
      Type.Integer({ description: 'Logins that were refused within the last hour; of the directory alone.' }),
    ),
  }),
};

/** Result of a check that only the service can make. */
const finding = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  needed: Type.Boolean({ description: 'False for optional features.' }),
  detail: Type.String({ description: 'State, or the problem and its remedy.' }),
});
export type Finding = Static<typeof finding>;
export type ServiceStatus = Static<typeof status.reply>;

/** Returns the RPCs that are spread into the contract of every service with the runtime. */
export function statusRpcs(service: string) {
  const summary = 'What the service says of itself: readiness, jobs, consumers';
  return {
    describeService: rpc({
      subject: `${service}.operations.describe`,
      callers: byUsers,
      summary,
      ...status,
      errors: notAnOperator,
    }),
    adminDescribeService: rpc({
      subject: `admin.${service}.service.describe`,
      callers: byOperators,
      summary: `${summary}, checks of the service for \`doctor\``,
      request: status.request,
      reply: Type.Object({ ...status.reply.properties, findings: Type.Array(finding) }),
      timeoutMs: 60_000,
    }),
  };
}

/**
 * One page of a list in the workspace file format, with the current data. Used by every service that has such a list
 * (rules/workspace#workspace-file).
 */
export const workspacePage = {
  request: { after: Type.Integer({ minimum: 0, description: '`next` of the page before; 0 at first.' }) },
  reply: Type.Object({
    items: Type.Array(
      Type.Unknown({ description: 'As in the file; secrets are `{env: NAME}`, passwords are left out.' }),
    ),
    variables: Type.Array(Type.String(), { description: 'Names that stand in the place of secrets.' }),
    left_out: Type.Integer({ description: 'Rows that no file can name: people without a key, and what is theirs.' }),
    next: Type.Union([Type.Integer(), Type.Null()]),
  }),
} as const;
