/** Jobs of all services (P2, P3). */
import { jobDetailsSchema, jobSchema, jobStates, maxJobIds, route, Type } from '#libs/infrastructure/contract';
import { anyId, badCursor, choiceErrors, chosen, instant, mergedPageOf, missing, page } from './filters.ts';

const root = '/api/ops/jobs';
const service = Type.String({ description: 'Service that runs the job.' });
const jobItem = Type.Object({ service, ...jobSchema.properties });
const jobDetails = Type.Object({ service, ...jobDetailsSchema.properties });

const filter = {
  service: Type.Enum(['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'], {
    description: 'Jobs of this service.',
  }),
  type: Type.String({ minLength: 1, maxLength: 200, description: 'For example `transcripts.transcript-import`.' }),
  state: Type.Enum([...jobStates], { description: 'Jobs in this state.' }),
  key: Type.String({ minLength: 1, maxLength: 500, description: 'Jobs with this key.' }),
  error: Type.String({ minLength: 1, maxLength: 200, description: 'Jobs whose error contains this; case matters.' }),
  conversation_id: anyId('Jobs whose payload names the conversation.'),
  request_id: Type.String({ minLength: 1, maxLength: 200, description: 'Jobs created by this request.' }),
  created_after: instant('Jobs created at or after this time.'),
  created_before: instant('Jobs created before this time.'),
};

const choice = {
  schema: chosen(
    filter,
    Type.Object({
      service: Type.String({ maxLength: 100 }),
      id: Type.String({ maxLength: 100, description: 'Id of a job.' }),
    }),
    maxJobIds,
  ),
};
const changed = {
  200: {
    description: 'The result; with `dry_run` the expected result.',
    schema: Type.Object({
      matched: Type.Integer({ description: 'Matching jobs that can be changed.' }),
      changed: Type.Integer({ description: 'Changed jobs; 0 in a dry run.' }),
      failed: Type.Integer({ description: 'Unknown ids, and jobs whose attempt ended in the meantime.' }),
      items: Type.Array(jobItem, { description: 'The first 100 matching jobs after the change, newest first.' }),
      ...missing,
    }),
  },
};
const access = {
  auth: 'ops-act',
  scope: 'ops:write',
  tag: 'operations',
  deadlineMs: 60_000,
  errors: choiceErrors,
} as const;

export const jobRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listJobs',
    tag: 'operations',
    summary: 'List jobs',
    description:
      'Jobs of all services, newest first. Succeeded and cancelled jobs are stored for a week, dead jobs until they are redriven or discarded.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({ ...Type.Partial(Type.Object(filter)).properties, ...page }),
    handler: 'ops-jobs',
    replies: { 200: { description: 'A page of jobs.', schema: mergedPageOf(jobItem) } },
    errors: badCursor,
  }),
  route({
    method: 'GET',
    path: `${root}/{service}/{job_id}`,
    operationId: 'getJob',
    tag: 'operations',
    summary: 'Read one job',
    description: 'With payload, result and every attempt. Secrets are replaced by `[redacted]`.',
    auth: 'ops',
    scope: 'ops:read',
    params: Type.Object({ service, job_id: Type.String({ description: 'Id of the job.' }) }),
    handler: 'ops-job',
    etag: true,
    replies: { 200: { description: 'The job.', schema: jobDetails } },
    errors: { not_found: { code: 'not_found', when: 'The job does not exist.' } },
  }),
  route({
    method: 'POST',
    path: `${root}/redrive`,
    operationId: 'redriveJobs',
    summary: 'Redrive dead jobs',
    description:
      'Queues dead jobs again with a full number of attempts, selected by filter or id. Cancelled jobs can be redriven by id only.',
    ...access,
    body: choice,
    handler: 'ops-redrive',
    replies: changed,
  }),
  route({
    method: 'POST',
    path: `${root}/cancel`,
    operationId: 'cancelJobs',
    summary: 'Cancel jobs',
    description:
      'Cancels queued and running jobs, selected by filter or id; running attempts are aborted. Dead jobs are discarded if selected by id or by the state `dead`.',
    ...access,
    body: choice,
    handler: 'ops-cancel',
    replies: changed,
  }),
];
